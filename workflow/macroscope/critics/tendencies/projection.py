"""documents -> latents of the tendencies critic: every text in a stream, blocks of documents in worker processes."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.corpora.stop_words import stop_words
from macroscope.critics.tendencies.features import compression_ratio, features
from macroscope.critics.tendencies.latents import BLOCK_KEY, COUNTS, TEXTS, counts_path, documents_per_block
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.critics.tendencies.tokens import MosesTokens
from macroscope.documents import Document, in_batches, read_documents
from macroscope.files import atomic
from macroscope.progress import progress

DEFAULT_LANGUAGE = "en"
_DOCUMENTS_PER_TASK = 256
Texts = list[tuple[str, int, str]]
"""(id, block, text) of each text."""


def project(documents: Path, output: Path, options: TendenciesOptions, processes: int) -> None:
    """Measure and count every text of a collection.

    Parameters
    ----------
    documents
        Documents or samples. Their sections are joined by line breaks; titles do not count as text.
    output
        See `macroscope.critics.tendencies.latents`.
    processes
        Worker processes at most; 1 = none besides this one, as for a collection that is done in one go.
    """
    number = pq.ParquetFile(documents).metadata.num_rows
    size = documents_per_block(number)
    processes = min(processes, -(-number // max(_DOCUMENTS_PER_TASK, size)))
    language = options.language or DEFAULT_LANGUAGE
    shown = progress(read_documents(documents), "count tokens", total=number, unit="documents")
    tasks = ((texts, language) for texts in _tasks(shown, options.unit, size))
    with ExitStack() as stack:
        texts_file = stack.enter_context(atomic(output))
        counts_file = stack.enter_context(atomic(counts_path(output)))
        schema = TEXTS.with_metadata({BLOCK_KEY: str(size).encode()})
        texts_writer = stack.enter_context(pq.ParquetWriter(texts_file, schema, compression="zstd"))
        counts_writer = stack.enter_context(pq.ParquetWriter(counts_file, COUNTS, compression="zstd"))
        for texts, counts in _results(tasks, processes, stack):
            texts_writer.write_table(texts.cast(schema))
            counts_writer.write_table(counts)


def _tasks(documents: Iterator[Document], unit: str, size: int) -> Iterator[Texts]:
    """Cut a stream into tasks of whole blocks."""
    per_task = max(_DOCUMENTS_PER_TASK, size)
    for start, some in enumerate(in_batches(documents, per_task)):
        yield [
            (identifier, (start * per_task + number) // size, text)
            for number, document in enumerate(some)
            for identifier, text in _texts(document, unit)
        ]


def _texts(document: Document, unit: str) -> Iterator[tuple[str, str]]:
    if unit == "document":
        yield document.id, document.text
        return
    parts = [section.text for section in document.sections]
    if unit == "line":
        parts = [line for part in parts for line in part.split("\n")]
    yield from ((f"{document.id}#{number}", part) for number, part in enumerate(parts))


def _results(
    tasks: Iterator[tuple[Texts, str]], processes: int, stack: ExitStack
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Results in the order of the tasks, a bounded number of them on their way."""
    if processes <= 1:
        yield from map(_measured, tasks)
        return
    context = multiprocessing.get_context("spawn")
    pool = stack.enter_context(ProcessPoolExecutor(processes, mp_context=context))
    for some in in_batches(tasks, 4 * processes):
        yield from pool.map(_measured, some)


@cache
def _tokenizer(language: str) -> MosesTokens:
    return MosesTokens(language)


def _measured(task: tuple[Texts, str]) -> tuple[pa.Table, pa.Table]:
    """Latents and counts of some texts."""
    texts, language = task
    tokenize = _tokenizer(language)
    batch = tokenize([text for *_, text in texts])
    blocks = np.array([block for _, block, _ in texts], dtype=np.int64)
    columns = features(batch, stop_words(language))
    columns["compression_ratio"] = np.array([compression_ratio(text) for *_, text in texts])
    names = {"id": [identifier for identifier, *_ in texts], "block": blocks.astype(np.int32)}
    measured = pa.table({name: pa.array({**names, **columns}[name], TEXTS.field(name).type) for name in TEXTS.names})
    width = max(1, len(batch.types))
    keys, counts = np.unique(blocks[batch.texts] * width + batch.ids, return_counts=True)
    types = pa.array(batch.types, pa.string()).take(pa.array(keys % width))
    return measured, pa.table([pa.array(keys // width, pa.int32()), types, pa.array(counts)], schema=COUNTS)

"""documents -> latents of the critic `tendencies`: a stream of texts, processed in batches by worker processes."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.arrays import usable_cores
from macroscope.critics.latents import write_latents
from macroscope.critics.tendencies.features import compression_ratio, count_features
from macroscope.critics.tendencies.latents import BLOCK_KEY, LATENTS, documents_per_block
from macroscope.critics.tendencies.options import TendenciesOptions
from macroscope.document_keys import key_of_text
from macroscope.documents import Collection, Document, in_batches
from macroscope.natural_language.tokens import Batch, Tokenizer, make_tokenizer
from macroscope.natural_language.words import has_stop_words, stop_words
from macroscope.progress import progress
from macroscope.statistics.document_groups import find_repeated_documents

_DOCUMENTS_PER_TASK = 256


class Text(NamedTuple):
    """A text whose tokens are counted; `is_first` says whether it is of the first document of its prompt."""

    document: str
    opening: str
    block: int
    is_first: bool
    text: str


Texts = list[Text]
Task = tuple[Texts, str, str | None]
"""Texts, the code of their language, and the name of a pipeline if there is one."""


def project(texts: Collection, *, language: str, options: TendenciesOptions, output: Path, signature: str = "") -> None:
    """Compute the features and token counts of every text of a collection.

    Parameters
    ----------
    texts
        Documents; their sections are joined by line breaks, and titles are not part of the text.
    language
        Language of the corpus; the options may override it.
    output
        Path of the latents; see `macroscope.critics.tendencies.latents`.
    """
    size = documents_per_block(texts.total)
    processes = min(usable_cores(), -(-len(texts) // _DOCUMENTS_PER_TASK))
    schema = LATENTS.with_metadata({BLOCK_KEY: str(size).encode()})
    codes = options.language or language, options.language_pipeline
    tasks = ((batch, *codes) for batch in _split_into_tasks(texts, options.unit, size))
    with ExitStack() as stack:
        write_latents(output, schema, _compute_latents_in_parallel(tasks, processes, stack), signature)


def _split_into_tasks(collection: Collection, unit: str, size: int) -> Iterator[Texts]:
    """Split a stream of documents into tasks of `_DOCUMENTS_PER_TASK` documents."""
    documents = progress(collection, "count tokens", unit="documents")
    first, is_repeat = collection.first, find_repeated_documents(collection.path)
    for batch in in_batches(documents, _DOCUMENTS_PER_TASK):
        yield [
            Text(document.id, opening, index // size, not is_repeat[index], text)
            for index, document in enumerate(batch, start=first)
            for opening, text in _split_into_texts(document, unit)
        ]
        first += len(batch)


def _split_into_texts(document: Document, unit: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a document with their openings."""
    if unit == "document":
        yield document.opening, document.text
        return
    parts = [section.text for section in document.sections]
    if unit == "line":
        parts = [line for part in parts for line in part.split("\n")]
    yield from ((key_of_text(part, document.prompt), part) for part in parts)


def _compute_latents_in_parallel(tasks: Iterator[Task], processes: int, stack: ExitStack) -> Iterator[pa.Table]:
    """Yield the latents of each task in order, with a bounded number of tasks in flight."""
    if processes <= 1:
        yield from map(_compute_latents, tasks)
        return
    context = multiprocessing.get_context("spawn")
    pool = stack.enter_context(ProcessPoolExecutor(processes, mp_context=context))
    for batch in in_batches(tasks, 4 * processes):
        yield from pool.map(_compute_latents, batch)


@cache
def _tokenizer(language: str) -> Tokenizer:
    return make_tokenizer(language)


def _compute_latents(task: Task) -> pa.Table:
    """Compute the latents of the texts of one task."""
    texts, language, pipeline = task
    tokenize = _tokenizer(pipeline or language)
    batch = tokenize([text.text for text in texts])
    blocks = np.array([text.block for text in texts], dtype=np.int64)
    columns: dict[str, Any] = dict(count_features(batch, stop_words(language)))
    columns["compression_ratio"] = np.array([compression_ratio(text.text) for text in texts])
    columns["id"] = [text.document for text in texts]
    columns["opening"] = [text.opening for text in texts]
    if not has_stop_words(language):
        columns["stop_words"] = [None] * len(texts)  # undefined, not 0
    columns["block"] = blocks.astype(np.int32)
    is_first = np.array([text.is_first for text in texts], dtype=bool)
    columns["block_counts"] = _block_counts(blocks, is_first, batch)
    return pa.table({name: pa.array(columns[name], LATENTS.field(name).type) for name in LATENTS.names})


def _block_counts(blocks: NDArray[np.int64], is_first: NDArray[np.bool_], batch: Batch) -> pa.ListArray:
    """Return the counts of each block's tokens at the block's first text, and empty lists at the others.

    Tokens count in the first text of each prompt only; see `critics.latents`.
    """
    width = max(1, len(batch.types))
    is_counted = is_first[batch.texts]
    keys, counts = np.unique(blocks[batch.texts[is_counted]] * width + batch.ids[is_counted], return_counts=True)
    types = pa.array(batch.types, pa.string()).take(pa.array(keys % width))
    distinct, first = np.unique(blocks[is_first], return_index=True)
    lengths = np.zeros(len(blocks), dtype=np.int32)
    lengths[np.flatnonzero(is_first)[first]] = np.bincount(
        np.searchsorted(distinct, keys // width), minlength=len(distinct)
    )
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays([types, pa.array(counts)], ["type", "count"]))

"""Latents and texts of as many documents as asked for, made from those of a small run, in the files' own schemas.

Rows of the small run are repeated under new ids, with noise on all that is a real number, so that hardly any two
documents are the same; what that would not do for is drawn anew: embeddings of 384 numbers, words of texts, and counts
of words in blocks.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from macroscope.critics.clusters.latents import LATENTS
from macroscope.critics.latents import set_width, vector_column
from macroscope.critics.tendencies.latents import BLOCK_KEY, documents_per_block

AT_ONCE = 10_000
WIDTH, KINDS = 384, 300
VOCABULARY, WORDS_A_TEXT, EXPONENT = 200_000, 60, 1.2
Change = Callable[[pa.Table, int, np.random.Generator], pa.Table]
"""(rows, number of the first one, generator) -> rows of other documents."""


def write_many(small: Path, output: Path, documents: int, name: str, change: Change, seed: int) -> None:
    """Write `documents` documents like those of a small file.

    Parameters
    ----------
    name
        Beginning of the ids, which differ between two systems.
    """
    table, rng = pq.read_table(small), np.random.default_rng(seed)
    output.parent.mkdir(parents=True, exist_ok=True)
    writer = None
    for start in range(0, documents, AT_ONCE):
        size = min(AT_ONCE, documents - start)
        rows = table.take(pa.array(np.arange(start, start + size) % len(table)))
        rows = _column(rows, "id", pa.array([f"{name}{number}" for number in range(start, start + size)]))
        if "opening" in rows.column_names:
            rows = _column(
                rows, "opening", pa.array([f"{name} {number} began" for number in range(start, start + size)])
            )
        rows = change(rows, start, rng)
        writer = writer or pq.ParquetWriter(output, rows.schema, compression="zstd", compression_level=1)
        writer.write_table(rows)
    assert writer is not None
    about = pq.ParquetFile(small).metadata.metadata or {}
    writer.add_key_value_metadata(
        {key: value for key, value in about.items() if key not in (b"ARROW:schema", BLOCK_KEY)}
    )
    writer.close()


def changes(critic: str, documents: int) -> Change:
    """Return the function that changes one document's latents of a critic into another's."""
    change_of_critic: dict[str, Change] = {
        "clusters": _embeddings,
        "coherence": _posteriors,
        "languages": _proportions,
        "narrative": lambda table, _, rng: _probabilities(table, rng),
        "strings": _words,
        "tendencies": lambda table, start, rng: _counts(table, start, rng, documents_per_block(documents)),
        "topics": _strengths,
    }
    return change_of_critic.get(critic, same)


def same(table: pa.Table, _: int, __: np.random.Generator) -> pa.Table:
    """Rows as they are."""
    return table


def _embeddings(table: pa.Table, _: int, rng: np.random.Generator) -> pa.Table:
    """Some hundred kinds of text, most of them on either side."""
    first = 0 if table["id"][0].as_py().startswith("real") else KINDS // 10
    scales = np.arange(1, WIDTH + 1) ** -0.4
    centres = 2 * np.random.default_rng(0).standard_normal((KINDS, WIDTH)) * scales
    kinds = rng.integers(first, first + KINDS - KINDS // 10, len(table))
    vectors = centres[kinds] + rng.standard_normal((len(table), WIDTH)) * scales
    columns = [table[n] if n != "embedding" else vector_column(vectors.astype(np.float32)) for n in table.column_names]
    return pa.table(columns, schema=set_width(LATENTS, WIDTH))


def _posteriors(table: pa.Table, _: int, rng: np.random.Generator) -> pa.Table:
    column = table["posterior"].combine_chunks()
    sections = column.flatten()
    values = sections.flatten().to_numpy().astype(float)
    posterior = (values * np.exp(rng.normal(0, 0.3, len(values)))).reshape(len(sections), -1)
    posterior /= posterior.sum(axis=1, keepdims=True)
    ends = pa.array(np.arange(len(sections) + 1) * posterior.shape[1], pa.int32())
    posteriors = pa.ListArray.from_arrays(ends, pa.array(posterior.ravel().astype(np.float32)))
    return _column(table, "posterior", pa.ListArray.from_arrays(column.offsets, posteriors))


def _strengths(table: pa.Table, _: int, rng: np.random.Generator) -> pa.Table:
    mean = _matrix(table, "mean")
    return _column(table, "mean", _lists(mean + rng.normal(0, 0.2, mean.shape)))


def _proportions(table: pa.Table, _: int, rng: np.random.Generator) -> pa.Table:
    logs = _matrix(table, "log_proportions")
    logs = logs + rng.normal(0, 0.1, logs.shape)
    shares = np.exp(logs)
    table = _column(table, "log_proportions", _lists(logs))
    return _column(table, "proportions", _lists(shares / shares.sum(axis=1, keepdims=True)))


def _probabilities(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    for task in ("missing", "discordant"):
        column = table[task].combine_chunks()
        values = column.flatten().to_numpy().astype(float)
        noisy = np.clip(values * np.exp(rng.normal(0, 0.3, len(values))), 1e-6, 1 - 1e-6).astype(np.float32)
        table = _column(table, task, pa.ListArray.from_arrays(column.offsets, pa.array(noisy)))
    return table


def _words(table: pa.Table, _: int, rng: np.random.Generator) -> pa.Table:
    """Words by Zipf's law, far more different n-grams than in real text."""
    numbers = np.minimum(rng.zipf(EXPONENT, (len(table), WORDS_A_TEXT)), VOCABULARY)
    table = _column(table, "text", pa.array([" ".join(map(str, row)) for row in numbers.tolist()]))
    return _column(table, "words", pa.array(np.full(len(table), WORDS_A_TEXT), pa.int32()))


def _counts(table: pa.Table, start: int, rng: np.random.Generator, size: int) -> pa.Table:
    """Numbers of a text with noise; the words of a whole block, by Zipf's law, with its first text."""
    tokens = np.maximum(table["tokens"].to_numpy() * np.exp(rng.normal(0, 0.3, len(table))), 1).astype(np.int32)
    factor = tokens / np.maximum(table["tokens"].to_numpy(), 1)
    for name in ("types", "bigram_types", "stop_words", "symbols", "longest_repeat"):
        scaled = np.ceil(table[name].to_numpy() * factor).astype(np.int32)
        table = _column(table, name, pa.array(np.minimum(scaled, tokens)))
    ratio = table["compression_ratio"].to_numpy() * np.exp(rng.normal(0, 0.05, len(table)))
    table = _column(_column(table, "tokens", pa.array(tokens)), "compression_ratio", pa.array(ratio))
    block = np.arange(start, start + len(table)) // size
    lists: list[list[dict[str, object]]] = [[] for _ in block]
    for number in np.unique(block).tolist():
        first = max(0, number * size - start)
        if number * size >= start:
            drawn = np.minimum(rng.zipf(EXPONENT, int(tokens.mean() * size)), VOCABULARY)
            types, counts = np.unique(drawn, return_counts=True)
            lists[first] = [{"type": f"w{t}", "count": c} for t, c in zip(types.tolist(), counts.tolist(), strict=True)]
    table = _column(table, "block", pa.array(block, pa.int32()))
    table = _column(table, "block_counts", pa.array(lists, table.schema.field("block_counts").type))
    metadata = {**(table.schema.metadata or {}), BLOCK_KEY: str(size).encode()}
    return table.replace_schema_metadata(metadata)


def _column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    field = table.schema.field(name)
    return table.set_column(table.column_names.index(name), field, values.cast(field.type))


def _matrix(table: pa.Table, name: str) -> np.ndarray:
    column = table[name].combine_chunks()
    return pc.list_flatten(column).to_numpy().reshape(len(table), -1)


def _lists(values: np.ndarray) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])

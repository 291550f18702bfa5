"""Counts of the n-grams of texts, as a trie of sorted arrays.

An n-gram consists of its context (its first n - 1 words) and its last word. N-grams of one order are numbered in the
order of (number of the context, last word). So all continuations of a context are adjacent, and looking up an n-gram
takes one binary search per order.

Memory does not grow with the texts. Their words are in one file; DuckDB groups and sorts the n-grams of an order and
spills to disk what does not fit; its sorted output is numbered block by block and written to memory-mapped files.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from macroscope.arrays import read_mapped, usable_cores
from macroscope.errors import MacroscopeError

Integers = NDArray[np.int64]
Words = NDArray[np.int32]
MISSING = -1
"""Number of an n-gram or a word that does not exist."""
BLOCK = 1 << 20
"""Number of n-grams, or of words of the texts, that are processed at a time; the counts do not depend on it."""
_MEGABYTES = 2000
"""Memory of DuckDB; it spills to disk what does not fit."""
_COLUMNS = {"keys": np.int64, "counts": np.int64, "suffixes": np.int64, "from_beginning": np.bool_}
"""Columns of a level and their types on disk."""


@dataclass(frozen=True)
class Level:
    """All n-grams of one order.

    Attributes
    ----------
    keys
        Number of the context x size of the vocabulary + last word; sorted. For order 1, the words.
    counts
        Number of occurrences of each n-gram.
    suffixes
        Number of the n-gram without its first word, in the order below; for order 1 all 0.
    from_beginning
        Whether the first word is the beginning of a text.
    """

    keys: Integers
    counts: Integers
    suffixes: Integers
    from_beginning: NDArray[np.bool_]


@dataclass(frozen=True)
class Trie:
    """N-grams of orders 1 to n.

    Attributes
    ----------
    words
        Size of the vocabulary, including the beginning.
    beginning
        Number of the word before every text, which is never predicted.
    levels
        N-grams of each order, from order 1.
    """

    words: int
    beginning: int
    levels: list[Level]

    @property
    def order(self) -> int:
        """Return n, the highest order."""
        return len(self.levels)

    def children(self, order: int, contexts: Integers) -> tuple[Integers, Integers]:
        """Return the range of the continuations (first, one past the last) of contexts of an order, in the next one."""
        keys = self.levels[order].keys
        return (
            np.searchsorted(keys, contexts * self.words),
            np.searchsorted(keys, (contexts + 1) * self.words),
        )

    def extend(self, order: int, contexts: Integers, words: Integers) -> Integers:
        """Return the number of each n-gram of a context of an order and a word, or `MISSING` if it does not occur.

        Contexts and words may be `MISSING` themselves.
        """
        keys = self.levels[order].keys
        wanted = contexts * self.words + words
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        is_valid = (contexts != MISSING) & (words != MISSING)  # otherwise the key is that of another n-gram
        return np.where(is_valid & (keys[places] == wanted), places, MISSING)

    def find(self, words: Integers) -> Integers:
        """Return the numbers of n-grams given as rows of words: `MISSING` if one does not occur, 0 for no words."""
        numbers = np.zeros(len(words), dtype=np.int64)
        for order in range(words.shape[1]):
            numbers = self.extend(order, numbers, words[:, order])
        return numbers

    def blocks(self, order: int) -> Iterator[slice]:
        """Yield the n-grams of an order in blocks that keep the continuations of a context together."""
        keys = self.levels[order - 1].keys
        low = 0
        while low < len(keys):
            high = min(low + BLOCK, len(keys))
            high = int(np.searchsorted(keys, (keys[high - 1] // self.words + 1) * self.words))
            yield slice(low, high)
            low = high


def write_words(texts: Iterable[Sequence[int] | Integers], beginning: int, stream: BinaryIO) -> None:
    """Write the words of texts, one after the other, each text preceded by the beginning.

    Parameters
    ----------
    texts
        Numbers of the words of each text, with the end and without the beginning.
    """
    for text in texts:
        stream.write(np.array([beginning, *text], dtype=np.int32).tobytes())


def read_words(stream: Path) -> Words:
    return read_mapped(stream, np.int32)


def count_ngrams(stream: Words, order: int, words: int, beginning: int, folder: Path | None) -> Trie:
    """Count all n-grams up to an order within texts.

    Orders that an earlier call has finished in the folder are not counted again, so a killed call can be resumed.

    Parameters
    ----------
    stream
        Words of the texts (`read_words`).
    order
        Highest order.
    words
        Size of the vocabulary.
    beginning
        Number of the word before every text.
    folder
        Folder of the counts, from which the trie is memory-mapped. None: in memory, for texts of a few megabytes.

    Returns
    -------
    Trie
        Trie of the given order, or of the longest n-grams in the texts if they are shorter.

    Raises
    ------
    MacroscopeError
        If the disk is full.
    """
    levels: list[Level] = []
    places = np.zeros(len(stream), dtype=np.int64)
    for n in range(1, order + 1):
        below = Trie(words, beginning, levels)
        blocks: Iterable[dict[str, NDArray]]
        if folder is None or len(stream) <= BLOCK:
            columns, places = _count_in_memory(stream, n, below, places)
            blocks = [columns]
        elif not _is_done(folder, n):
            counted = _count_words(stream, words) if n == 1 else _count_order(stream, n, folder, beginning)
            blocks = _level_columns(counted, below)
        if folder is not None and not _is_done(folder, n):
            _write(blocks, n, folder)
        level = Level(**columns) if folder is None else _read(folder, n)
        if not len(level.keys):  # no text is this long, so there are no longer n-grams either
            break
        levels.append(level)
    return Trie(words, beginning, levels)


def read_trie(folder: Path, words: int, beginning: int) -> Trie:
    """Memory-map the counts that `count_ngrams` wrote to a folder."""
    done = takewhile(partial(_is_done, folder), count(1))
    return Trie(words, beginning, [level for n in done if len((level := _read(folder, n)).keys)])


def _count_words(stream: Words, words: int) -> Iterator[tuple[Integers, Integers]]:
    """Count the words, in the form of `_count_order`."""
    totals = np.zeros(words, dtype=np.int64)
    for start in range(0, len(stream), BLOCK):
        totals += np.bincount(stream[start : start + BLOCK], minlength=words)
    occurring = np.flatnonzero(totals)
    yield occurring[:, None], totals[occurring]


def _count_order(stream: Words, n: int, folder: Path, beginning: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield blocks of the distinct n-grams of an order, as sorted rows of words, and their counts."""
    names = [f"w{column}" for column in range(n)]
    columns = ", ".join(names)
    is_within_text = " AND ".join(f"{name} <> {beginning}" for name in names[1:])  # within one text
    spilled = folder / "spilled"
    settings: dict[str, Any] = {
        "memory_limit": f"{_MEGABYTES}MB",
        "threads": usable_cores(),
        "temp_directory": str(spilled),
    }
    query = f"SELECT {columns}, count(*) AS n FROM places WHERE {is_within_text} GROUP BY {columns} ORDER BY {columns}"
    try:
        with duckdb.connect(config=settings) as database:
            database.register("places", _shifted_columns(stream, names))
            for batch in database.sql(query).to_arrow_reader(BLOCK):
                *words, counts = (column.to_numpy() for column in batch.columns)
                yield np.column_stack(words).astype(np.int64), counts
    except (duckdb.Error, pa.ArrowException) as error:
        reason = str(error).strip().partition("\n")[0]
        raise MacroscopeError(
            f"{folder}: {n}-grams cannot be counted ({reason}); make room on that disk and run again: finished orders"
            " are kept"
        ) from None
    finally:
        shutil.rmtree(spilled, ignore_errors=True)


def _count_in_memory(stream: Words, n: int, below: Trie, places: Integers) -> tuple[dict[str, NDArray], Integers]:
    """Count the n-grams of an order at the places of those of the order below, without the overhead of a query.

    Parameters
    ----------
    places
        Number of the (n - 1)-gram that begins at each place of the stream; `MISSING` if it is not within a text.

    Returns
    -------
    (columns of the level, the same numbers of this order)
    """
    last = stream[n - 1 :].astype(np.int64)
    contexts = places[: len(last)]
    is_within_text = (contexts != MISSING) & ((last != below.beginning) | (n == 1))
    at = np.flatnonzero(is_within_text)
    keys = contexts[at] * below.words + last[at]
    order = np.argsort(keys)
    keys = keys[order]
    is_first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    first = np.flatnonzero(is_first)
    examples = at[order[first]]
    level = {
        "keys": keys[first],
        "counts": np.diff(np.append(first, len(keys))),
        "suffixes": places[examples + 1] if n > 1 else np.zeros(len(first)),
        "from_beginning": stream[examples] == below.beginning,
    }
    numbers = np.full(len(last), MISSING, dtype=np.int64)
    numbers[at[order]] = np.cumsum(is_first) - 1
    return {name: level[name].astype(dtype, copy=False) for name, dtype in _COLUMNS.items()}, numbers


def _shifted_columns(stream: Words, names: Sequence[str]) -> pa.RecordBatchReader:
    """Return the word at each position of the texts and those after it as columns, block by block."""
    schema = pa.schema([(name, pa.int32()) for name in names])
    size = len(stream) - len(names) + 1

    def blocks() -> Iterator[pa.RecordBatch]:
        for start in range(0, size, BLOCK):
            end = min(start + BLOCK, size)
            columns = [pa.array(stream[start + shift : end + shift]) for shift in range(len(names))]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, blocks())


def _level_columns(counted: Iterable[tuple[Integers, Integers]], below: Trie) -> Iterator[dict[str, NDArray]]:
    """Number sorted n-grams: yield the columns of a level for each block."""
    for ngrams, counts in counted:
        level = {
            "keys": below.find(ngrams[:, :-1]) * below.words + ngrams[:, -1],
            "counts": counts,
            "suffixes": below.find(ngrams[:, 1:]),  # for single words: no words, so number 0
            "from_beginning": ngrams[:, 0] == below.beginning,
        }
        yield {name: level[name].astype(dtype, copy=False) for name, dtype in _COLUMNS.items()}


def _write(blocks: Iterable[dict[str, NDArray]], n: int, folder: Path) -> None:
    """Append the blocks of a level to its files; rename the keys to their final name last."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{n}-{name}" for name in _COLUMNS} | {"keys": folder / f"{n}-keys.part"}
    with ExitStack() as stack:
        files = {name: stack.enter_context(path.open("wb")) for name, path in paths.items()}
        for block in blocks:
            for name, column in block.items():
                files[name].write(np.ascontiguousarray(column).data)  # tofile does not report a full disk
    paths["keys"].rename(folder / f"{n}-keys")


def _is_done(folder: Path, n: int) -> bool:
    return (folder / f"{n}-keys").exists()


def _read(folder: Path, n: int) -> Level:
    columns: dict[str, Any] = {name: read_mapped(folder / f"{n}-{name}", dtype) for name, dtype in _COLUMNS.items()}
    return Level(**columns)

"""Counts of the n-grams of a text, as a trie of sorted arrays.

An n-gram is its context (the n-gram of one word less that it begins with) and its last word. Those of one order are
numbered in the order of (number of the context, last word), so that all continuations of a context stand next to each
other, and finding an n-gram is one binary search an order.

Texts of any size are counted in the same memory: their words stand in one file, DuckDB groups and sorts the n-grams of
an order and spills what does not fit, and what it gives, in order, is numbered block by block and written to files that
are mapped into memory.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from itertools import count, takewhile
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from macroscope.arrays import read_mapped
from macroscope.errors import MacroscopeError
from macroscope.statistics.p_values import usable_cores

Integers = NDArray[np.int64]
Words = NDArray[np.int32]
MISSING = -1
BLOCK = 1 << 20
"""N-grams, or words of the texts, that are taken at a time; no count depends on it."""
_MEGABYTES = 2000
"""Memory of DuckDB; it spills what does not fit."""
_COLUMNS = {"keys": np.int64, "counts": np.int64, "suffixes": np.int64, "from_beginning": np.bool_}
"""Of a level, and how each is kept on disk."""


@dataclass(frozen=True)
class Level:
    """All n-grams of one order.

    Attributes
    ----------
    keys
        Context x size of the vocabulary + last word; sorted. For order 1 the words themselves.
    counts
        How often each occurs.
    suffixes
        Number of the n-gram without its first word, among those of the order below; for order 1 all 0.
    from_beginning
        Whether its first word is the beginning of a text.
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
        Size of the vocabulary, the beginning included.
    beginning
        Number of the word that stands before every text, and is never predicted.
    levels
        Order 1 first.
    """

    words: int
    beginning: int
    levels: list[Level]

    @property
    def order(self) -> int:
        """N."""
        return len(self.levels)

    def children(self, order: int, contexts: Integers) -> tuple[Integers, Integers]:
        """First continuation of each context of some order, and the first one that is not; in the order above."""
        keys = self.levels[order].keys
        return (
            np.searchsorted(keys, contexts * self.words),
            np.searchsorted(keys, (contexts + 1) * self.words),
        )

    def extend(self, order: int, contexts: Integers, words: Integers) -> Integers:
        """Numbers of the n-grams that each context of some order and a word make; `MISSING` where there is none.

        Contexts and words may be `MISSING` themselves.
        """
        keys = self.levels[order].keys
        wanted = contexts * self.words + words
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = (contexts != MISSING) & (words != MISSING)  # else a key would be another n-gram's
        return np.where(known & (keys[places] == wanted), places, MISSING)

    def find(self, words: Integers) -> Integers:
        """Numbers of n-grams, given as rows of their words; `MISSING` where one never occurred; 0 for no words."""
        numbers = np.zeros(len(words), dtype=np.int64)
        for order in range(words.shape[1]):
            numbers = self.extend(order, numbers, words[:, order])
        return numbers

    def blocks(self, order: int) -> Iterator[slice]:
        """The n-grams of an order in blocks that part no continuations of a context."""
        keys = self.levels[order - 1].keys
        low = 0
        while low < len(keys):
            high = min(low + BLOCK, len(keys))
            high = int(np.searchsorted(keys, (keys[high - 1] // self.words + 1) * self.words))
            yield slice(low, high)
            low = high


def write_words(texts: Iterable[Sequence[int] | Integers], beginning: int, stream: BinaryIO) -> None:
    """Write the words of texts, one after the other, each text after the word that begins it.

    Parameters
    ----------
    texts
        Numbers of the words of each text, with the word that ends it and without the one that begins it.
    """
    for text in texts:
        stream.write(np.array([beginning, *text], dtype=np.int32).tobytes())


def read_words(stream: Path | BytesIO) -> Words:
    """What `write_words` wrote; a file is mapped."""
    return np.frombuffer(stream.getvalue(), np.int32) if isinstance(stream, BytesIO) else read_mapped(stream, np.int32)


def count_ngrams(places: Words, order: int, words: int, beginning: int, folder: Path | None) -> Trie:
    """Count all n-grams up to an order, none of which reaches over the end of a text.

    Orders that an earlier call has finished in the folder are not counted again: a killed one goes on after them.

    Parameters
    ----------
    places
        The words of texts (`read_words`).
    words
        Size of the vocabulary.
    beginning
        Number of the word that is put before every text.
    folder
        Where the counts are kept; the trie is mapped from its files. None: in memory, for texts of a few megabytes.

    Returns
    -------
    Trie
        Of that order, or of the longest n-grams that there are.
    """
    levels: list[Level] = []
    for n in range(1, order + 1):
        if folder is None or not _is_done(folder, n):
            counted = _unigrams(places, words) if n == 1 else _counted(places, n, folder, beginning)
            columns = _columns(counted, Trie(words, beginning, levels))
            if folder is not None:
                _write(columns, n, folder)
        level = _together(columns) if folder is None else _read(folder, n)
        if not len(level.keys):  # no text is that long: longer n-grams would add nothing
            break
        levels.append(level)
    return Trie(words, beginning, levels)


def read_trie(folder: Path, words: int, beginning: int) -> Trie:
    """Map counts that `count_ngrams` left in a folder."""
    done = takewhile(partial(_is_done, folder), count(1))
    return Trie(words, beginning, [level for n in done if len((level := _read(folder, n)).keys)])


def _unigrams(places: Words, words: int) -> Iterator[tuple[Integers, Integers]]:
    """Words that occur and how often, as `_counted` gives longer n-grams."""
    seen = np.zeros(words, dtype=np.int64)
    for start in range(0, len(places), BLOCK):
        seen += np.bincount(places[start : start + BLOCK], minlength=words)
    found = np.flatnonzero(seen)
    yield found[:, None], seen[found]


def _counted(places: Words, n: int, folder: Path | None, beginning: int) -> Iterator[tuple[Integers, Integers]]:
    """Blocks of the different n-grams, as rows of their words, sorted; and how often each occurs."""
    if folder is None or len(places) <= BLOCK:
        yield _counted_at_once(places, n, beginning)
        return
    names = [f"w{column}" for column in range(n)]
    columns = ", ".join(names)
    whole = " AND ".join(f"{name} <> {beginning}" for name in names[1:])  # of one text
    spilled = folder / "spilled"
    settings: dict[str, Any] = {
        "memory_limit": f"{_MEGABYTES}MB",
        "threads": usable_cores(),
        "temp_directory": str(spilled),
    }
    query = f"SELECT {columns}, count(*) AS n FROM places WHERE {whole} GROUP BY {columns} ORDER BY {columns}"
    try:
        with duckdb.connect(config=settings) as database:
            database.register("places", _places(places, names))
            for batch in database.sql(query).to_arrow_reader(BLOCK):
                *grams, counts = (column.to_numpy() for column in batch.columns)
                yield np.column_stack(grams).astype(np.int64), counts
    except (duckdb.Error, pa.ArrowException) as error:
        reason = str(error).strip().partition("\n")[0]
        raise MacroscopeError(
            f"{folder}: {n}-grams cannot be counted ({reason}); make room on that disk and call again: the orders below"
            " are kept"
        ) from None
    finally:
        shutil.rmtree(spilled, ignore_errors=True)


def _counted_at_once(places: Words, n: int, beginning: int) -> tuple[Integers, Integers]:
    """The same of texts that memory holds, without what it takes to begin a query."""
    if len(places) < n:
        return np.empty((0, n), dtype=np.int64), np.empty(0, dtype=np.int64)
    grams = sliding_window_view(places, n)
    grams = grams[(grams[:, 1:] != beginning).all(axis=1)].astype(np.int64)
    grams = grams[np.lexsort(grams.T[::-1])]
    first = np.flatnonzero(np.append(True, (grams[1:] != grams[:-1]).any(axis=1))[: len(grams)])
    return grams[first], np.diff(np.append(first, len(grams)))


def _places(places: Words, names: Sequence[str]) -> pa.RecordBatchReader:
    """The words at each place of the texts and after it, block by block."""
    schema = pa.schema([(name, pa.int32()) for name in names])
    size = len(places) - len(names) + 1

    def blocks() -> Iterator[pa.RecordBatch]:
        for start in range(0, size, BLOCK):
            end = min(start + BLOCK, size)
            columns = [pa.array(places[start + shift : end + shift]) for shift in range(len(names))]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, blocks())


def _columns(counted: Iterable[tuple[Integers, Integers]], below: Trie) -> Iterator[dict[str, NDArray]]:
    """Number n-grams that come in order: what a level holds of each block."""
    for grams, counts in counted:
        level = {
            "keys": below.find(grams[:, :-1]) * below.words + grams[:, -1],
            "counts": counts,
            "suffixes": below.find(grams[:, 1:]),  # of single words: no words, number 0
            "from_beginning": grams[:, 0] == below.beginning,
        }
        yield {name: level[name].astype(dtype, copy=False) for name, dtype in _COLUMNS.items()}


def _together(blocks: Iterable[dict[str, Any]]) -> Level:
    some = list(blocks)
    return Level(**{name: np.concatenate([block[name] for block in some]) for name in _COLUMNS})


def _write(blocks: Iterable[dict[str, NDArray]], n: int, folder: Path) -> None:
    """Append the blocks of a level to its files; the keys get their name when all is there."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{n}-{name}" for name in _COLUMNS} | {"keys": folder / f"{n}-keys.part"}
    with ExitStack() as stack:
        files = {name: stack.enter_context(path.open("wb")) for name, path in paths.items()}
        for block in blocks:
            for name, column in block.items():
                files[name].write(np.ascontiguousarray(column).data)  # tofile does not say that a disk is full
    paths["keys"].rename(folder / f"{n}-keys")


def _is_done(folder: Path, n: int) -> bool:
    return (folder / f"{n}-keys").exists()


def _read(folder: Path, n: int) -> Level:
    columns: dict[str, Any] = {name: read_mapped(folder / f"{n}-{name}", dtype) for name, dtype in _COLUMNS.items()}
    return Level(**columns)

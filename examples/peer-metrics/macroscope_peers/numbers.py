"""Latents of peers that give numbers of single texts, and the n-grams that several of them count."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from macroscope.critics.latents import key_columns, latents_schema, write_latents
from macroscope.documents import Collection, Document

T = TypeVar("T", bound=Hashable)


def numbers_schema(*names: str) -> pa.Schema:
    """Return the schema of latents with these columns of numbers."""
    return latents_schema(*(pa.field(name, pa.float64()) for name in names))


def write_numbers(
    texts: Collection,
    schema: pa.Schema,
    measure: Callable[[Document], Sequence[float]],
    signature: str,
    output: Path,
) -> None:
    """Write numbers of every text: as many as the schema has beside the keys, NaN if undefined."""

    def tables() -> Iterator[pa.Table]:
        for documents in texts.batches():
            columns = zip(*map(measure, documents), strict=True)
            numbers = [pa.array(column, pa.float64()) for column in columns]
            yield pa.table([*key_columns(documents), *numbers], schema=schema)

    write_latents(output, schema, tables(), signature)


def split_words(text: str) -> list[str]:
    """Return what white space separates, in lower case."""
    return text.lower().split()


def list_ngrams(items: Sequence[T], length: int) -> list[tuple[T, ...]]:
    """Return all runs of `length` items."""
    return [tuple(items[start : start + length]) for start in range(len(items) - length + 1)]


def find_shared(texts: Iterable[Sequence[T]]) -> set[T]:
    """Return the items that at least two texts have."""
    counts = Counter(item for text in texts for item in set(text))
    return {item for item, count in counts.items() if count > 1}

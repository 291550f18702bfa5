"""Tables about a prepared corpus: dropped units, a summary as in Table 11 of deng2022, and section types."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.corpora.filters import collect_titles
from macroscope.documents import SPLITS, Count, Document
from macroscope.files import atomic
from macroscope.tables import write_csv


def median(histogram: Counter[int]) -> float | None:
    """Compute the median of integers from their histogram (value -> frequency); None if it is empty."""
    total = histogram.total()
    if not total:
        return None
    ordered = sorted(histogram.items())
    return (_value_at(ordered, (total - 1) // 2) + _value_at(ordered, total // 2)) / 2


def _value_at(ordered: Sequence[tuple[int, int]], rank: int) -> int:
    passed = 0
    for value, frequency in ordered:
        passed += frequency
        if rank < passed:
            return value
    raise IndexError(rank)


class Summary:
    """Statistics of one corpus, gathered document by document; memory grows only with the number of distinct values."""

    def __init__(self) -> None:
        self._documents: Counter[str] = Counter()
        self._sections: dict[str, Counter[int]] = {split: Counter() for split in SPLITS}
        self._tokens: dict[str, Counter[int]] = {split: Counter() for split in SPLITS}
        self._types: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}

    def add(self, document: Document, lengths: Iterable[int]) -> None:
        """Add a document with the lengths of its sections in tokens."""
        self._documents[document.split] += 1
        self._sections[document.split][len(document.sections)] += 1
        self._tokens[document.split].update(lengths)
        self._types[document.split].update(collect_titles(document))

    def documents(self, split: str) -> int:
        """Return the number of documents of a split."""
        return self._documents[split]

    def write(self, path: Path) -> None:
        """Write one row per split: numbers of documents and section types, and lengths in sections and tokens."""
        header = ["split", "documents", "section_types", "median_sections", "median_section_tokens",
                  "max_section_tokens", "total_tokens"]  # fmt: skip
        write_table(path, header, (self._row(split) for split in SPLITS))

    def _row(self, split: str) -> list[Any]:
        tokens = self._tokens[split]
        return [
            split,
            self._documents[split],
            len(self._types[split]),
            median(self._sections[split]),
            median(tokens),
            max(tokens, default=None),
            sum(length * frequency for length, frequency in tokens.items()),
        ]

    def write_section_types(self, path: Path) -> None:
        """Write the section types of the training split, with the number and the share of documents that have them."""
        ordered = sorted(self._types["train"].items(), key=lambda item: (-item[1], item[0]))
        rows = ([title, count, round(count / self._documents["train"], 6)] for title, count in ordered)
        write_table(path, ["section_type", "documents", "share"], rows)


def write_filters(path: Path, counts: Iterable[Count]) -> None:
    """Write the numbers of units that each filter kept and dropped, in order."""
    rows = ([count.filter, count.unit, count.kept, count.dropped] for count in counts)
    write_table(path, ["filter", "unit", "kept", "dropped"], rows)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV table, atomically; None becomes an empty field."""
    with atomic(path) as temporary:
        # dtype=object: a missing number would turn integers into floats.
        write_csv(pd.DataFrame(list(rows), columns=list(header), dtype=object), temporary)

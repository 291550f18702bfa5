"""Index of a system's texts: the columns behind the list in the reader."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.critics.attributions import read_real_scores, read_scores
from macroscope.document_keys import split_key
from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.phrases import shorten
from macroscope.reporting.flags import Flags
from macroscope.statistics.document_groups import OPENING
from macroscope.statistics.score_tables import list_document_numbers, read_document_numbers

CHARACTERS = 90
"""Maximum length of the beginning of a text in the list."""
DIGITS = 6
"""Significant digits of a score."""


@dataclass(frozen=True)
class CriticScores:
    """Scores of a system's documents by a critic, compared with real texts.

    Attributes
    ----------
    scores
        Score per document; NaN if the critic does not score it.
    below
        Number of real texts with a smaller score, per document.
    real
        Number of real texts; for a real text, number of the others.
    reference
        Scores of the real texts, sorted.
    """

    scores: NDArray[np.float64]
    below: NDArray[np.int64]
    real: int
    reference: NDArray[np.float64]

    @classmethod
    def read(cls, candidate: Path, control: Path, ids: Sequence[str] | None = None) -> "CriticScores":
        """Read the scores of a system's documents and compare them with real texts.

        Parameters
        ----------
        candidate, control
            Attribution files of the system and of the control; the same file for the control itself.
        ids
            Ids of the documents to return, in the order of the file, which may have more: of real text, a critic may
            read the whole corpus, not only its held-out split. Default: all.

        Raises
        ------
        MacroscopeError
            If a document is missing.
        """
        named, scores, _ = read_scores(candidate)
        rows = np.arange(len(named)) if ids is None else _rows_of(ids, named, candidate)
        return cls.compare(scores[rows], read_real_scores(candidate, control)[1], is_control=candidate == control)

    @classmethod
    def compare(cls, scores: NDArray[np.float64], real: NDArray[np.float64], *, is_control: bool) -> "CriticScores":
        """Compare the scores of documents with those of real texts; NaN for texts without a score."""
        reference = np.sort(real[~np.isnan(real)])
        below = np.searchsorted(reference, scores, side="left")
        return cls(scores, below, max(0, len(reference) - is_control), reference)

    @classmethod
    def read_numbers(cls, candidate: Path, control: Path, ids: Sequence[str]) -> "dict[str, CriticScores]":
        """Read the further numbers of a system's documents from files of scores, and compare them with real texts."""
        numbers, real = (read_document_numbers(path).set_index("id") for path in (candidate, control))
        return {
            name: cls.compare(
                numbers[name].reindex(ids).to_numpy(float), real[name].to_numpy(float), is_control=candidate == control
            )
            for name in list_document_numbers(candidate)
        }

    @property
    def above(self) -> NDArray[np.int64]:
        """Return the number of real texts with a larger score, per document; 0 for a document without a score."""
        return len(self.reference) - np.searchsorted(self.reference, self.scores, side="right")

    @property
    def middle(self) -> float:
        """Return the median of the real texts; NaN if there are none."""
        return float(np.median(self.reference)) if len(self.reference) else float("nan")

    @property
    def distances(self) -> NDArray[np.float64]:
        """Return the distance of each score from the median of the real texts."""
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            return np.abs(self.scores - self.middle)


def _rows_of(ids: Sequence[str], named: Sequence[str], file: Path) -> NDArray[np.int64]:
    """Return the row of each id in the column `named` of a file."""
    rows = {identifier: row for row, identifier in enumerate(named)}
    missing = next((identifier for identifier in ids if identifier not in rows), None)
    if missing is not None:
        raise MacroscopeError(
            f"{file}: document {missing!r} of the samples is missing; delete the file and run again to make it anew"
        )
    return np.array([rows[identifier] for identifier in ids], dtype=np.int64)


class PairedTexts:
    """Real texts that are paired with a system's texts: by id, or by an opening that is unique in both collections.

    Parameters
    ----------
    keys
        Openings of the control's documents, indexed by id; see `documents.Document.opening`.
    """

    def __init__(self, keys: pd.DataFrame) -> None:
        parts = [split_key(opening) for opening in keys[OPENING]]
        self._ids = {name: row for row, name in enumerate(keys.index)}
        counts = _count_parts(parts)
        self._rows = {part: row for row, both in enumerate(parts) for part in both if counts[part] == 1}

    def find_rows(self, keys: list[tuple[str, str]]) -> list[int | None]:
        """Return the row of the real text paired with each text of a system; None for unpaired texts."""
        parts = [split_key(opening) for _, opening in keys]
        counts = _count_parts(parts)
        by_part = [
            next((self._rows[part] for part in both if counts[part] == 1 and part in self._rows), None)
            for both in parts
        ]
        return [self._ids.get(name, row) for (name, _), row in zip(keys, by_part, strict=True)]


def _count_parts(parts: list[tuple[str, str]]) -> Counter[str]:
    """Count the texts of each prompt, and those that begin with the same words."""
    return Counter(part for both in parts for part in both if part)


@dataclass
class Index:
    """Columns of the index, to which documents are added one by one.

    Attributes
    ----------
    scores
        Critic -> its scores of all documents.
    paired
        Real texts that are paired with the documents.
    numbers
        Critic -> its further numbers of all documents, by name.
    flags
        Critic -> flags of all documents; empty for real texts.
    is_control
        Whether the documents are the real texts, which are paired with nothing.
    """

    scores: dict[str, CriticScores]
    numbers: Mapping[str, Mapping[str, CriticScores]]
    paired: PairedTexts
    flags: Mapping[str, Flags]
    is_control: bool
    ids: list[str] = field(default_factory=list)
    _openings: list[str] = field(default_factory=list)
    _titles: list[str | None] = field(default_factory=list)
    _beginnings: list[str] = field(default_factory=list)
    _words: list[int] = field(default_factory=list)
    _marks: dict[str, list[int]] = field(default_factory=dict)

    def add(self, document: Document, marks: dict[str, int]) -> None:
        """Add the next document, with its number of marks by each critic."""
        self.ids.append(document.id)
        self._openings.append(document.opening)
        self._titles.append(document.title)
        self._beginnings.append(shorten(document.text, CHARACTERS))
        self._words.append(len(document.text.split()))
        for critic in self.scores:
            self._marks.setdefault(critic, []).append(marks.get(critic, 0))

    def columns(self) -> dict[str, Any]:
        """Return the columns as the page reads them."""
        keys = list(zip(self.ids, self._openings, strict=True))
        return {
            "ids": self.ids,
            "titles": self._titles,
            "beginnings": self._beginnings,
            "words": self._words,
            "paired": [None] * len(keys) if self.is_control else self.paired.find_rows(keys),
            "scores": {critic: [_rounded(value) for value in scores.scores] for critic, scores in self.scores.items()},
            "below": {critic: scores.below.tolist() for critic, scores in self.scores.items()},
            "numbers": {
                critic: {
                    name: {
                        "values": [_rounded(value) for value in numbers.scores],
                        "below": numbers.below.tolist(),
                        "real": numbers.real,
                    }
                    for name, numbers in of_critic.items()
                }
                for critic, of_critic in self.numbers.items()
            },
            "p": {critic: [_rounded(p) for p in flags.p_values] for critic, flags in self.flags.items()},
            "flagged": {critic: np.flatnonzero(flags.is_flagged).tolist() for critic, flags in self.flags.items()},
            "real": {critic: scores.real for critic, scores in self.scores.items()},
            "marks": self._marks,
        }


def _rounded(value: float) -> float | None:
    """Round a score to `DIGITS` digits, enough to sort by; infinity becomes the largest number, NaN None."""
    if np.isnan(value):
        return None
    return float(f"{np.nan_to_num(value):.{DIGITS}g}")

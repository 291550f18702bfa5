"""The index of a system's texts: what a list of them shows, in columns."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macroscope.critics.attributions import read_scores
from macroscope.documents import Document, read_documents

WORDS, CHARACTERS = 14, 90
"""Of the beginning of a text."""
DIGITS = 6
"""Significant ones of a score."""


@dataclass(frozen=True)
class ScoresOfCritic:
    """What a critic says of a system's documents.

    Attributes
    ----------
    scores
        Documents; NaN where it does not judge one.
    below
        How many real texts have a smaller score.
    real
        How many there are; of a real text, how many others.
    known
        Scores of the real texts, in order.
    """

    scores: NDArray[np.float64]
    below: NDArray[np.int64]
    real: int
    known: NDArray[np.float64]

    @classmethod
    def read(cls, own: Path, control: Path) -> "ScoresOfCritic":
        """Read what a critic has against a system's documents, and hold it against real texts.

        Parameters
        ----------
        own, control
            Files of the system and of the control; the same for the control itself.
        """
        _, scores, real = read_scores(own)
        known = read_scores(control)[1] if real is None else real
        known = np.sort(known[~np.isnan(known)])
        below = np.searchsorted(known, scores, side="left")
        return cls(scores, below, max(0, len(known) - (own == control)), known)

    @property
    def above(self) -> NDArray[np.int64]:
        """How many real texts have a larger score; of a document that is not judged, none."""
        return len(self.known) - np.searchsorted(self.known, self.scores, side="right")

    def tails(self, *, one_sided: bool = False) -> NDArray[np.float64]:
        """Share of real texts that lie as far out or further on the same side; NaN where there is nothing to compare.

        Parameters
        ----------
        one_sided
            Whether only large scores lie out.
        """
        inner = self.below if one_sided else np.maximum(self.below, self.above)
        share = (len(self.known) - inner) / len(self.known) if len(self.known) else np.nan
        return np.where(np.isnan(self.scores), np.nan, share)

    @property
    def middle(self) -> float:
        """Median of real texts; NaN without any."""
        return float(np.median(self.known)) if len(self.known) else float("nan")

    @property
    def distances(self) -> NDArray[np.float64]:
        """Distance from the median of real texts."""
        with np.errstate(invalid="ignore"):  # infinity from infinity: as real texts are
            return np.abs(self.scores - self.middle)


class Partners:
    """The real texts that texts may have come from: of the same id, or the same first words (once on either side).

    Parameters
    ----------
    keys
        (id, opening) of every document of the control; see `documents.Document.opening`.
    """

    def __init__(self, keys: list[tuple[str, str]]) -> None:
        self._ids = {name: row for row, (name, _) in enumerate(keys)}
        often = Counter(opening for _, opening in keys if opening)
        self._openings = {opening: row for row, (_, opening) in enumerate(keys) if often[opening] == 1}

    @classmethod
    def read(cls, samples: Path) -> "Partners":
        """Read those of the control."""
        return cls([(document.id, document.opening) for document in read_documents(samples)])

    def of(self, keys: list[tuple[str, str]]) -> list[int | None]:
        """Row of the partner of each text of a system; None where it has none."""
        often = Counter(opening for _, opening in keys)
        return [
            self._ids.get(name, self._openings.get(opening) if often[opening] == 1 else None) for name, opening in keys
        ]


@dataclass
class Index:
    """Columns of the index, which grow with the documents.

    Attributes
    ----------
    scores
        Critic -> what it says of all documents.
    partners
        The real texts.
    is_control
        Whether these are the real texts: they have no partners but themselves.
    """

    scores: dict[str, ScoresOfCritic]
    partners: Partners
    is_control: bool
    ids: list[str] = field(default_factory=list)
    _openings: list[str] = field(default_factory=list)
    _titles: list[str | None] = field(default_factory=list)
    _beginnings: list[str] = field(default_factory=list)
    _words: list[int] = field(default_factory=list)
    _marks: dict[str, list[int]] = field(default_factory=dict)

    def add(self, document: Document, marks: dict[str, int]) -> None:
        """Add the next document, with the number of marks that critics made in it."""
        words = document.text.split()
        self.ids.append(document.id)
        self._openings.append(document.opening)
        self._titles.append(document.title)
        self._beginnings.append(" ".join(words[:WORDS])[:CHARACTERS])
        self._words.append(len(words))
        for critic in self.scores:
            self._marks.setdefault(critic, []).append(marks.get(critic, 0))

    def columns(self) -> dict[str, Any]:
        """What the page reads."""
        keys = list(zip(self.ids, self._openings, strict=True))
        return {
            "ids": self.ids,
            "titles": self._titles,
            "beginnings": self._beginnings,
            "words": self._words,
            "partners": [None] * len(keys) if self.is_control else self.partners.of(keys),
            "scores": {critic: [_rounded(value) for value in own.scores] for critic, own in self.scores.items()},
            "below": {critic: own.below.tolist() for critic, own in self.scores.items()},
            "real": {critic: own.real for critic, own in self.scores.items()},
            "marks": self._marks,
        }


def _rounded(value: float) -> float | None:
    """A score in as many digits as order needs; infinity as the largest number, NaN as None."""
    if np.isnan(value):
        return None
    return float(f"{np.nan_to_num(value):.{DIGITS}g}")

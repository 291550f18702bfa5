"""The words that real text would hardly go on with, by n-gram models of real texts that have not seen the text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np

from macroscope.critics.attributions import Array, Attribution, Place, attribution_weight, write_attributions
from macroscope.critics.strings.estimators import NgramDistribution, NgramEstimator
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.texts import Texts, read_texts
from macroscope.critics.subsampling import subsampled
from macroscope.documents import Collection, Document, opening_of
from macroscope.errors import MacroscopeError
from macroscope.systems.ngram.backoff import SYMBOLS, words_of

RARER = 0.98
"""A word is marked that costs more than this share of the words of real text."""
_WORD = re.compile("[^\0\t\n\r ]+")


@dataclass(frozen=True)
class Halves:
    """Models of the two halves of real text: a text is scored by the one that neither it nor its partner is in.

    Attributes
    ----------
    half_of
        Half (0, 1) of each real text, by its id and by its first words.
    models
        Of the other half than a text's: the model for texts of half 0, then that for texts of half 1.
    """

    half_of: dict[str, int]
    models: tuple[NgramDistribution, NgramDistribution]

    @classmethod
    def fit(cls, real: Texts, order: int) -> "Halves":
        """Fit both on the control's texts, over one vocabulary."""
        if len(real) < 2:
            raise MacroscopeError("strings: the control has fewer than two texts; none can be judged by the others")
        half_of: dict[str, int] = {}
        sides: tuple[list[str], list[str]] = ([], [])
        for number, (name, text) in enumerate(zip(real.ids, real.texts, strict=True)):
            opening = opening_of(text)
            half = half_of.get(opening, number % 2) if opening else number % 2
            half_of |= {name: half, opening: half} if opening else {name: half}
            sides[half].append(text)
        if not all(sides):
            raise MacroscopeError("strings: all texts of the control begin alike, so none could be judged by others")
        first, second = NgramEstimator(order).fit(*sides, seed=0)
        return cls(half_of, (second, first))

    def costs(self, names: Sequence[str], texts: Sequence[str]) -> list[Array]:
        """-log P in nats of the words of each text, and of its end."""
        words = [words_of(text) for text in texts]
        found: dict[int, Array] = {}
        halves = [self._half(name, text) for name, text in zip(names, texts, strict=True)]
        for half, distribution in enumerate(self.models):
            chosen = [i for i, own in enumerate(halves) if own == half]
            if chosen:
                logs = distribution.model.word_logs([words[i] for i in chosen])
                found |= {i: -own for i, own in zip(chosen, logs, strict=True)}
        return [found[i] for i in range(len(words))]

    def _half(self, name: str, text: str) -> int:
        partner = name if name in self.half_of else opening_of(text)
        return self.half_of.get(partner, crc32(name.encode()) % 2)


def attribute(texts: Path, control_latents: Path, *, options: StringsOptions, output: Path) -> None:
    """Blame texts for what a word costs, and the rarest words; see `critics.attributions`.

    The models are of at most `most_texts` real texts.
    """
    with subsampled(control_latents, None, 0, options.most_texts) as (some, _):
        real = read_texts(some)
    halves = Halves.fit(real, options.order)
    least = float(np.quantile(np.concatenate(halves.costs(real.ids, real.texts)), RARER))
    write_attributions(_attributed(Collection(texts), halves, least), output)


def _attributed(texts: Collection, halves: Halves, least: float) -> Iterator[Attribution]:
    for some in texts.batches():
        costs = halves.costs([document.id for document in some], [document.text for document in some])
        for document, own in zip(some, costs, strict=True):
            yield Attribution(document.id, float(own.mean()), list(marks(document, own, least)))


def marks(document: Document, costs: Array, least: float) -> Iterator[tuple[Place, float, str]]:
    """Words that cost more than `least`.

    Parameters
    ----------
    costs
        Of the document's words, and of its end, in nats.
    """
    places = [
        (number, found.start(), found.end())
        for number, section in enumerate(document.sections)
        for found in _WORD.finditer(section.text)
        if found.group() not in SYMBOLS
    ]
    for place, cost in zip(places, costs[:-1].tolist(), strict=True):
        if cost > least:
            yield place, attribution_weight(cost, least), f"{cost:.1f} nats"

"""Attribution of the strings critic: surprising words, under n-gram models of real texts that exclude the text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np

from macroscope.critics.attributions import Array, Attribution, Span, attribution_weight, write_attributions
from macroscope.critics.course import CourseInputs, Follow
from macroscope.critics.features import subsample
from macroscope.critics.strings.estimators import NgramDistribution, NgramEstimator
from macroscope.critics.strings.latents import Texts, read_texts
from macroscope.critics.strings.options import StringsOptions
from macroscope.document_keys import pseudonym_of_id, pseudonym_of_key, split_key
from macroscope.documents import Collection, Document
from macroscope.errors import MacroscopeError
from macroscope.natural_language.words import locate_pieces
from macroscope.systems.ngram.model import BETWEEN_SPACES, SYMBOLS, words_of

RARER = 0.98
"""Quantile of the surprisal of real text's words above which a word is marked."""


@dataclass(frozen=True)
class Halves:
    """Models of the two halves of real text: each text is scored by the half without it and its paired text.

    Attributes
    ----------
    half_of
        Half (0 or 1) of each real text, by pseudonyms (those of a kept reference) of its id and its first words, and by
        its prompt.
    models
        Models that score texts of half 0 and of half 1; each is fitted to the other half.
    """

    half_of: dict[str, int]
    models: tuple[NgramDistribution, NgramDistribution]

    @classmethod
    def fit(cls, real: Texts, order: int) -> "Halves":
        """Fit both models to the control's texts, over one vocabulary.

        Texts of one prompt, or that begin alike, are in one half. If all do, each text counts: nothing in them tells
        pairs.
        """
        if len(real) < 2:
            raise MacroscopeError(
                "strings: the control has fewer than two texts, too few to score one by the others; give more"
            )
        keys = [_keys(name, opening) for name, opening in zip(real.ids, real.openings, strict=True)]
        half_of = _assign_halves(keys)
        if len({half_of[name] for name, *_ in keys}) < 2:
            half_of = _assign_halves([[name] for name, *_ in keys])
        texts_by_half: tuple[list[str], list[str]] = ([], [])
        for (name, *_), text in zip(keys, real.texts, strict=True):
            texts_by_half[half_of[name]].append(text)
        first, second = NgramEstimator(order).fit(*texts_by_half, seed=0)
        return cls(half_of, (second, first))

    def surprisals(self, names: Sequence[str], openings: Sequence[str], texts: Sequence[str]) -> list[Array]:
        """Return the surprisal, -log P in nats, of the words of each text, and of its end."""
        words = [words_of(text) for text in texts]
        surprisals: dict[int, Array] = {}
        halves = [self._half(*keys) for keys in zip(names, openings, texts, strict=True)]
        for half, distribution in enumerate(self.models):
            indices = [i for i, value in enumerate(halves) if value == half]
            if indices:
                logs = distribution.model.word_logs([words[i] for i in indices])
                surprisals |= {i: -value for i, value in zip(indices, logs, strict=True)}
        return [surprisals[i] for i in range(len(words))]

    def _half(self, name: str, opening: str, text: str) -> int:
        keys = [key for key in _keys(name, opening) if key in self.half_of]
        return self.half_of[keys[0]] if keys else crc32(text.encode()) % 2


def _keys(name: str, opening: str) -> list[str]:
    return [pseudonym_of_id(name), *filter(None, split_key(pseudonym_of_key(opening)))]


def _assign_halves(keys_of_texts: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return half (0 or 1) by key: texts with a key but the first one in common are in one half, others alternate."""
    half_of: dict[str, int] = {}
    for number, keys in enumerate(keys_of_texts):
        half = next((half_of[key] for key in keys[1:] if key in half_of), number % 2)
        half_of |= dict.fromkeys(keys, half)
    return half_of


def attribute(texts: Collection, control_latents: Path, *, options: StringsOptions, output: Path) -> None:
    """Attribute to each text its mean surprisal per word, marking surprising words; see `critics.attributions`.

    The models are fitted to at most `most_texts` real texts.
    """
    with subsample(control_latents, None, 0, options.most_texts) as (subset, _):
        real = read_texts(subset)
    halves = Halves.fit(real, options.order)
    threshold = float(np.quantile(np.concatenate(halves.surprisals(real.ids, real.openings, real.texts)), RARER))
    write_attributions(_attribute_texts(texts, halves, threshold), output)


def _attribute_texts(texts: Collection, halves: Halves, threshold: float) -> Iterator[Attribution]:
    for batch in texts.batches():
        keys_and_texts = zip(*((document.id, document.opening, document.text) for document in batch), strict=True)
        surprisals = halves.surprisals(*map(list, keys_and_texts))
        for document, values in zip(batch, surprisals, strict=True):
            yield Attribution(document.id, float(values.mean()), list(mark_words(document, values, threshold)))


def mark_words(document: Document, surprisals: Array, threshold: float) -> Iterator[tuple[Span, float, str]]:
    """Yield the words with a surprisal above the threshold.

    Parameters
    ----------
    surprisals
        Surprisals of the document's words, and of its end, in nats.
    """
    places = [
        (number, start, end)
        for number, section in enumerate(document.sections)
        for start, end in locate_pieces(section.text, BETWEEN_SPACES)
        if section.text[start:end] not in SYMBOLS
    ]
    for place, surprisal in zip(places, surprisals[:-1].tolist(), strict=True):
        if surprisal > threshold:
            yield place, attribution_weight(surprisal, threshold), f"{surprisal:.1f} nats"


def follow(inputs: CourseInputs) -> Follow:
    """Return the function of the surprisal of each word, in nats; see `critics.course`."""
    assert inputs.real_latents is not None
    with subsample(inputs.real_latents, None, 0, inputs.options.most_texts) as (subset, _):
        halves = Halves.fit(read_texts(subset), inputs.options.order)

    def values(documents: Iterable[Document], latents: Path) -> Iterator[Array]:
        texts = read_texts(latents)
        for surprisals in halves.surprisals(texts.ids, texts.openings, texts.texts):
            yield surprisals[np.newaxis, :-1]  # without the end of the text

    return values

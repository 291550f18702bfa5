"""Marked sentences of a system, as evidence beside its verdict.

They come from the critic whose marks separate the system best: it marks a larger share of the system's texts than of
real ones, beyond what chance would do. Without such a critic there is no evidence, because marks that real texts have
just as often show nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from macroscope.critics import get_critic
from macroscope.critics.attributions import read_attributions, read_attributions_at
from macroscope.documents import Collection, Document
from macroscope.natural_language.sentences import split_sentences
from macroscope.options import CONTROL
from macroscope.reporting.examples import Piece, cut_pieces, end_of_word, mark_counts
from macroscope.reporting.html_blocks import reader_address
from macroscope.runs.results import Results

SENTENCES = 2
LONGEST = 300
"""Maximum number of characters that are shown of a sentence, or of sentences that one mark joins."""
CONSIDERED = 20
"""Number of texts, those with the largest sum of weights, in which sentences are looked for."""
CLEAR = 2.0
"""Standard errors by which the share of marked texts exceeds that of real texts."""


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence with a critic's marks, the name of its document, and the link to it from the folder of the run."""

    pieces: list[Piece]
    name: str
    address: str


@dataclass(frozen=True)
class Evidence:
    """Sentences of a system with the marks of a critic.

    Attributes
    ----------
    critic
        Name of the critic.
    marks
        Description of what it marks.
    share, real
        Shares of the system's texts, and of real ones, that it marks.
    sentences
        Sentences of different texts, the most strongly marked first.
    """

    critic: str
    marks: str
    share: float
    real: float
    sentences: list[MarkedSentence]


def find_evidence(results: Results, corpus: str, system: str, critics: Sequence[str]) -> Evidence | None:
    """Return the evidence of a system; None without a critic that marks it more than real text.

    Parameters
    ----------
    critics
        Critics to choose from.
    """
    files = results.outputs("attributions")
    excesses: dict[str, tuple[float, float, float]] = {}
    for critic in critics:
        declared = get_critic(critic).data.attribution
        if declared is not None and declared.marks and (critic, corpus, system) in files:
            excess = _marked_shares(*(files[critic, corpus, name] for name in (system, CONTROL)))
            if excess[0] > CLEAR:
                excesses[critic] = excess
    if not excesses:
        return None
    critic = max(excesses, key=lambda name: excesses[name][0])
    attribution = get_critic(critic).data.attribution
    assert attribution is not None
    sentences = list(_find_sentences(results, corpus, system, critic))[:SENTENCES]
    return Evidence(critic, attribution.marks, *excesses[critic][1:], sentences) if sentences else None


def _marked_shares(candidate: Path, control: Path) -> tuple[float, float, float]:
    """Return the standard errors between the shares of marked texts, and both shares."""
    counts = [mark_counts(path) > 0 for path in (candidate, control)]
    share, real = (float(is_marked.mean()) if len(is_marked) else 0.0 for is_marked in counts)
    pooled = np.concatenate(counts)
    spread = float(pooled.std() * np.sqrt(sum(1 / max(1, len(is_marked)) for is_marked in counts)))
    return ((share - real) / spread if spread else 0.0), share, real


def _find_sentences(results: Results, corpus: str, system: str, critic: str) -> Iterator[MarkedSentence]:
    """Yield the most strongly marked sentence of each of the texts with the most marks, the strongest first."""
    file = results.outputs("attributions")[critic, corpus, system]
    samples = results.samples_of(corpus, system)
    weights = [(sum(mark["weight"] for mark in row["marks"]), n) for n, row in enumerate(read_attributions(file))]
    language = results.config.corpora[corpus].language
    strongest = []
    for weight, row in nlargest(CONSIDERED, weights):
        if not weight:
            break
        (document,) = Collection(samples, shard=row, size=1)
        marks = read_attributions_at(file, row)["marks"]
        if (sentence := _strongest(document, marks, language)) is not None:
            address = reader_address(corpus, system, document.id, critic, rising=False)
            strongest.append((sentence[0], -row, MarkedSentence(sentence[1], document.title or document.id, address)))
    seen = set[str]()
    for _, _, marked in sorted(strongest, key=lambda each: each[:2], reverse=True):
        text = "".join(piece.text for piece in marked.pieces)
        if text not in seen:
            seen.add(text)
            yield marked


def _strongest(document: Document, marks: Sequence[dict[str, Any]], language: str) -> tuple[float, list[Piece]] | None:
    """Return the weight and the pieces of the sentence that has most of the marks' weight; None without any."""
    best: tuple[float, list[Piece]] | None = None
    for number, section in enumerate(document.sections):
        inner = [mark for mark in marks if mark["section"] == number and mark["start"] < mark["end"]]
        if not inner:
            continue
        ends = list(accumulate(len(sentence) for sentence in split_sentences(section.text, language)))
        for start, end in zip([0, *ends], ends, strict=False):
            inside = [mark for mark in inner if start <= mark["start"] < end]
            weight = sum(mark["weight"] for mark in inside)
            if inside and (best is None or weight > best[0]):
                best = weight, _excerpt(section.text, inner, start, max(end, *(mark["end"] for mark in inside)), inside)
    return best


def _excerpt(
    text: str, marks: Sequence[dict[str, Any]], start: int, end: int, inside: Sequence[dict[str, Any]]
) -> list[Piece]:
    """Return at most `LONGEST` characters from `start` to `end`, with the first of the marks inside."""
    first = min(mark["start"] for mark in inside)
    begin = start if first - start < LONGEST / 2 else end_of_word(text, first - LONGEST // 4)
    last = end if end - begin <= LONGEST else end_of_word(text, begin + LONGEST)
    pieces = [Piece("… ", "")] if begin > start else []
    pieces += cut_pieces(text, marks, begin, last)
    return [*pieces, Piece(" …", "")] if last < end else pieces

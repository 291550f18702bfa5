"""Nucleus sampling and beam sampling of n-gram models (meister2021 §5), as of the language models."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from macroscope.arrays import mapped
from macroscope.systems.ngram.counts import MISSING, Integers
from macroscope.systems.ngram.model import NgramModel, Reals
from macroscope.systems.ngram.sampling import NgramSampler

_ROUNDING = 1e-12
"""Relative frequencies often add up to the very share that is asked for."""


def nucleus(model: NgramModel, p: float, temperature: float = 1.0) -> NgramModel:
    """Keep of every context the fewest continuations that hold a share p of the probability (eq. 15).

    Of continuations that are equally probable, those stay whose word has the lower number, as in language models.

    Parameters
    ----------
    model
        Without smoothing: what follows a context is then what followed it in the text, and nothing else.
    temperature
        Probabilities are taken to the power of 1 / temperature before.
    """
    truncated = []
    for order, (shares, level) in enumerate(zip(model.shares, model.trie.levels, strict=True), 1):
        kept = mapped(len(shares), folder=model.folder)
        for block in model.trie.blocks(order):
            kept[block] = _truncated(shares[block], level.keys[block] // model.trie.words, p, temperature)
        truncated.append(kept)
    return replace(model, shares=truncated)


def _truncated(shares: Reals, contexts: Integers, p: float, temperature: float) -> Reals:
    """Shares of what is kept of every context, 0 for all else; contexts are sorted."""
    starts = np.flatnonzero(np.diff(contexts, prepend=-1))
    sizes = np.diff(np.append(starts, len(contexts)))
    highest = np.maximum.reduceat(shares, starts)
    # Of the most probable one, whose power is 1: at low temperatures the powers of all others may be 0.
    weights = (shares / np.repeat(np.where(highest > 0, highest, 1.0), sizes)) ** (1 / temperature)
    totals = np.add.reduceat(weights, starts)
    shares = weights / np.repeat(np.where(totals > 0, totals, 1.0), sizes)
    order = np.lexsort((-shares, contexts))
    ordered = shares[order]
    before = np.empty(len(ordered))
    for start, size in zip(
        starts.tolist(), sizes.tolist(), strict=True
    ):  # each sum begins anew: no rounding is carried
        np.cumsum(ordered[start : start + size], out=before[start : start + size])
    kept = np.empty(len(ordered))
    kept[order] = np.where(before - ordered < p - _ROUNDING, ordered, 0.0)
    return kept / np.repeat(np.maximum(np.add.reduceat(kept, starts), np.finfo(float).tiny), sizes)


@dataclass
class _Beams:
    """At most k sequences of each draw, the most probable first.

    Attributes
    ----------
    draws
        Number of each draw that is still going.
    logs
        draws x k: log-probabilities; -inf where there are fewer sequences.
    ended
        draws x k.
    histories
        draws x k x (order - 1).
    """

    draws: Integers
    logs: Reals
    ended: NDArray[np.bool_]
    histories: Integers

    def __getitem__(self, some: NDArray[np.bool_]) -> "_Beams":
        return _Beams(self.draws[some], self.logs[some], self.ended[some], self.histories[some])


class NgramBeamSampler:
    """Draws texts by beam sampling; `language_model.beam_sampler` says how, and which sequence is the text.

    Parameters
    ----------
    model, end, max_words
        As for `NgramSampler`.
    beams
        k.
    """

    def __init__(self, model: NgramModel, end: int, max_words: int, beams: int) -> None:
        self.model, self.end, self.max_words, self.k = model, end, max_words, beams
        self._sampler = NgramSampler(model, end, max_words)

    def draw(self, count: int, rng: np.random.Generator) -> list[Integers]:
        """Return the words of `count` texts; one that was cut does not end with the word that ends a text."""
        before = self.model.trie.order - 1
        histories = np.full((count, self.k, before), MISSING, dtype=np.int64)
        if before:
            histories[..., -1] = self.model.trie.beginning
        logs = np.full((count, self.k), -np.inf)
        logs[:, 0] = 0.0
        beams = _Beams(np.arange(count), logs, np.zeros((count, self.k), dtype=bool), histories)
        steps: list[tuple[Integers, Integers, Integers]] = []  # of each step: draws, parents, words
        texts: list[Integers] = [np.empty(0, dtype=np.int64)] * count
        while len(beams.draws):
            beams, parents, words = self._extend(beams, rng)
            steps.append((beams.draws, parents, words))
            # Of the most probable sequences one that has ended is the text: nothing can overtake it.
            top = np.where(beams.ended & (beams.logs == beams.logs[:, :1]), 1, 0)
            best = top.argmax(axis=1)
            done = top.any(axis=1) | np.full(len(top), len(steps) == self.max_words)
            for row in np.flatnonzero(done):
                texts[beams.draws[row]] = _followed_back(steps, int(beams.draws[row]), int(best[row]))
            beams = beams[~done]
        return texts

    def _extend(self, beams: _Beams, rng: np.random.Generator) -> tuple[_Beams, Integers, Integers]:
        """Extend every sequence by k words, and keep the k most probable of all; also their parents and words."""
        draws, k = beams.logs.shape
        live = ~beams.ended & np.isfinite(beams.logs)
        histories = np.repeat(beams.histories[live], k, axis=0)
        drawn = self._sampler.next_words(histories, rng)
        with np.errstate(divide="ignore"):
            found = np.log(self.model.probabilities(histories, drawn))
        words = np.full((draws, k, k), MISSING, dtype=np.int64)
        logs = np.full((draws, k, k), -np.inf)
        words[live], logs[live] = drawn.reshape(-1, k), found.reshape(-1, k) + beams.logs[live][:, None]
        same = words[..., :, None] == words[..., None, :]
        logs[np.tril(same, -1).any(axis=-1)] = -np.inf  # equal sequences count once
        # Those that had ended come first, and stay first among equals.
        stay = np.where(beams.ended, beams.logs, -np.inf)
        every_log = np.concatenate([stay, logs.reshape(draws, -1)], axis=1)
        every_word = np.concatenate([np.full((draws, k), MISSING), words.reshape(draws, -1)], axis=1)
        every_parent = np.concatenate([np.arange(k), np.repeat(np.arange(k), k)])
        kept = np.argsort(-every_log, axis=1, kind="stable")[:, :k]
        word, parent = np.take_along_axis(every_word, kept, axis=1), every_parent[kept]
        after = np.take_along_axis(beams.histories, parent[..., None], axis=1)
        after = np.concatenate([after, word[..., None]], axis=2)[..., 1:] if after.shape[2] else after
        ended = (word == self.end) | np.take_along_axis(beams.ended, parent, axis=1)
        return _Beams(beams.draws, np.take_along_axis(every_log, kept, axis=1), ended, after), parent, word


def _followed_back(steps: list[tuple[Integers, Integers, Integers]], draw: int, place: int) -> Integers:
    """Words of the sequence that stands at a place of a draw's beam after the last step."""
    found = []
    for draws, parents, words in reversed(steps):
        row = int(np.searchsorted(draws, draw))
        if words[row, place] != MISSING:
            found.append(words[row, place])
        place = int(parents[row, place])
    return np.array(found[::-1], dtype=np.int64)

"""Nucleus sampling and beam sampling of n-gram models (meister2021 §5), as for language models."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from macroscope.arrays import mapped
from macroscope.systems.ngram.counts import MISSING, Integers
from macroscope.systems.ngram.model import NgramModel, Reals
from macroscope.systems.ngram.sampling import NgramSampler

_ROUNDING = 1e-12
"""Tolerance of sums, because relative frequencies often add up to exactly the share of the nucleus."""


def truncate_to_nucleus(model: NgramModel, p: float, temperature: float = 1.0) -> NgramModel:
    """Truncate every context to the fewest continuations whose total probability is at least p (eq. 15).

    Among equally probable continuations, those with lower word numbers are kept, as in language models.

    Parameters
    ----------
    model
        Model without smoothing, so that the continuations of a context are those in the text only.
    temperature
        Temperature; probabilities are first raised to the power 1 / temperature.
    """
    kept_shares = []
    for order, (shares, level) in enumerate(zip(model.shares, model.trie.levels, strict=True), 1):
        kept = mapped(len(shares), folder=model.folder)
        for block in model.trie.blocks(order):
            kept[block] = _truncate_shares(shares[block], level.keys[block] // model.trie.words, p, temperature)
        kept_shares.append(kept)
    return replace(model, shares=kept_shares)


def _truncate_shares(shares: Reals, contexts: Integers, p: float, temperature: float) -> Reals:
    """Return the renormalised shares of the kept continuations of every context, 0 for others; contexts are sorted."""
    starts = np.flatnonzero(np.diff(contexts, prepend=-1))
    sizes = np.diff(np.append(starts, len(contexts)))
    highest = np.maximum.reduceat(shares, starts)
    # Relative to the most probable one, whose power is 1: at low temperatures all powers may underflow otherwise.
    weights = (shares / np.repeat(np.where(highest > 0, highest, 1.0), sizes)) ** (1 / temperature)
    totals = np.add.reduceat(weights, starts)
    shares = weights / np.repeat(np.where(totals > 0, totals, 1.0), sizes)
    order = np.lexsort((-shares, contexts))
    ordered = shares[order]
    before = np.empty(len(ordered))
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        # One sum per context, so that rounding does not carry over.
        np.cumsum(ordered[start : start + size], out=before[start : start + size])
    kept = np.empty(len(ordered))
    kept[order] = np.where(before - ordered < p - _ROUNDING, ordered, 0.0)
    return kept / np.repeat(np.maximum(np.add.reduceat(kept, starts), np.finfo(float).tiny), sizes)


@dataclass
class _Beams:
    """At most k sequences for each unfinished text, the most probable first.

    Attributes
    ----------
    texts
        Number of each unfinished text.
    logs
        Log-probabilities: texts x k; -inf if there are fewer sequences.
    ended
        Whether each sequence has ended: texts x k.
    histories
        Last words of each sequence: texts x k x (order - 1).
    """

    texts: Integers
    logs: Reals
    ended: NDArray[np.bool_]
    histories: Integers

    def __getitem__(self, mask: NDArray[np.bool_]) -> "_Beams":
        return _Beams(self.texts[mask], self.logs[mask], self.ended[mask], self.histories[mask])


class NgramBeamSampler:
    """Sampler of texts by beam sampling, with the rules of `language_model.beam_sampler`.

    Parameters
    ----------
    model, end, max_words
        Arguments of `NgramSampler`.
    beams
        k, the number of sequences of a beam.
    """

    def __init__(self, model: NgramModel, end: int, max_words: int, beams: int) -> None:
        self.model, self.end, self.max_words, self.k = model, end, max_words, beams
        self._sampler = NgramSampler(model, end, max_words)

    def generate(self, count: int, rng: np.random.Generator) -> list[Integers]:
        """Generate the words of `count` texts; a text that was cut does not end with the end word."""
        before = self.model.trie.order - 1
        histories = np.full((count, self.k, before), MISSING, dtype=np.int64)
        if before:
            histories[..., -1] = self.model.trie.beginning
        logs = np.full((count, self.k), -np.inf)
        logs[:, 0] = 0.0
        beams = _Beams(np.arange(count), logs, np.zeros((count, self.k), dtype=bool), histories)
        steps: list[tuple[Integers, Integers, Integers]] = []  # for each step: texts, parents, words
        texts: list[Integers] = [np.empty(0, dtype=np.int64)] * count
        while len(beams.texts):
            beams, parents, words = self._extend(beams, rng)
            steps.append((beams.texts, parents, words))
            # If a most probable sequence has ended, it is the text, because no other one can overtake it.
            top = np.where(beams.ended & (beams.logs == beams.logs[:, :1]), 1, 0)
            best = top.argmax(axis=1)
            done = top.any(axis=1) | np.full(len(top), len(steps) == self.max_words)
            for row in np.flatnonzero(done):
                texts[beams.texts[row]] = _trace_back(steps, int(beams.texts[row]), int(best[row]))
            beams = beams[~done]
        return texts

    def _extend(self, beams: _Beams, rng: np.random.Generator) -> tuple[_Beams, Integers, Integers]:
        """Extend every sequence by k words and keep the k most probable; also return their parents and words."""
        texts, k = beams.logs.shape
        live = ~beams.ended & np.isfinite(beams.logs)
        histories = np.repeat(beams.histories[live], k, axis=0)
        sampled = self._sampler.next_words(histories, rng)
        with np.errstate(divide="ignore"):
            sampled_logs = np.log(self.model.probabilities(histories, sampled))
        words = np.full((texts, k, k), MISSING, dtype=np.int64)
        logs = np.full((texts, k, k), -np.inf)
        words[live], logs[live] = sampled.reshape(-1, k), sampled_logs.reshape(-1, k) + beams.logs[live][:, None]
        same = words[..., :, None] == words[..., None, :]
        logs[np.tril(same, -1).any(axis=-1)] = -np.inf  # equal sequences count once
        # Sequences that had ended come first, and stay first among equals.
        ended_logs = np.where(beams.ended, beams.logs, -np.inf)
        every_log = np.concatenate([ended_logs, logs.reshape(texts, -1)], axis=1)
        every_word = np.concatenate([np.full((texts, k), MISSING), words.reshape(texts, -1)], axis=1)
        every_parent = np.concatenate([np.arange(k), np.repeat(np.arange(k), k)])
        kept = np.argsort(-every_log, axis=1, kind="stable")[:, :k]
        word, parent = np.take_along_axis(every_word, kept, axis=1), every_parent[kept]
        following = np.take_along_axis(beams.histories, parent[..., None], axis=1)
        following = np.concatenate([following, word[..., None]], axis=2)[..., 1:] if following.shape[2] else following
        ended = (word == self.end) | np.take_along_axis(beams.ended, parent, axis=1)
        return _Beams(beams.texts, np.take_along_axis(every_log, kept, axis=1), ended, following), parent, word


def _trace_back(steps: list[tuple[Integers, Integers, Integers]], text: int, place: int) -> Integers:
    """Return the words of the sequence at a place of a text's beam after the last step."""
    reversed_words = []
    for texts, parents, words in reversed(steps):
        row = int(np.searchsorted(texts, text))
        if words[row, place] != MISSING:
            reversed_words.append(words[row, place])
        place = int(parents[row, place])
    return np.array(reversed_words[::-1], dtype=np.int64)

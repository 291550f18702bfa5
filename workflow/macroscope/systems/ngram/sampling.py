"""Ancestral sampling of texts from an n-gram model, many at a time."""

from pathlib import Path

import numpy as np

from macroscope.arrays import mapped
from macroscope.systems.ngram.counts import BLOCK, MISSING, Integers
from macroscope.systems.ngram.model import NgramModel, Reals


class NgramSampler:
    """Sampler of texts from an n-gram model.

    Parameters
    ----------
    model
        Model, estimated without a share for unknown words.
    end
        Number of the end word.
    max_words
        Longest text in words, including the end; longer texts are cut.
    """

    def __init__(self, model: NgramModel, end: int, max_words: int) -> None:
        self.model, self.end, self.max_words = model, end, max_words
        self._up_to = [_running_sum(shares, model.folder) for shares in model.shares]
        self._with_share = [_last_above_zero(shares, model.folder) for shares in model.shares]

    def generate(self, count: int, rng: np.random.Generator) -> list[Integers]:
        """Generate the words of `count` texts; a text that was cut does not end with the end word."""
        before = self.model.trie.order - 1
        history = np.full((count, before), MISSING, dtype=np.int64)
        if before:
            history[:, -1] = self.model.trie.beginning
        steps: list[Integers] = []
        unfinished = np.arange(count)
        for _ in range(self.max_words):
            words = np.full(count, MISSING, dtype=np.int64)
            words[unfinished] = self.next_words(history[unfinished], rng)
            steps.append(words)
            if before:
                history[unfinished] = np.column_stack([history[unfinished, 1:], words[unfinished]])
            unfinished = unfinished[words[unfinished] != self.end]
            if not len(unfinished):
                break
        table = np.column_stack(steps)
        return [row[row != MISSING] for row in table]

    def next_words(self, history: Integers, rng: np.random.Generator) -> Integers:
        """Draw a word after each history, from the longest context or, with probability g, from the next shorter."""
        words = np.full(len(history), MISSING, dtype=np.int64)
        open_rows = np.arange(len(history))
        for length in range(self.model.trie.order - 1, -1, -1):
            contexts = self.model.trie.find(history[open_rows, history.shape[1] - length :])
            uniforms = rng.random(len(open_rows))
            is_drawn = (contexts != MISSING) & (uniforms < 1 - self.model.left[length][contexts])
            rows = open_rows[is_drawn]
            words[rows] = self._continuation(length, contexts[is_drawn], uniforms[is_drawn])
            open_rows = open_rows[~is_drawn]
            if not len(open_rows):
                return words
        words[open_rows] = self._any_word(len(open_rows), rng)
        return words

    def _continuation(self, length: int, contexts: Integers, uniforms: np.ndarray) -> Integers:
        """Draw from d(h w) / c(h), given numbers that are uniform below the sum of these shares."""
        first, end = self.model.trie.children(length, contexts)
        up_to = self._up_to[length]
        below = np.where(first > 0, up_to[first - 1], 0.0)
        places = np.searchsorted(up_to, below + uniforms, side="right")
        # Rounding may lead past the last continuation, or to one whose share is 0.
        places = self._with_share[length][np.clip(places, first, end - 1)]
        return self.model.trie.levels[length].keys[places] % self.model.trie.words

    def _any_word(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw from the uniform distribution below all orders, over all words except the beginning."""
        words = rng.integers(0, self.model.trie.words - 1, count)
        return words + (words >= self.model.trie.beginning)


def _running_sum(shares: Reals, folder: Path | None) -> Reals:
    """Compute the cumulative sum of shares, block by block."""
    sums, total = mapped(len(shares), folder=folder), 0.0
    for start in range(0, len(shares), BLOCK):
        block = np.array(shares[start : start + BLOCK])
        block[0] += total
        sums[start : start + BLOCK] = np.cumsum(block)
        total = float(sums[min(start + BLOCK, len(sums)) - 1])
    return sums


def _last_above_zero(shares: Reals, folder: Path | None) -> Integers:
    """Return, for each position, the last position up to it whose share is above 0; 0 if there is none."""
    last, previous = mapped(len(shares), np.int64, folder), 0
    for start in range(0, len(shares), BLOCK):
        block = shares[start : start + BLOCK]
        places = np.where(block > 0, np.arange(start, start + len(block)), previous)
        last[start : start + BLOCK] = np.maximum.accumulate(places)
        previous = int(last[start + len(block) - 1])
    return last

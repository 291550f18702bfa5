"""Texts drawn from an n-gram model, many at a time."""

from pathlib import Path

import numpy as np

from macroscope.arrays import mapped
from macroscope.systems.ngram.counts import BLOCK, MISSING, Integers
from macroscope.systems.ngram.model import NgramModel, Reals


class NgramSampler:
    """Draws texts from an n-gram model.

    Parameters
    ----------
    model
        Estimated without a share for unknown words.
    end
        Number of the word that ends a text.
    max_words
        A text that has not ended by then is cut.
    """

    def __init__(self, model: NgramModel, end: int, max_words: int) -> None:
        self.model, self.end, self.max_words = model, end, max_words
        self._up_to = [_running_sum(shares, model.folder) for shares in model.shares]
        self._with_share = [_last_above_zero(shares, model.folder) for shares in model.shares]

    def draw(self, count: int, rng: np.random.Generator) -> list[Integers]:
        """Return the words of `count` texts; one that was cut does not end with the word that ends a text."""
        before = self.model.trie.order - 1
        history = np.full((count, before), MISSING, dtype=np.int64)
        if before:
            history[:, -1] = self.model.trie.beginning
        steps: list[Integers] = []
        going = np.arange(count)
        for _ in range(self.max_words):
            words = np.full(count, MISSING, dtype=np.int64)
            words[going] = self.next_words(history[going], rng)
            steps.append(words)
            if before:
                history[going] = np.column_stack([history[going, 1:], words[going]])
            going = going[words[going] != self.end]
            if not len(going):
                break
        table = np.column_stack(steps)
        return [row[row != MISSING] for row in table]

    def next_words(self, history: Integers, rng: np.random.Generator) -> Integers:
        """Draw a word after each history: from the longest context, or with what it leaves from the next shorter."""
        words = np.full(len(history), MISSING, dtype=np.int64)
        open_rows = np.arange(len(history))
        for length in range(self.model.trie.order - 1, -1, -1):
            contexts = self.model.trie.find(history[open_rows, history.shape[1] - length :])
            known = contexts != MISSING
            uniforms = rng.random(len(open_rows))
            here = known & (uniforms < 1 - self.model.left[length][contexts])
            rows = open_rows[here]
            words[rows] = self._continuation(length, contexts[here], uniforms[here])
            open_rows = open_rows[~here]
            if not len(open_rows):
                return words
        words[open_rows] = self._any_word(len(open_rows), rng)
        return words

    def _continuation(self, length: int, contexts: Integers, uniforms: np.ndarray) -> Integers:
        """Draw from d(h w) / c(h), given numbers that are uniform below its sum."""
        first, end = self.model.trie.children(length, contexts)
        up_to = self._up_to[length]
        below = np.where(first > 0, up_to[first - 1], 0.0)
        places = np.searchsorted(up_to, below + uniforms, side="right")
        # Rounding may lead past the last continuation, or to one without a share.
        places = self._with_share[length][np.clip(places, first, end - 1)]
        return self.model.trie.levels[length].keys[places] % self.model.trie.words

    def _any_word(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw from the uniform distribution beneath all orders: any word but the beginning."""
        drawn = rng.integers(0, self.model.trie.words - 1, count)
        return drawn + (drawn >= self.model.trie.beginning)


def _running_sum(shares: Reals, folder: Path | None) -> Reals:
    """Sum of all shares up to each, itself included."""
    found, before = mapped(len(shares), folder=folder), 0.0
    for start in range(0, len(shares), BLOCK):
        block = np.array(shares[start : start + BLOCK])
        block[0] += before
        found[start : start + BLOCK] = np.cumsum(block)
        before = float(found[min(start + BLOCK, len(found)) - 1])
    return found


def _last_above_zero(shares: Reals, folder: Path | None) -> Integers:
    """Place of the last share above 0 up to each, itself included; 0 where there is none."""
    found, before = mapped(len(shares), np.int64, folder), 0
    for start in range(0, len(shares), BLOCK):
        block = shares[start : start + BLOCK]
        places = np.where(block > 0, np.arange(start, start + len(block)), before)
        found[start : start + BLOCK] = np.maximum.accumulate(places)
        before = int(found[start + len(block) - 1])
    return found

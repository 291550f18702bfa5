"""Generation of a system of kind `ngram`: documents from an n-gram model of the train split."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from macroscope.arrays import mapped
from macroscope.documents import Provenance
from macroscope.files import scratch_folder
from macroscope.systems.language_model.options import BeamSampling, Nucleus
from macroscope.systems.ngram import NgramSystem
from macroscope.systems.ngram.counts import BLOCK, MISSING, Integers
from macroscope.systems.ngram.model import NgramModel, Reals, estimate
from macroscope.systems.ngram.training import END, NgramCounts
from macroscope.systems.rejection_sampling import SamplingTask, write_texts

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


Sampler = NgramSampler | NgramBeamSampler


def sample_ngram(model: Path, output: Path, options: NgramSystem, *, corpus: str, system: str, seed: int) -> None:
    """Estimate the model from the counts and generate the samples.

    Parameters
    ----------
    model
        Folder written by `training.count_train_split`.
    seed
        Seed of the run; the system's own seed is added.
    """
    seed += options.seed
    counts = NgramCounts.read(model)
    with scratch_folder(output) as folder:
        estimated = estimate(counts.trie, options.smoothing, unknown=False, folder=folder)
        sampler = _make_sampler(estimated, options)
        source = {
            "system": system,
            "order": options.order,
            "smoothing": options.smoothing,
            "titles": options.titles,
            "decoding": options.decoding.model_dump(mode="json"),
            "seed": seed,
            "vocabulary": len(counts.words) - 2,
            "orders_with_fallback_discounts": list(estimated.fallback_orders),
        }
        provenance = Provenance(corpus, source, options.model_dump(mode="json"))
        advice = "raise the order, give more training text, or set titles: false"
        task = SamplingTask(system, range(options.samples), options.titles, f"{options.max_tokens} tokens", advice)
        write_texts(output, partial(_generate, sampler, counts.words), task, provenance, seed)


def _make_sampler(model: NgramModel, options: NgramSystem) -> Sampler:
    """Return the sampler for the decoding rule of the options."""
    rule = options.decoding
    if isinstance(rule, BeamSampling):
        return NgramBeamSampler(model, END, options.max_tokens, rule.beams)
    if isinstance(rule, Nucleus):
        model = truncate_to_nucleus(model, rule.p, rule.temperature)
    return NgramSampler(model, END, options.max_tokens)


def _generate(
    sampler: Sampler, words: list[str], count: int, rng: np.random.Generator
) -> Iterator[tuple[list[str], bool]]:
    for numbers in sampler.generate(count, rng):
        cut = bool(numbers[-1] != END)
        yield [words[number] for number in (numbers if cut else numbers[:-1])], cut

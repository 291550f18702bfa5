"""Sampling of texts from a hidden semi-Markov model: first states and lengths, then all n-grams of a state together."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.documents import Provenance
from macroscope.systems.hsmm import HsmmSystem
from macroscope.systems.hsmm.model import Hsmm
from macroscope.systems.hsmm.ngrams import Integers, Ngrams
from macroscope.systems.rejection_sampling import SamplingTask, write_texts

Floats = NDArray[np.float64]


@dataclass
class HsmmSampler:
    """Sampler of texts from a hidden semi-Markov model.

    Parameters
    ----------
    model, ngrams
        Fitted model and its n-grams.
    segments
        Number of segments of every text; None: until the model ends it.
    max_tokens
        Longest text in tokens; longer texts are cut.
    """

    model: Hsmm
    ngrams: Ngrams
    segments: int | None
    max_tokens: int

    def generate(self, count: int, rng: np.random.Generator) -> list[tuple[list[str], bool]]:
        """Generate the words of `count` texts, and whether each was cut off before its end."""
        texts, states, lengths, cut = self._segments(count, rng)
        rows = self._rows(states, lengths, rng)
        generated: list[list[str]] = [[] for _ in range(count)]
        for text, row in zip(texts.tolist(), rows.tolist(), strict=True):
            generated[text] += self.ngrams.text(row)
        return [(words[: self.max_tokens], bool(is_cut)) for words, is_cut in zip(generated, cut, strict=True)]

    def _segments(self, count: int, rng: np.random.Generator) -> tuple[Integers, Integers, Integers, NDArray[np.bool_]]:
        """Sample the text, state and length of every segment, in order; also return which texts were cut."""
        states = self.model.states
        next_states = _cumulative(self.model.transition if self.segments is None else self.model.transition[:, :states])
        by_length = _cumulative(self.model.length.T)
        unfinished, state = np.arange(count), _choose(_cumulative(self.model.initial[None])[np.zeros(count, int)], rng)
        tokens, cut, steps = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool), []
        while len(unfinished):
            length = 1 + _choose(by_length[state], rng)
            steps.append((unfinished, state, length))
            tokens[unfinished] += length
            next_state = _choose(next_states[state], rng)
            ended = (
                next_state == states if self.segments is None else np.full(len(unfinished), len(steps) == self.segments)
            )
            cut[unfinished] = (tokens[unfinished] > self.max_tokens) | (
                ~ended & (tokens[unfinished] == self.max_tokens)
            )
            goes_on = ~ended & ~cut[unfinished]
            unfinished, state = unfinished[goes_on], next_state[goes_on]
        return *(np.concatenate(parts) for parts in zip(*steps, strict=True)), cut  # type: ignore[return-value]

    def _rows(self, states: Integers, lengths: Integers, rng: np.random.Generator) -> Integers:
        """Sample the n-gram of each segment; the unknown word is never sampled."""
        rows, uniforms = np.empty(len(states), dtype=np.int64), rng.random(len(states))
        order = np.lexsort((states, lengths))
        keys = np.column_stack([lengths, states])[order]
        groups = np.split(order, 1 + np.flatnonzero(np.any(keys[1:] != keys[:-1], axis=1)))
        for group in groups:
            length, state = int(lengths[group[0]]), int(states[group[0]])
            shares = torch.softmax(self.model.emission[length - 1][:, state].detach().double(), dim=0).numpy().copy()
            if length == 1:
                shares[0] = 0
            up_to = np.cumsum(shares)
            places = np.searchsorted(up_to, uniforms[group] * up_to[-1], side="right")
            rows[group] = self.ngrams.offsets[length - 1] + np.minimum(places, np.flatnonzero(shares)[-1])
        return rows


def sample_hsmm(model: Path, output: Path, options: HsmmSystem, *, corpus: str, system: str, seed: int) -> None:
    """Generate the samples of a system.

    Parameters
    ----------
    model
        Folder of the fitted model.
    seed
        Seed of the run; the system's own seed is added.
    """
    seed += options.seed
    fitted, ngrams = Hsmm.load(model)
    sampler = HsmmSampler(fitted, ngrams, options.segments, options.max_tokens)
    longest, advice = f"{options.max_tokens} tokens", "give the corpus more documents, or fit longer"
    task = SamplingTask(system, range(options.samples), False, longest, advice)
    source = {"system": system, "segments": options.segments, "seed": seed, "ngrams": len(ngrams)}
    provenance = Provenance(corpus, source, options.model_dump(mode="json"))
    write_texts(output, sampler.generate, task, provenance, seed)


def _cumulative(logits: torch.Tensor) -> Floats:
    """Compute the cumulative probabilities of each row."""
    return np.cumsum(torch.softmax(logits.detach().double(), dim=1).numpy(), axis=1)


def _choose(cumulative: Floats, rng: np.random.Generator) -> Integers:
    """Draw one outcome per row."""
    uniforms = rng.random(len(cumulative)) * cumulative[:, -1]
    return np.asarray((cumulative <= uniforms[:, None]).sum(axis=1), dtype=np.int64)

"""Texts drawn from a hidden semi-Markov model: first their states and lengths, then all n-grams of a state together."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from macroscope.documents import Provenance, write_documents
from macroscope.systems.hsmm.model import Hsmm
from macroscope.systems.hsmm.ngrams import Integers, Ngrams
from macroscope.systems.hsmm.options import HsmmSystem
from macroscope.systems.rejection_sampling import Wanted, sampled_documents

Floats = NDArray[np.float64]


@dataclass
class HsmmSampler:
    """Draws texts.

    Parameters
    ----------
    model, ngrams
        What was fitted.
    segments
        Of every text; None: until the model ends it.
    max_tokens
        A text that has not ended by then is cut.
    """

    model: Hsmm
    ngrams: Ngrams
    segments: int | None
    max_tokens: int

    def draw(self, count: int, rng: np.random.Generator) -> list[tuple[list[str], bool]]:
        """Words of `count` texts, and whether each was cut off before its end."""
        texts, states, lengths, cut = self._segments(count, rng)
        rows = self._rows(states, lengths, rng)
        found: list[list[str]] = [[] for _ in range(count)]
        for text, row in zip(texts.tolist(), rows.tolist(), strict=True):
            found[text] += self.ngrams.text(row)
        return [(words[: self.max_tokens], bool(some)) for words, some in zip(found, cut, strict=True)]

    def _segments(self, count: int, rng: np.random.Generator) -> tuple[Integers, Integers, Integers, NDArray[np.bool_]]:
        """Text, state and length of every segment, in order; and which texts were cut."""
        states = self.model.states
        onwards = _cumulative(self.model.transition if self.segments is None else self.model.transition[:, :states])
        by_length = _cumulative(self.model.length.T)
        going, state = np.arange(count), _choose(_cumulative(self.model.initial[None])[np.zeros(count, int)], rng)
        written, cut, steps = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool), []
        while len(going):
            length = 1 + _choose(by_length[state], rng)
            steps.append((going, state, length))
            written[going] += length
            following = _choose(onwards[state], rng)
            ended = following == states if self.segments is None else np.full(len(going), len(steps) == self.segments)
            cut[going] = (written[going] > self.max_tokens) | (~ended & (written[going] == self.max_tokens))
            on = ~ended & ~cut[going]
            going, state = going[on], following[on]
        return *(np.concatenate(some) for some in zip(*steps, strict=True)), cut  # type: ignore[return-value]

    def _rows(self, states: Integers, lengths: Integers, rng: np.random.Generator) -> Integers:
        """N-gram of each segment; the unknown word is never drawn."""
        rows, uniforms = np.empty(len(states), dtype=np.int64), rng.random(len(states))
        order = np.lexsort((states, lengths))
        keys = np.column_stack([lengths, states])[order]
        groups = np.split(order, 1 + np.flatnonzero(np.any(keys[1:] != keys[:-1], axis=1)))
        for some in groups:
            length, state = int(lengths[some[0]]), int(states[some[0]])
            shares = torch.softmax(self.model.emission[length - 1][:, state].detach().double(), dim=0).numpy().copy()
            if length == 1:
                shares[0] = 0
            up_to = np.cumsum(shares)
            places = np.searchsorted(up_to, uniforms[some] * up_to[-1], side="right")
            rows[some] = self.ngrams.offsets[length - 1] + np.minimum(places, np.flatnonzero(shares)[-1])
        return rows


def _cumulative(logits: torch.Tensor) -> Floats:
    """Cumulative probabilities of each row."""
    return np.cumsum(torch.softmax(logits.detach().double(), dim=1).numpy(), axis=1)


def _choose(cumulative: Floats, rng: np.random.Generator) -> Integers:
    """One outcome of each row."""
    uniforms = rng.random(len(cumulative)) * cumulative[:, -1]
    return np.asarray((cumulative <= uniforms[:, None]).sum(axis=1), dtype=np.int64)


def sample_hsmm(model: Path, output: Path, options: HsmmSystem, *, corpus: str, system: str, seed: int) -> None:
    """Draw the samples.

    Parameters
    ----------
    model
        Folder of the fitted model.
    seed
        Seed of the run; the system's own is added.
    """
    seed += options.seed
    fitted, ngrams = Hsmm.load(model)
    sampler = HsmmSampler(fitted, ngrams, options.segments, options.max_tokens)
    wanted = Wanted(system, options.samples, False, options.max_tokens, "give the corpus more documents, or fit longer")
    source = {"system": system, "segments": options.segments, "seed": seed, "ngrams": len(ngrams)}
    provenance = Provenance(corpus, source, options.model_dump(mode="json"))
    write_documents(output, sampled_documents(sampler.draw, wanted, provenance, seed), provenance)

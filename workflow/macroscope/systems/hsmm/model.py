"""A hidden semi-Markov language model over n-grams (deng2022 Appendix D): its exact perplexity, and texts from it.

A text is sampled as states and lengths first, then as all n-grams of a state together.
"""

import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors.torch import load_model, save_model
from torch import nn

from macroscope.documents import Provenance, read_documents
from macroscope.files import atomic, read_json, write_json
from macroscope.systems.formats import read_training_texts
from macroscope.systems.hsmm import HsmmSystem
from macroscope.systems.hsmm.marginal import Batch, LogProbabilities, log_marginal
from macroscope.systems.hsmm.ngrams import Integers, Ngrams, Texts, collate, read_split_words
from macroscope.systems.rejection_sampling import SamplingTask, write_texts

LONG = 1000
"""Largest number of tokens of a text for single precision, in which rounding of the whole text's sum is too large."""


@dataclass(frozen=True)
class Size:
    """Sizes of a model, sufficient to create it.

    Attributes
    ----------
    states
        Number of hidden states.
    ngrams
        Number of n-grams of each length, from one token.
    ends
        Whether the model has a probability of ending a text after each segment. Otherwise, as published, P(x) is
        conditional on the length of the text.
    """

    states: int
    ngrams: tuple[int, ...]
    ends: bool


class Hsmm(nn.Module):
    """A hidden semi-Markov model as the logits of all distributions, Xavier-initialised.

    Attributes
    ----------
    initial
        First state: states.
    transition
        Next state, and the end if the model has ends: states x states [+ 1].
    length
        Length of a segment: longest x states.
    emission
        For each length, n-grams of that length: n-grams x states.
    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        shapes = [(size.states, size.states + size.ends), (len(size.ngrams), size.states)]
        self.initial = nn.Parameter(torch.zeros(size.states))
        self.transition, self.length = (nn.Parameter(_xavier(*shape)) for shape in shapes)
        self.emission = nn.ParameterList(_xavier(number, size.states) for number in size.ngrams)

    @property
    def states(self) -> int:
        """Return the number of hidden states."""
        return self.size.states

    def normalisers(self) -> list[torch.Tensor]:
        """Compute, for each length, the logsumexp of its emissions: states."""
        return [torch.logsumexp(logits, dim=0) for logits in self.emission]

    def log_probabilities(self, rows: torch.Tensor, normalisers: list[torch.Tensor]) -> LogProbabilities:
        """Compute all distributions, with emissions of the given rows only (sorted, without duplicates)."""
        transition = torch.log_softmax(self.transition, dim=1)
        onwards, end = transition, torch.zeros_like(self.initial)
        if self.size.ends:
            onwards, end = transition[:, :-1], transition[:, -1]
        return LogProbabilities(
            torch.log_softmax(self.initial, dim=0),
            onwards,
            end,
            torch.log_softmax(self.length, dim=0),
            self._emissions(rows, normalisers),
        )

    def forward(self, rows: torch.Tensor, sizes: torch.Tensor, return_loss: bool = True) -> dict[str, torch.Tensor]:
        """Compute the mean negative log-likelihood per token (`loss`) and that of each text (`nll`), in nats.

        Parameters
        ----------
        rows
            Row of each n-gram, or -1 if there is none: texts x tokens x longest.
        sizes
            Number of tokens of each text.
        return_loss
            Signal to the Trainer that there is a loss without labels; not used here.
        """
        log_marginals = log_marginal(*self.batch(rows, sizes, self.normalisers()))
        return {"loss": -log_marginals.sum() / sizes.sum(), "nll": -log_marginals}

    def batch(
        self, rows: torch.Tensor, sizes: torch.Tensor, normalisers: list[torch.Tensor]
    ) -> tuple[LogProbabilities, Batch]:
        """Return the model restricted to the n-grams of some texts, and the texts with n-grams numbered accordingly."""
        occurring = torch.unique(rows)
        occurring = occurring[occurring >= 0]
        places = torch.searchsorted(occurring, rows.clamp(min=0).contiguous())
        model = self.log_probabilities(occurring, normalisers)
        if rows.shape[1] > LONG:
            model = LogProbabilities(*(table.double() for table in model))
        return model, Batch(places.masked_fill(rows < 0, -1), sizes)

    def _emissions(self, rows: torch.Tensor, normalisers: list[torch.Tensor]) -> torch.Tensor:
        emissions, first = [], 0
        for logits, normaliser in zip(self.emission, normalisers, strict=True):
            indices = rows[(rows >= first) & (rows < first + len(logits))] - first
            emissions.append(logits[indices] - normaliser)
            first += len(logits)
        return torch.cat(emissions)

    def save(self, folder: Path, ngrams: Ngrams) -> None:
        """Write model.safetensors, size.json, words.json and ngrams.npz into a folder."""
        save_model(self.cpu(), str(folder / "model.safetensors"))
        write_json(folder / "size.json", asdict(self.size))
        ngrams.save(folder)

    @classmethod
    def load(cls, folder: Path) -> tuple["Hsmm", Ngrams]:
        """Load the model and the n-grams that `save` wrote."""
        raw: dict[str, Any] = read_json(folder / "size.json")
        model = cls(Size(raw["states"], tuple(raw["ngrams"]), raw["ends"]))
        load_model(model, str(folder / "model.safetensors"))
        return model.eval(), Ngrams.load(folder)


def _xavier(*shape: int) -> torch.Tensor:
    return nn.init.xavier_uniform_(torch.empty(shape)) if min(shape) else torch.empty(shape)


log = logging.getLogger("macroscope")

_TEXTS_PER_BATCH = 32


def measure_perplexity(documents: Path, model: Path, output: Path, options: HsmmSystem, *, split: str) -> None:
    """Measure the negative log-likelihood of every document of a split.

    Writes
    ------
    id; nll (nats) and tokens, both including the end of the text if `ends`; words (split at white space); unknown
    (number of tokens that are not in the train split).
    """
    fitted, ngrams = Hsmm.load(model)
    texts, held_out = (
        Texts(read_split_words(documents, split), ngrams),
        list(read_training_texts(documents, split, titles=False)),
    )
    table = pd.DataFrame(
        {
            "id": [document.id for document in read_documents(documents, split)],
            "nll": compute_nll(fitted, texts),
            "tokens": texts.sizes + options.ends,
            "words": [len(text.split()) for text in held_out],
            "unknown": [int((numbers == 0).sum()) for numbers in texts.numbers],
        }
    )
    log.info("%d of %d tokens are unknown words", table["unknown"].sum(), table["tokens"].sum())
    with atomic(output) as temporary:
        table.to_parquet(temporary, index=False)


@torch.inference_mode()
def compute_nll(model: Hsmm, texts: Texts) -> np.ndarray:
    """Compute -log P(x) of each text, in nats, on a GPU if there is one."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = model.to(device)
    nll, normalisers = np.empty(len(texts)), model.normalisers()
    for indices in texts.by_length(_TEXTS_PER_BATCH, model.states):
        batch = {name: tensor.to(device) for name, tensor in collate([texts[index] for index in indices]).items()}
        nll[indices] = -log_marginal(*model.batch(normalisers=normalisers, **batch)).double().cpu().numpy()
    return nll


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
    return np.cumsum(torch.softmax(logits.detach().double(), dim=1).numpy(), axis=1)


def _choose(cumulative: Floats, rng: np.random.Generator) -> Integers:
    """Draw one outcome per row."""
    uniforms = rng.random(len(cumulative)) * cumulative[:, -1]
    return np.asarray((cumulative <= uniforms[:, None]).sum(axis=1), dtype=np.int64)

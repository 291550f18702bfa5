"""Hidden semi-Markov models: a training step against the plain dynamic programme; tokens/s at the paper's full size.

The plain programme has the layout of PyTorch-Struct (Rush 2020): a potential for each text, position, length, state and
state before, and autograd through all of it. It runs at a size that fits into memory.
"""

import sys

import numpy as np
import torch
from _report import peak_megabytes, say, seconds

from macroscope.corpora.simulated import HsmmSizes
from macroscope.corpora.simulated.hsmm import hsmm_process, simulate_texts
from macroscope.systems.hsmm.marginal import IMPOSSIBLE, Batch, LogProbabilities, expected_counts, log_marginal
from macroscope.systems.hsmm.model import Hsmm, Size
from macroscope.systems.hsmm.ngrams import Texts, collate, count_ngrams
from macroscope.systems.hsmm.training import Counts

FULL = HsmmSizes(states=256, subsequences=10_000, letters=52, shortest=4, longest=11, segments=50)
LONGEST, STATES, NGRAMS, TEXTS, BATCH = 11, 800, 250_000, 51_200, 8
AT_ONCE, SMALL = 2, 192
"""Texts and states that the plain programme can do."""


def full_batch(texts: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows and sizes of texts of the paper's process, with a row for each n-gram."""
    words = [d.text.split() for d in simulate_texts(hsmm_process(FULL, 1), "process", texts, 1)]
    ngrams = count_ngrams(words, LONGEST, NGRAMS)
    texts_of_process = Texts(words, ngrams)
    batch = collate([texts_of_process[index] for index in range(texts)])
    return batch["rows"], batch["sizes"]


def random_model(states: int, rows: int) -> LogProbabilities:
    """Log-probabilities that ask for a gradient."""
    torch.manual_seed(1)
    shapes = ((states,), (states, states), (states,), (LONGEST, states), (rows, states))
    return LogProbabilities(*(torch.randn(shape).requires_grad_() for shape in shapes))


def plain_log_marginal(model: LogProbabilities, batch: Batch) -> torch.Tensor:
    """Compute the same number from potentials of texts x positions x lengths x states x states before."""
    texts, tokens, longest = batch.rows.shape
    emission = model.emission[batch.rows.clamp(min=0)].masked_fill((batch.rows < 0)[..., None], IMPOSSIBLE)
    pieces = emission + model.length  # texts x positions x lengths x states
    # ... x states before; a tensor per position, since autograd would fill a whole one with zeros for each slice of it.
    potentials = [piece[..., None] + model.transition.T for piece in pieces.unbind(dim=1)]
    first = pieces[:, 0] + model.initial
    end: list[torch.Tensor] = []
    for n in range(1, tokens + 1):
        ways = [
            first[:, k - 1] if n == k else torch.logsumexp(potentials[n - k][:, k - 1] + end[n - k - 1][:, None], dim=2)
            for k in range(1, min(longest, n) + 1)
        ]
        end.append(torch.logsumexp(torch.stack(ways), dim=0))
    last = torch.stack(end)[batch.sizes - 1, torch.arange(texts)]
    return torch.logsumexp(last + model.end, dim=1)


def step(plain: bool, given: tuple[torch.Tensor, torch.Tensor] | None = None) -> LogProbabilities:
    """Forward and backward pass of a batch; returns the gradients."""
    rows, sizes = given or full_batch(AT_ONCE)
    used_rows = torch.unique(rows[rows >= 0])
    places = torch.searchsorted(used_rows, rows.clamp(min=0)).masked_fill(rows < 0, -1)
    model = random_model(SMALL, len(used_rows))
    log_likelihoods = (plain_log_marginal if plain else log_marginal)(model, Batch(places, sizes))
    log_likelihoods.sum().backward()
    return LogProbabilities(*(parameter.grad for parameter in model))


def full_model() -> tuple[Hsmm, list[dict[str, torch.Tensor]]]:
    """Return a model of the paper's size, and batches of texts."""
    words = [d.text.split() for d in simulate_texts(hsmm_process(FULL, 1), "process", 3000, 1)]
    ngrams = count_ngrams(words, LONGEST, NGRAMS)
    texts = Texts(words[: 2 * BATCH], ngrams)
    torch.manual_seed(1)
    model = Hsmm(Size(STATES, tuple(map(len, ngrams.tokens)), False))
    return model, [collate([texts[index] for index in indices]) for indices in texts.by_length(BATCH, STATES)]


def main() -> None:
    """Compare with the plain programme, then time the full size."""
    batch = full_batch(AT_ONCE)
    ours, theirs = step(False, batch), step(True, batch)
    for gradient, reference in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(gradient, reference, rtol=1e-2, atol=1e-3 * float(reference.max()))
    fast, slow = seconds(lambda: step(False, batch), 5), seconds(lambda: step(True, batch), 3)
    name = f"training step, {AT_ONCE} texts, {SMALL} states"
    say(name, f"{fast:.2f} s", f"{slow:.2f} s plain", slow / fast, "20")
    least = peak_megabytes(full_batch, AT_ONCE)
    small, large = (peak_megabytes(step, plain) - least for plain in (False, True))
    say("memory of it", f"{small:,.0f} MB", f"{large:,.0f} MB plain", large / small, "20")
    full_size()


def full_size() -> None:
    """Tokens/s of both ways of fitting, at the paper's size."""
    model, (batch, second) = full_model()
    tokens = int(batch["sizes"].sum())
    parameters = sum(p.numel() for p in model.parameters())
    print(f"full size: {parameters / 1e9:.2f} G parameters, {tokens:,} tokens a batch of {BATCH} texts", flush=True)
    of_step = seconds(lambda: model(**batch)["loss"].backward())
    model.zero_grad()
    with torch.no_grad():
        normalisers, counts = model.normalisers(), Counts(model)
        rows = torch.unique(second["rows"])[1:]

        def expect() -> None:
            counts.add(rows, expected_counts(*model.batch(**second, normalisers=normalisers))[1])

        of_batch = seconds(expect, 2)
    for name, taken in (("gradient descent", of_step), ("expectation maximisation", of_batch)):
        hours = taken * TEXTS / BATCH / 3600
        print(f"{name:34s} {tokens / taken:10,.0f} tokens/s   {taken:.2f} s a batch   {hours:.1f} h a pass", flush=True)


if __name__ == "__main__":
    sys.exit(main())

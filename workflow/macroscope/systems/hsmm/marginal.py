"""Log-marginal of a hidden semi-Markov model, and its gradient: log P(x) summed over all states and segmentations.

A text is cut into segments. The state of a segment follows that of the one before it; it tells how long the segment is,
and which n-gram stands there (deng2022 Appendix D). With C states, segments of up to K tokens and N tokens:

    begin[n, z] = log P(x_1..n, a segment of state z begins behind n)
                = log initial[z]                                                    for n = 0
                = logsumexp_z' end[n, z'] + log transition[z', z]                   else
    end[n, z]   = log P(x_1..n, a segment of state z ends at n)
                = logsumexp_k begin[n - k, z] + log length[k, z] + log emission[x_n-k+1..n, z]

The transition enters once a position, as a product of matrices, and nothing of C x C x K is ever made: time is
N (C^2 + K C), memory N C. Log-probabilities are shifted by their maximum before a product, so that single precision is
enough for texts of a thousand tokens. The gradient is written by hand: with respect to the log-probabilities it is the
expected number of times that each is used, which a backward pass of the same form gives, recomputing what the forward
pass did not keep. The same numbers are the E-step of Baum and Welch.

A batch's n-grams are gathered once: emissions hold a row for each n-gram that occurs, and are nowhere else.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

IMPOSSIBLE = -1e30
"""Log-probability of what cannot be: large, but finite, so that sums and differences of two of them are no NaN."""
_LARGEST = 80.0
"""Exponents above it are cut off: single precision ends at e^88."""


class LogProbabilities(NamedTuple):
    """Log-probabilities of the model, as tensors of one type on one device.

    Attributes
    ----------
    initial
        Of the first state (states).
    transition
        Of the next state: states (before) x states (after).
    end
        Of no further segment (states); zeros for a model that is told where a text ends.
    length
        Tokens of a segment: longest x states, from one token on.
    emission
        Each n-gram that occurs, given state and length: n-grams x states.
    """

    initial: torch.Tensor
    transition: torch.Tensor
    end: torch.Tensor
    length: torch.Tensor
    emission: torch.Tensor


@dataclass(frozen=True)
class Batch:
    """Texts, as the rows of the emissions that stand in them.

    Attributes
    ----------
    rows
        Row of the n-gram of k + 1 tokens that begins at n, -1 where the model has none (texts x tokens x longest).
    sizes
        Tokens of each text.
    """

    rows: torch.Tensor
    sizes: torch.Tensor


class _Tables(NamedTuple):
    begin: torch.Tensor
    end: torch.Tensor
    log_marginal: torch.Tensor


def log_marginal(model: LogProbabilities, batch: Batch) -> torch.Tensor:
    """Log P(x) of each text (texts), in nats; differentiable with respect to all log-probabilities."""
    found: torch.Tensor = _LogMarginal.apply(batch, *model)
    return found


@torch.no_grad()
def expected_counts(model: LogProbabilities, batch: Batch) -> tuple[torch.Tensor, LogProbabilities]:
    """Log P(x) of each text, and how often each probability is expected to be used in all of them, given them."""
    tables = _forward(model, batch)
    return tables.log_marginal, _backward(model, batch, tables, torch.ones_like(tables.log_marginal))


class _LogMarginal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, batch: Batch, *model: torch.Tensor) -> torch.Tensor:
        tables = _forward(LogProbabilities(*model), batch)
        ctx.batch = batch
        ctx.save_for_backward(*model, *tables)
        return tables.log_marginal

    @staticmethod
    def backward(ctx: Any, *weights: torch.Tensor) -> Any:
        saved = ctx.saved_tensors
        counts = _backward(LogProbabilities(*saved[:5]), ctx.batch, _Tables(*saved[5:]), weights[0])
        return None, *counts


def _forward(model: LogProbabilities, batch: Batch) -> _Tables:
    texts, tokens, longest = batch.rows.shape
    shape = (tokens + 1, texts, len(model.initial))
    begin, end = model.initial.new_empty(shape), model.initial.new_full(shape, IMPOSSIBLE)
    rows, emission = _rows_by_position(batch, len(model.emission)), _with_impossible(model.emission)
    transition, lengths = model.transition.exp(), model.length.flip(0)  # the longest first, as begins stand in `begin`
    begin[0] = model.initial
    for n in range(1, tokens + 1):
        first = max(n - longest, 0)
        begins = torch.arange(first, n, device=rows.device)
        pieces = emission[rows[begins, n - 1 - begins]]  # lengths x texts x states
        pieces += begin[first:n]
        pieces += lengths[longest - (n - first) :, None]
        end[n] = _summed(pieces)
        begin[n] = _log_product(end[n], transition)
    last = end[batch.sizes, torch.arange(texts, device=batch.sizes.device)]
    return _Tables(begin, end, torch.logsumexp(last + model.end, dim=1))


def _backward(model: LogProbabilities, batch: Batch, tables: _Tables, weights: torch.Tensor) -> LogProbabilities:
    """Expected uses of each probability, those of each text times its weight.

    after[n, z] = log P(x_n+1.. | a segment of state z ends at n), ahead[n, z] = log P(x_n+1.. | one of z begins there).
    """
    texts, tokens, longest = batch.rows.shape
    states, device = len(model.initial), batch.rows.device
    after, ahead = (model.initial.new_full((tokens + 1, texts, states), IMPOSSIBLE) for _ in range(2))
    rows, emission = _rows_by_position(batch, len(model.emission)), _with_impossible(model.emission)
    counts = LogProbabilities(*(torch.zeros_like(some) for some in (*model[:4], emission)))
    transposed = model.transition.exp().T.contiguous()
    possible = tables.log_marginal > IMPOSSIBLE / 2  # nothing is used in a text that cannot be
    given = torch.where(possible, tables.log_marginal, 0)[:, None]
    weights = torch.where(possible, weights, 0)[:, None]
    is_last = torch.arange(tokens + 1, device=device)[:, None] == batch.sizes
    for n in range(tokens, -1, -1):
        if n < tokens:
            lengths = min(longest, tokens - n)
            pieces = emission[rows[n, :lengths]]  # lengths x texts x states
            pieces += after[n + 1 : n + 1 + lengths]
            pieces += model.length[:lengths, None]
            most = pieces.amax(dim=0)
            ahead[n] = _summed(pieces, most)
            # What stands in `pieces` now is each one's share of the largest.
            pieces *= (tables.begin[n] + most - given).exp() * weights
            counts.length[:lengths].add_(pieces.sum(dim=1))
            counts.emission.index_add_(0, rows[n, :lengths].flatten(), pieces.flatten(0, 1))
            after[n] = _log_product(ahead[n], transposed)
        after[n] = torch.where(is_last[n][:, None], model.end, after[n])
    ended = tables.end[batch.sizes, torch.arange(texts, device=device)]
    counts.end.add_(((ended + model.end - given).exp() * weights).sum(dim=0))
    counts.initial.add_(((model.initial + ahead[0] - given).exp() * weights).sum(dim=0))
    counts.transition.add_(_transitions(model, tables.end, ahead, given, weights))
    return counts._replace(emission=counts.emission[:-1])


def _transitions(
    model: LogProbabilities, end: torch.Tensor, ahead: torch.Tensor, given: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Expected transitions at all positions but the first: one product of matrices for all of them."""
    states = len(model.initial)
    ends, begins = end[1:-1], ahead[1:-1]
    shift = ends.amax(dim=2, keepdim=True)
    left = (ends - shift).exp().reshape(-1, states)
    right = (begins + shift - given).clamp(max=_LARGEST).exp() * weights
    return left.T @ right.reshape(-1, states) * model.transition.exp()


def _rows_by_position(batch: Batch, ngrams: int) -> torch.Tensor:
    """Rows as tokens x longest x texts: where one is missing, the last that `_with_impossible` makes."""
    rows = batch.rows.permute(1, 2, 0)
    return torch.where(rows < 0, ngrams, rows).contiguous()


def _with_impossible(emission: torch.Tensor) -> torch.Tensor:
    """Emissions and a last row for n-grams that the model has not."""
    return torch.cat([emission, emission.new_full((1, emission.shape[1]), IMPOSSIBLE)])


def _summed(pieces: torch.Tensor, most: torch.Tensor | None = None) -> torch.Tensor:
    """Log of the sum of exp(pieces) over the first dimension; `pieces` become shares of e^most, the largest."""
    most = pieces.amax(dim=0) if most is None else most
    total: torch.Tensor = pieces.sub_(most).exp_().sum(dim=0)
    return total.log_().add_(most)


def _log_product(logs: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Log of exp(logs) @ matrix, row by row; what underflows is as good as impossible."""
    shift = logs.amax(dim=-1, keepdim=True)
    return ((logs - shift).exp() @ matrix).log().clamp(min=IMPOSSIBLE) + shift

"""Log-marginal of a hidden semi-Markov model, log P(x) summed over all states and segmentations, and its gradient.

A text is a sequence of segments. The state of a segment depends on the previous state; it determines the distributions
of the segment's length and of its n-gram (deng2022 Appendix D). With C states, segments of up to K tokens and N tokens:

    begin[n, z] = log P(x_1..n, a segment of state z begins after n)
                = log initial[z]                                                    for n = 0
                = logsumexp_z' end[n, z'] + log transition[z', z]                   else
    end[n, z]   = log P(x_1..n, a segment of state z ends at n)
                = logsumexp_k begin[n - k, z] + log length[k, z] + log emission[x_n-k+1..n, z]

The transition enters once per position, as a product of matrices, so that no array of size C x C x K is needed: time
is N (C^2 + K C), memory N C. Log-probabilities are shifted by their maximum before a product, so that single precision
is enough for texts of a thousand tokens. The gradient is written by hand. With respect to the log-probabilities, it is
the expected number of times that each is used; a backward pass of the same form computes it and recomputes what the
forward pass did not keep. The same numbers are the E-step of Baum and Welch.

The n-grams of a batch are gathered once: the emissions of a batch have a row for each n-gram that occurs in it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

IMPOSSIBLE = -1e30
"""Log-probability of the impossible: finite, so that sums and differences of two of them are not NaN."""
_LARGEST = 80.0
"""Bound of exponents, because single precision overflows at e^88."""


class LogProbabilities(NamedTuple):
    """Log-probabilities of the model, as tensors of one type on one device.

    Attributes
    ----------
    initial
        First state: states.
    transition
        Next state: states (before) x states (after).
    end
        End of the text after a state: states; zeros for a model without ends.
    length
        Length of a segment, from one token: longest x states.
    emission
        Each n-gram of the batch, given state and length: n-grams x states.
    """

    initial: torch.Tensor
    transition: torch.Tensor
    end: torch.Tensor
    length: torch.Tensor
    emission: torch.Tensor


@dataclass(frozen=True)
class Batch:
    """Texts as rows of the emissions.

    Attributes
    ----------
    rows
        Row of the n-gram of k + 1 tokens that begins at n, or -1 if the model has none: texts x tokens x longest.
    sizes
        Number of tokens of each text.
    """

    rows: torch.Tensor
    sizes: torch.Tensor


class _Tables(NamedTuple):
    begin: torch.Tensor
    end: torch.Tensor
    log_marginal: torch.Tensor


def log_marginal(model: LogProbabilities, batch: Batch) -> torch.Tensor:
    """Compute log P(x) of each text, in nats; differentiable with respect to all log-probabilities."""
    log_marginals: torch.Tensor = _LogMarginal.apply(batch, *model)
    return log_marginals


@torch.no_grad()
def expected_counts(model: LogProbabilities, batch: Batch) -> tuple[torch.Tensor, LogProbabilities]:
    """Compute log P(x) of each text, and the expected number of uses of each probability over all texts (E-step)."""
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
    transition, lengths = model.transition.exp(), model.length.flip(0)  # longest first, in the order of `begin`
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
    """Compute the expected number of uses of each probability, weighted by text.

    after[n, z] = log P(x_n+1.. | a segment of state z ends at n), ahead[n, z] = log P(x_n+1.. | one of z begins there).
    """
    texts, tokens, longest = batch.rows.shape
    states, device = len(model.initial), batch.rows.device
    after, ahead = (model.initial.new_full((tokens + 1, texts, states), IMPOSSIBLE) for _ in range(2))
    rows, emission = _rows_by_position(batch, len(model.emission)), _with_impossible(model.emission)
    counts = LogProbabilities(*(torch.zeros_like(table) for table in (*model[:4], emission)))
    transposed = model.transition.exp().T.contiguous()
    possible = tables.log_marginal > IMPOSSIBLE / 2  # an impossible text uses nothing
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
            # `_summed` has turned `pieces` into shares of the largest one.
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
    """Compute the expected transitions at all positions but the first, by one product of matrices."""
    states = len(model.initial)
    ends, begins = end[1:-1], ahead[1:-1]
    shift = ends.amax(dim=2, keepdim=True)
    left = (ends - shift).exp().reshape(-1, states)
    right = (begins + shift - given).clamp(max=_LARGEST).exp() * weights
    return left.T @ right.reshape(-1, states) * model.transition.exp()


def _rows_by_position(batch: Batch, ngrams: int) -> torch.Tensor:
    """Arrange rows as tokens x longest x texts; missing ones become the last row of `_with_impossible`."""
    rows = batch.rows.permute(1, 2, 0)
    return torch.where(rows < 0, ngrams, rows).contiguous()


def _with_impossible(emission: torch.Tensor) -> torch.Tensor:
    """Append a row to the emissions for n-grams that the model does not have."""
    return torch.cat([emission, emission.new_full((1, emission.shape[1]), IMPOSSIBLE)])


def _summed(pieces: torch.Tensor, most: torch.Tensor | None = None) -> torch.Tensor:
    """Compute the log of the sum of exp(pieces) over the first dimension; `pieces` become shares of exp(most)."""
    most = pieces.amax(dim=0) if most is None else most
    total: torch.Tensor = pieces.sub_(most).exp_().sum(dim=0)
    return total.log_().add_(most)


def _log_product(logs: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Compute the log of exp(logs) @ matrix, row by row; underflow counts as impossible."""
    shift = logs.amax(dim=-1, keepdim=True)
    return ((logs - shift).exp() @ matrix).log().clamp(min=IMPOSSIBLE) + shift

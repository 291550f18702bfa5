"""Decoding rules: from the model's logits to the distribution from which the next token is drawn."""

from collections.abc import Callable
from typing import Any

import torch

from macroscope.systems.language_model.options import Ancestral, MinP, Nucleus, Temperature, TokenRule, TopK, Typical

_FIRST_RANKED = 1024
"""Number of tokens of lowest rank that are sorted first."""


def distribution(logits: torch.Tensor, rule: TokenRule) -> torch.Tensor:
    """Compute the probabilities of the next token: first the temperature, then the rule's truncation.

    Parameters
    ----------
    logits
        rows x vocabulary.

    Returns
    -------
    tensor, rows x vocabulary, float64; rows sum to 1.
    """
    probabilities = (logits.double() / getattr(rule, "temperature", 1.0)).softmax(-1)
    is_kept = _TRUNCATIONS[type(rule)]
    if is_kept is None:
        return probabilities
    remaining = torch.where(is_kept(probabilities, rule), probabilities, 0.0)
    return remaining / remaining.sum(-1, keepdim=True)


def invert(probabilities: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """Draw tokens by inverting the cumulative distribution at uniform numbers in [0, 1).

    Parameters
    ----------
    probabilities
        rows x vocabulary, float64.
    uniforms
        rows x draws, float64.

    Returns
    -------
    tensor, rows x draws.
    """
    cumulative = probabilities.cumsum(-1)
    # Scaling by the last value corrects a sum that is 1 only up to rounding.
    tokens = torch.searchsorted(cumulative, uniforms * cumulative[:, -1:], right=True)
    return tokens.clamp(max=probabilities.shape[-1] - 1)


def _top_k(probabilities: torch.Tensor, rule: TopK) -> torch.Tensor:
    k = min(rule.k, probabilities.shape[-1])
    return probabilities >= probabilities.topk(k, dim=-1).values[..., -1:]


def _nucleus(probabilities: torch.Tensor, rule: Nucleus) -> torch.Tensor:
    return _mark_until(probabilities, -probabilities, rule.p)


def _typical(probabilities: torch.Tensor, rule: Typical) -> torch.Tensor:
    surprisal = -probabilities.log()
    entropy = torch.special.entr(probabilities).sum(-1, keepdim=True)
    return _mark_until(probabilities, (surprisal - entropy).abs(), rule.p)


def _min_p(probabilities: torch.Tensor, rule: MinP) -> torch.Tensor:
    return probabilities >= rule.p * probabilities.max(-1, keepdim=True).values


def _mark_until(probabilities: torch.Tensor, rank: torch.Tensor, mass: float) -> torch.Tensor:
    """Mark the tokens of lowest rank, the fewest whose probabilities reach `mass`; of equal ones, the first.

    Of a large vocabulary few tokens are kept, so the first ones are selected, and only those are sorted. Rows in which
    they do not reach the mass are tried again with more.
    """
    marked = torch.zeros_like(probabilities, dtype=torch.bool)
    rows = torch.arange(len(probabilities), device=probabilities.device)
    size = _FIRST_RANKED
    while len(rows):
        marks, is_enough = _mark_among_first(probabilities[rows], rank[rows], mass, size)
        marked[rows[is_enough]] = marks[is_enough]
        rows, size = rows[~is_enough], 8 * size
    return marked


def _mark_among_first(
    probabilities: torch.Tensor, rank: torch.Tensor, mass: float, size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mark as `_mark_until`, among the `size` tokens of lowest rank; return also in which rows these are enough."""
    size = min(size, probabilities.shape[-1])
    first = rank.topk(size, dim=-1, largest=False, sorted=False).indices.sort(dim=-1).values
    order = first.gather(-1, rank.gather(-1, first).argsort(dim=-1, stable=True))
    ordered = probabilities.gather(-1, order)
    before = ordered.cumsum(-1) - ordered
    marks = torch.zeros_like(probabilities, dtype=torch.bool).scatter(-1, order, before < mass)
    # Tokens as far as the last one of the selected may have equals that were not selected.
    ranks = rank.gather(-1, order)
    is_enough = ((ranks < ranks[:, -1:]) & (before + ordered >= mass)).any(-1)
    return marks, is_enough | (size == probabilities.shape[-1])


_TRUNCATIONS: dict[type, Callable[[torch.Tensor, Any], torch.Tensor] | None] = {
    Ancestral: None,
    Temperature: None,
    TopK: _top_k,
    Nucleus: _nucleus,
    Typical: _typical,
    MinP: _min_p,
}
"""Function of each rule that marks the tokens which it keeps; None: no truncation."""

"""Decoding rules: from the model's logits to the distribution that the next token is drawn from."""

import torch

from macroscope.systems.options import Decoding


def distribution(logits: torch.Tensor, decoding: Decoding) -> torch.Tensor:
    """Probabilities of the next token: temperature, then top-k, then top-p, each only where it is asked for.

    Parameters
    ----------
    logits
        rows x vocabulary.

    Returns
    -------
    tensor, rows x vocabulary, float64; rows sum to 1.
    """
    logits = logits.double() / decoding.temperature
    if 0 < decoding.top_k < logits.shape[-1]:
        smallest = logits.topk(decoding.top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < smallest, -torch.inf)
    probabilities = logits.softmax(-1)
    return probabilities if decoding.top_p >= 1 else _nucleus(probabilities, decoding.top_p)


def invert(probabilities: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """Draw one token a row by inverting the cumulative distribution at a uniform number in [0, 1).

    Parameters
    ----------
    probabilities
        rows x vocabulary, float64.
    uniforms
        One number a row, float64.
    """
    cumulative = probabilities.cumsum(-1)
    # Scaling by the last value forgives a sum that is 1 only up to rounding.
    tokens = torch.searchsorted(cumulative, (uniforms * cumulative[:, -1])[:, None], right=True)
    return tokens[:, 0].clamp(max=probabilities.shape[-1] - 1)


def _nucleus(probabilities: torch.Tensor, mass: float) -> torch.Tensor:
    """Keep the fewest most probable tokens whose mass reaches `mass` (Holtzman et al. 2020)."""
    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(-1) - ordered
    kept = torch.where(before < mass, ordered, 0.0)
    return torch.zeros_like(probabilities).scatter(-1, order, kept / kept.sum(-1, keepdim=True))

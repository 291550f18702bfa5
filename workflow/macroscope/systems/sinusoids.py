"""Positions without parameters: sines and cosines (Vaswani et al. 2017), as fairseq counts them."""

from math import log

import torch
from torch import nn

FIRST_POSITION = 2
"""Position of the first token: fairseq counts from the entry after that of padding, which is 1."""


class Sinusoids(nn.Module):
    """Positions as sines, then cosines, of geometrically falling frequencies.

    Parameters
    ----------
    width
        Number of sines and cosines.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, position_ids: torch.Tensor) -> torch.Tensor:
        """Embed positions, counted from 0: ... -> ... x width."""
        half = self.width // 2
        frequencies = torch.exp(torch.arange(half, device=position_ids.device) * (-log(10000) / (half - 1)))
        angles = (position_ids + FIRST_POSITION)[..., None] * frequencies
        return torch.cat([angles.sin(), angles.cos()], dim=-1)

"""Latent Dirichlet allocation (Blei et al. 2003) with fixed topics, and the density of proportions under its prior."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LatentDirichletAllocation:
    """Model with topic proportions from Dirichlet(alpha), a word's topic from these, and the word from that topic.

    Attributes
    ----------
    alpha
        Parameters of the Dirichlet distribution (topics).
    topics
        phi (topics x vocabulary); rows sum to 1.
    """

    alpha: Array
    topics: Array

    def cross_entropy(self, log_proportions: Array) -> Array:
        """Return -E log Dirichlet(z; alpha) from E log z, in nats (documents); of a density, so it may be negative.

        Parameters
        ----------
        log_proportions
            E log z of each document under its posterior, or log z itself (documents x topics).
        """
        normaliser = gammaln(self.alpha).sum() - gammaln(self.alpha.sum())
        return np.asarray(normaliser - log_proportions @ (self.alpha - 1))

    def save(self, path: Path) -> None:
        """Write the model as .npz."""
        with path.open("wb") as stream:
            np.savez(stream, alpha=self.alpha, topics=self.topics)

    @classmethod
    def load(cls, path: Path) -> "LatentDirichletAllocation":
        """Read a model that `save` wrote."""
        with np.load(path) as arrays:
            return cls(arrays["alpha"], arrays["topics"])

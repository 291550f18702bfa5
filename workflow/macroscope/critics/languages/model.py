"""Latent Dirichlet allocation (Blei et al. 2003) with known topics, and the density of proportions under its prior."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LatentDirichletAllocation:
    """Topic proportions from Dirichlet(alpha), a word's topic from them, the word from that topic.

    Attributes
    ----------
    alpha
        Topics.
    topics
        phi: topics x vocabulary; rows add up to 1.
    """

    alpha: Array
    topics: Array

    def cross_entropy(self, log_proportions: Array) -> Array:
        """-E log Dirichlet(z; alpha), in nats, from E log z: documents. A density: it may be below 0.

        Parameters
        ----------
        log_proportions
            E log z of each document under its posterior, or log z itself: documents x topics.
        """
        normaliser = gammaln(self.alpha).sum() - gammaln(self.alpha.sum())
        return np.asarray(normaliser - log_proportions @ (self.alpha - 1))

    def save(self, path: Path) -> None:
        """Write as .npz."""
        with path.open("wb") as stream:
            np.savez(stream, alpha=self.alpha, topics=self.topics)

    @classmethod
    def load(cls, path: Path) -> "LatentDirichletAllocation":
        """Read what `save` wrote."""
        with np.load(path) as arrays:
            return cls(arrays["alpha"], arrays["topics"])

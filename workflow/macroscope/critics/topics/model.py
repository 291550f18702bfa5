"""Correlated topic model (Blei and Lafferty 2006), and densities and entropies of topic strengths."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from macroscope.errors import MacroscopeError

Tensor = torch.Tensor
LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class CorrelatedTopicModel:
    """Correlated topic model: topic strengths from N(mu, Sigma), a word's topic from their softmax, the word from beta.

    Attributes
    ----------
    mean
        mu (dimensions).
    covariance
        Sigma (dimensions x dimensions).
    topics
        beta (topics x vocabulary); rows sum to 1. With one more topic than dimensions, the strength of the last topic
        is fixed at 0, since softmax is invariant to shifts. With equal numbers, no strength is fixed.
    """

    mean: Tensor
    covariance: Tensor
    topics: Tensor

    def to(self, device: torch.device | str) -> "CorrelatedTopicModel":
        """Return the model on a device."""
        return CorrelatedTopicModel(self.mean.to(device), self.covariance.to(device), self.topics.to(device))

    @property
    def dimensions(self) -> int:
        """Return the number of free topic strengths."""
        return len(self.mean)

    @property
    def pinned(self) -> bool:
        return len(self.topics) > self.dimensions

    @cached_property
    def _factor(self) -> Tensor:
        factor, failed = torch.linalg.cholesky_ex(self.covariance)
        if failed:
            raise MacroscopeError(
                "the covariance of the topics is singular; give the topic model more documents, fewer topics, or"
                " a larger critics.topics.covariance_prior"
            )
        return factor

    @cached_property
    def precision(self) -> Tensor:
        """Return the inverse of Sigma."""
        return torch.cholesky_inverse(self._factor)

    @cached_property
    def log_determinant(self) -> Tensor:
        return -2 * self._factor.diagonal().log().sum()

    def strengths(self, free: Tensor) -> Tensor:
        """Return the strengths of all topics (documents x topics) from the free ones (documents x dimensions)."""
        if not self.pinned:
            return free
        return torch.cat([free, free.new_zeros(len(free), 1)], dim=1)

    def negative_log_density(self, mean: Tensor) -> Tensor:
        """Return -log N(x; mu, Sigma) at points (documents x dimensions), in nats (documents)."""
        away = mean - self.mean
        quadratic = ((away @ self.precision) * away).sum(dim=1)
        return 0.5 * (quadratic + self.dimensions * LOG_2_PI - self.log_determinant)

    def cross_entropy(self, mean: Tensor, variance: Tensor) -> Tensor:
        """Return -E_q log N(eta; mu, Sigma) for q = N(mean, diag(variance)), in nats (documents).

        This is the value at the mean plus a trace. The published code leaves out the trace (deng2022 Appendix F;
        `negative_log_density` at the means).
        """
        return self.negative_log_density(mean) + 0.5 * variance @ self.precision.diagonal()

    def save(self, path: Path) -> None:
        """Write the model as .npz."""
        arrays = {name: getattr(self, name).cpu().numpy() for name in ("mean", "covariance", "topics")}
        with path.open("wb") as stream:
            np.savez(stream, **arrays)

    @classmethod
    def load(cls, path: Path, device: torch.device | str = "cpu") -> "CorrelatedTopicModel":
        """Read a model that `save` wrote."""
        with np.load(path) as arrays:
            return cls(*(torch.from_numpy(arrays[name]).to(device) for name in ("mean", "covariance", "topics")))


def entropy(variance: Tensor) -> Tensor:
    """Return the entropy of N(., diag(variance)), in nats (documents)."""
    return 0.5 * (variance.log().sum(dim=1) + variance.shape[1] * (1 + LOG_2_PI))

"""Limited-memory BFGS (Nocedal 1980) for many small problems at once: directions from the last steps of each."""

from dataclasses import dataclass, field

import torch

Tensor = torch.Tensor
MEMORY = 6
"""Steps that are remembered."""


@dataclass(frozen=True)
class Metric:
    """A first guess of the inverse of minus the Hessian, one for all problems of a kind.

    Attributes
    ----------
    inverses
        Kinds x size x size, positive definite.
    kind
        Of each problem.
    """

    inverses: Tensor
    kind: Tensor

    def __getitem__(self, some: Tensor) -> "Metric":
        return Metric(self.inverses, self.kind[some])

    def times(self, vectors: Tensor) -> Tensor:
        """The guess of each problem times its vector: problems x size."""
        if len(self.inverses) == 1:
            return vectors @ self.inverses[0]
        found = torch.empty_like(vectors)
        for kind in range(len(self.inverses)):
            these = self.kind == kind
            found[these] = vectors[these] @ self.inverses[kind]
        return found


@dataclass
class History:
    """The last steps of each problem.

    Attributes
    ----------
    metric
        What is taken for the curvature as long as no step has told more.
    steps, changes
        Last steps, and by how much minus the gradient changed over each: a list, the oldest first, of problems x size.
    inverse
        1 / (step . change) of each; 0 where a step says nothing, since it found no curvature.
    """

    metric: Metric
    steps: list[Tensor] = field(default_factory=list)
    changes: list[Tensor] = field(default_factory=list)
    inverse: list[Tensor] = field(default_factory=list)

    def __getitem__(self, some: Tensor) -> "History":
        steps, changes, inverse = ([one[some] for one in part] for part in (self.steps, self.changes, self.inverse))
        return History(self.metric[some], steps, changes, inverse)

    def direction(self, gradient: Tensor) -> Tensor:
        """Where to climb: the gradient, times an estimate of the inverse of minus the Hessian, which is positive."""
        left = gradient.clone()
        weights = []
        for step, change, inverse in zip(self.steps[::-1], self.changes[::-1], self.inverse[::-1], strict=True):
            weight = inverse * (step * left).sum(dim=1)
            left -= weight[:, None] * change
            weights.append(weight)
        found = self.metric.times(left)
        for step, change, inverse, weight in zip(self.steps, self.changes, self.inverse, weights[::-1], strict=True):
            found += (weight - inverse * (change * found).sum(dim=1))[:, None] * step
        return found

    def remember(self, step: Tensor, change: Tensor) -> None:
        """Take in a step, and forget the oldest."""
        curvature = (step * change).sum(dim=1)
        told = curvature > torch.finfo(step.dtype).eps * (step.norm(dim=1) * change.norm(dim=1))
        self.steps.append(step)
        self.changes.append(change)
        self.inverse.append(torch.where(told, 1 / curvature.where(told, torch.ones_like(curvature)), 0.0))
        for part in (self.steps, self.changes, self.inverse):
            del part[:-MEMORY]

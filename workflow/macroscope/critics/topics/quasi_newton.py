"""Limited-memory BFGS (Nocedal 1980) for many small problems at once."""

from dataclasses import dataclass, field

import torch

Tensor = torch.Tensor
MEMORY = 6
"""Number of stored steps."""


@dataclass(frozen=True)
class Metric:
    """Initial estimate of the inverse of minus the Hessian, shared by all problems of a kind.

    Attributes
    ----------
    inverses
        Estimates (kinds x size x size), positive definite.
    kind
        Index of the kind of each problem.
    """

    inverses: Tensor
    kind: Tensor

    def __getitem__(self, problems: Tensor) -> "Metric":
        return Metric(self.inverses, self.kind[problems])

    def times(self, vectors: Tensor) -> Tensor:
        """Multiply the estimate of each problem with its vector (problems x size)."""
        if len(self.inverses) == 1:
            return vectors @ self.inverses[0]
        products = torch.empty_like(vectors)
        for kind in range(len(self.inverses)):
            problems = self.kind == kind
            products[problems] = vectors[problems] @ self.inverses[kind]
        return products


@dataclass
class History:
    """Last steps of each problem.

    Attributes
    ----------
    metric
        Initial estimate of the inverse of minus the Hessian.
    steps, changes
        Last steps, and changes of minus the gradient over each: lists of problems x size, the oldest first.
    inverse
        1 / (step . change) of each; 0 for a step without curvature, which is ignored.
    """

    metric: Metric
    steps: list[Tensor] = field(default_factory=list)
    changes: list[Tensor] = field(default_factory=list)
    inverse: list[Tensor] = field(default_factory=list)

    def __getitem__(self, problems: Tensor) -> "History":
        steps, changes, inverse = (
            [values[problems] for values in part] for part in (self.steps, self.changes, self.inverse)
        )
        return History(self.metric[problems], steps, changes, inverse)

    def direction(self, gradient: Tensor) -> Tensor:
        """Return the ascent direction: the gradient times a positive estimate of the inverse of minus the Hessian."""
        left = gradient.clone()
        weights = []
        for step, change, inverse in zip(self.steps[::-1], self.changes[::-1], self.inverse[::-1], strict=True):
            weight = inverse * (step * left).sum(dim=1)
            left -= weight[:, None] * change
            weights.append(weight)
        direction = self.metric.times(left)
        for step, change, inverse, weight in zip(self.steps, self.changes, self.inverse, weights[::-1], strict=True):
            direction += (weight - inverse * (change * direction).sum(dim=1))[:, None] * step
        return direction

    def remember(self, step: Tensor, change: Tensor) -> None:
        """Store a step, and drop the oldest."""
        curvature = (step * change).sum(dim=1)
        is_curved = curvature > torch.finfo(step.dtype).eps * (step.norm(dim=1) * change.norm(dim=1))
        self.steps.append(step)
        self.changes.append(change)
        self.inverse.append(torch.where(is_curved, 1 / curvature.where(is_curved, torch.ones_like(curvature)), 0.0))
        for part in (self.steps, self.changes, self.inverse):
            del part[:-MEMORY]

"""Directions of L-BFGS against the explicit formula of BFGS."""

import numpy as np
import torch

from macroscope.critics.topics.quasi_newton import MEMORY, History, Metric

SIZE = 5


def _metric(rng, problems):
    half = rng.normal(size=(2, SIZE, SIZE))
    inverses = torch.from_numpy(half @ half.transpose(0, 2, 1) + np.eye(SIZE))
    return Metric(inverses, torch.arange(problems) % 2)


def _bfgs(inverse, pairs):
    """Return the inverse Hessian after updates (Nocedal and Wright 2006, eq. 6.17)."""
    for step, change in pairs:
        rho = 1 / (step @ change)
        left = np.eye(SIZE) - rho * np.outer(step, change)
        inverse = left @ inverse @ left.T + rho * np.outer(step, step)
    return inverse


def test_directions_are_those_of_bfgs_over_the_last_steps():
    rng = np.random.default_rng(0)
    history, kept = History(_metric(rng, 3)), []
    for _ in range(MEMORY + 2):
        step = rng.normal(size=(3, SIZE))
        change = step @ np.diag(rng.gamma(2.0, 1.0, SIZE))
        history.remember(torch.from_numpy(step), torch.from_numpy(change))
        kept.append((step, change))
    gradient = rng.normal(size=(3, SIZE))
    directions = history.direction(torch.from_numpy(gradient)).numpy()
    for n in range(3):
        inverse = history.metric.inverses[n % 2].numpy()
        expected = _bfgs(inverse, [(step[n], change[n]) for step, change in kept[-MEMORY:]]) @ gradient[n]
        np.testing.assert_allclose(directions[n], expected, rtol=1e-8)


def test_a_step_without_curvature_is_ignored():
    rng = np.random.default_rng(1)
    history = History(_metric(rng, 2))
    gradient = torch.from_numpy(rng.normal(size=(2, SIZE)))
    before = history.direction(gradient)
    step = torch.from_numpy(rng.normal(size=(2, SIZE)))
    step[1] = 0.0
    history.remember(step, -step)
    torch.testing.assert_close(history.direction(gradient), before)


def test_a_subset_of_problems_keeps_their_histories():
    rng = np.random.default_rng(2)
    history = History(_metric(rng, 4))
    step = torch.from_numpy(rng.normal(size=(4, SIZE)))
    history.remember(step, 2 * step)
    gradient = torch.from_numpy(rng.normal(size=(4, SIZE)))
    subset = torch.tensor([3, 0])
    torch.testing.assert_close(history[subset].direction(gradient[subset]), history.direction(gradient)[subset])

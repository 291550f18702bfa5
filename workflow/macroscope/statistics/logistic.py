"""Ridge-penalised logistic regression: a small one, in closed Newton steps."""

import numpy as np

from macroscope.statistics.document_sums import Array

PENALTY = 1.0
_STEPS = 50
_CONVERGED = 1e-8
_EXPONENT = 30.0
"""Beyond this log odds are as good as certain."""


def fit_logistic(features: Array, labels: Array, penalty: float = PENALTY) -> tuple[float, Array]:
    """Maximise the penalised likelihood, log p(labels | features) - penalty / 2 |w|^2, of equally weighted classes.

    Parameters
    ----------
    features
        Documents x features, of about unit variance.
    labels
        0 or 1 of each document; both occur. A document weighs so much that either class weighs half of all.
    penalty
        On the weights; the intercept has none.

    Returns
    -------
    (intercept, weights)
    """
    n = len(labels)
    ones = labels.sum()
    mass = np.where(labels == 1, n / (2 * ones), n / (2 * (n - ones)))
    design = np.column_stack([np.ones(n), features])
    ridge = np.append(0.0, np.full(features.shape[1], penalty))
    found = np.zeros(design.shape[1])
    loss = _loss(design, labels, mass, ridge, found)
    for _ in range(_STEPS):
        probability = _logistic(design @ found)
        gradient = design.T @ (mass * (probability - labels)) + ridge * found
        curvature = (design * (mass * probability * (1 - probability))[:, None]).T @ design + np.diag(ridge)
        curvature[0, 0] += np.finfo(float).eps  # an intercept alone, of classes that are all but certain
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (stepped := _loss(design, labels, mass, ridge, found - size * step)) > loss and size > _CONVERGED:
            size /= 2
        gained, found, loss = loss - stepped, found - size * step, stepped
        if gained < _CONVERGED * n:
            break
    return float(found[0]), found[1:]


def _loss(design: Array, labels: Array, mass: Array, ridge: Array, weights: Array) -> float:
    odds = design @ weights
    return float(mass @ (np.logaddexp(0.0, odds) - labels * odds) + 0.5 * ridge @ weights**2)


def _logistic(odds: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(odds, -_EXPONENT, _EXPONENT)))

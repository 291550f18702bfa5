"""Ridge-penalised logistic regression by Newton steps, for few features."""

import numpy as np

from macroscope.statistics.document_sums import Array

PENALTY = 1.0
_STEPS = 50
_CONVERGED = 1e-8
_EXPONENT = 30.0
"""Absolute log odds beyond which a probability counts as certain."""


def fit_logistic(features: Array, labels: Array, penalty: float = PENALTY) -> tuple[float, Array]:
    """Fit a logistic regression by the penalised likelihood, log p(labels | features) - penalty / 2 |w|^2.

    Documents are weighted so that both classes have the same total weight.

    Parameters
    ----------
    features
        Documents x features, of about unit variance.
    labels
        0 or 1 for each document; both occur.
    penalty
        Penalty on the weights; the intercept has none.

    Returns
    -------
    (intercept, weights)
    """
    n = len(labels)
    ones = labels.sum()
    mass = np.where(labels == 1, n / (2 * ones), n / (2 * (n - ones)))
    design = np.column_stack([np.ones(n), features])
    ridge = np.append(0.0, np.full(features.shape[1], penalty))
    parameters = np.zeros(design.shape[1])
    loss = _loss(design, labels, mass, ridge, parameters)
    for _ in range(_STEPS):
        probability = _logistic(design @ parameters)
        gradient = design.T @ (mass * (probability - labels)) + ridge * parameters
        curvature = (design * (mass * probability * (1 - probability))[:, None]).T @ design + np.diag(ridge)
        curvature[0, 0] += np.finfo(float).eps  # without features, near-certain classes have no curvature
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (stepped := _loss(design, labels, mass, ridge, parameters - size * step)) > loss and size > _CONVERGED:
            size /= 2
        gained, parameters, loss = loss - stepped, parameters - size * step, stepped
        if gained < _CONVERGED * n:
            break
    return float(parameters[0]), parameters[1:]


def _loss(design: Array, labels: Array, mass: Array, ridge: Array, weights: Array) -> float:
    odds = design @ weights
    return float(mass @ (np.logaddexp(0.0, odds) - labels * odds) + 0.5 * ridge @ weights**2)


def _logistic(odds: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(odds, -_EXPONENT, _EXPONENT)))

"""Divergences between two distributions over strings, from samples and their log-probabilities (pimentel2022 §3.2).

Nothing can be summed over all strings. But a KL is a mean over samples of one side (eq. 10-13): with l = log p(x) -
log q(x) of a text x, in nats, and r_w = w p + (1 - w) q,

    KL(p || q)   = mean of l over texts of the reference,
    KL(q || p)   = mean of -l over texts of the candidate,
    KL(p || r_w) = mean of -log(w + (1 - w) exp(-l)) over texts of the reference,

and so on: every divergence is a function of means over the two sides of terms that depend on l alone. So a bootstrap
re-adds terms, and exchanging texts between the sides re-adds them as well. The p and q here are estimates; an estimate
that has seen the text it scores makes every divergence larger, and its p-value meaningless.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from macroscope.statistics.bootstrap import bootstrap_sums, percentile_interval
from macroscope.statistics.cross_fitted_tests import (
    Folds,
    FoldTest,
    Order,
    combined_p_value,
    fold_tests,
    jackknife_interval,
)
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import Frontier, area_under_frontier
from macroscope.statistics.document_sums import Array
from macroscope.statistics.latent import Resampling
from macroscope.statistics.tidy import UNDEFINED, Row

NAMES = (
    "forward_kl",
    "backward_kl",
    "exponentiated_kl",
    "jensen_shannon",
    "auc_divergence",
    "mauve",
    "frontier_integral",
)
_NULL = "texts of the system and of real text come from one distribution"
STATISTICS = tuple(
    Statistic(
        name,
        "divergence expected under estimates from so many texts",
        _NULL,
        # Exchanging texts moves both KL by the same sum; functions of forward KL and of 1 - AUC: the same tests again.
        difference=name not in ("backward_kl", "exponentiated_kl", "mauve"),
        sized=True,
    )
    for name in NAMES
)
TRIM = 0.05
"""Share that the published code leaves out at either end before it takes the mean of a frontier's KL."""
PENALTY = 1e-6
"""Of the calibration's squared slope, where two sides can be told apart without error."""
LEAST_SLOPE = 1e-3
"""Of a calibration behind a p-value, a nat: where nothing tells the sides apart as yet."""


def terms(log_ratios: Array, grid: Array, calibrated: Array | None = None) -> Array:
    """Terms of each text for the side that it is from.

    Parameters
    ----------
    log_ratios
        Of its own side to the other: l for texts of the reference, -l for texts of the candidate.
    grid
        Weights of the own side in the mixtures.
    calibrated
        Log-ratios for the divergences that look at mixtures; default: the same.

    Returns
    -------
    array texts x (3 + weights)
        The log-ratio; the term of the Jensen-Shannon divergence; of the frontier integral; of KL(own || mixture).
    """
    own = np.asarray(log_ratios, dtype=float)[:, None]
    for_mixtures = own if calibrated is None else np.asarray(calibrated, dtype=float)[:, None]
    # log(w p + (1 - w) q) - log p, without overflow whatever the log-ratio
    mixture = np.logaddexp(np.log(grid), np.log1p(-grid) - for_mixtures)
    half = np.logaddexp(np.log(0.5), np.log(0.5) - for_mixtures)
    return np.hstack([own, -half, integral_term(for_mixtures), -mixture])


def integral_term(log_ratios: Array) -> Array:
    """Return 2 times the integral over w in [0, 1] of w log(p / r_w): what a text adds to the frontier integral.

    With c = 1 / (exp(l) - 1) it is 1/2 - c + c^2 l, and l / 3 - l^2 / 12 near 0.
    """
    near = np.abs(log_ratios) < 1e-2
    safe = np.where(near, 1.0, log_ratios)
    with np.errstate(over="ignore"):
        c = 1 / np.expm1(safe)
    return np.where(near, log_ratios / 3 - log_ratios**2 / 12, 0.5 - c + c**2 * safe)


def from_means(reference: Array, candidate: Array, scale: float, least: float = 0.0) -> dict[str, Array]:
    """Every divergence from the means of `terms` over the two sides: ... x (3 + weights) each.

    The candidate's grid runs the other way: its own weight is 1 - w. Estimates of KL below `least` are taken as that
    in the frontier.
    """
    kl_p, kl_q = reference[..., 3:], candidate[..., :2:-1]
    area = area_under_frontier(np.maximum(kl_p, least), np.maximum(kl_q, least), scale)
    if least >= 0:
        area = np.minimum(area, 1.0)  # rounding
    with np.errstate(over="ignore"):
        exponentiated = np.exp(reference[..., 0])
    return {
        "forward_kl": reference[..., 0],
        "backward_kl": candidate[..., 0],
        "exponentiated_kl": exponentiated,
        "jensen_shannon": (reference[..., 1] + candidate[..., 1]) / 2,
        "auc_divergence": 1 - area,
        "mauve": area,
        "frontier_integral": reference[..., 2] + candidate[..., 2],
    }


@dataclass(frozen=True)
class Scored:
    """Texts that were scored by estimates that have not seen them: those of a fold by estimates from the others.

    Attributes
    ----------
    earlier
        Log-ratios of either side by estimates from earlier folds only; any number where there are none.
    order
        Of the folds.
    without
        For each fold the log-ratios without it, nan for its own texts: what its absence changes is in the intervals.
    """

    earlier: tuple[Array, Array]
    order: Order
    without: tuple[tuple[Array, Array], ...]


def compare_log_ratios(
    reference: Array,
    candidate: Array,
    frontier: Frontier,
    resampling: Resampling,
    scored: Scored | None = None,
) -> list[Row]:
    """Every divergence with its interval over texts, and the p-value of exchanging texts between the sides.

    The log-ratios of two estimates are noisy, and a divergence that looks at mixtures takes noise for certainty: it
    would fall far below 0. So for those (Jensen-Shannon, the frontier) the log-ratios of a fold are first scaled and
    shifted as a logistic regression on the other folds says; for Jensen-Shannon what comes out is log 2 minus the
    cross-entropy of that classifier. KL are of the log-ratios as they are, eq. 10-13.

    Parameters
    ----------
    reference, candidate
        log p(x) - log q(x) of the texts of either side, in nats.
    scored
        How they were scored where p and q are estimates that have not seen the texts. None: p and q are known, or have
        seen the texts: there is no calibration and no p-value.

    Returns
    -------
    rows
        Intervals of estimates hold what other texts to score and to estimate from would give; those of known p and q
        are over the texts. Estimates of KL may be negative; the frontier takes those as 0.
        The p-values are one-sided: a difference makes a divergence larger. Those of both KL are of the same sum, and
        equal.
    """
    if not (len(reference) and len(candidate)):
        return [(name, UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED) for name in NAMES]
    rng = np.random.default_rng(resampling.seed)
    if scored is None:
        sides = [terms(own, frontier.grid) for own in (reference, -candidate)]
        value = from_means(sides[0].mean(axis=0), sides[1].mean(axis=0), frontier.scale)
        resampled = [bootstrap_sums(side, resampling.resamples, rng) / len(side) for side in sides]
        draws = from_means(resampled[0], resampled[1], frontier.scale)
        intervals = {name: percentile_interval(draws[name], resampling.confidence) for name in NAMES}
        p_values = dict.fromkeys(NAMES, UNDEFINED)
    else:
        value = _calibrated(reference, candidate, scored.order.folds, frontier)
        intervals = _intervals((reference, candidate), scored, frontier, resampling.confidence)
        tests = _tests(scored, frontier, resampling.permutations, rng)
        p_values = {name: combined_p_value(tests.get(name, [])) for name in NAMES}
    return [
        (name, float(value[name]), *_holding(float(value[name]), intervals[name]), p_values[name]) for name in NAMES
    ]


def _calibrated(
    reference: Array, candidate: Array, folds: tuple[Folds, Folds], frontier: Frontier, least: float = 0.0
) -> dict[str, Array]:
    """Every divergence from cross-fitted log-ratios; see `from_means`."""
    scaled = calibrate(reference, candidate, folds)
    of_reference, of_candidate = (
        terms(own, frontier.grid, mixed).mean(axis=0)
        for own, mixed in ((reference, scaled[0]), (-candidate, -scaled[1]))
    )
    return from_means(of_reference, of_candidate, frontier.scale, least)


def _intervals(
    ratios: tuple[Array, Array], scored: Scored, frontier: Frontier, confidence: float
) -> dict[str, tuple[float, float]]:
    """Intervals of the divergences by the jackknife over folds, each left out of all estimates.

    The frontier is drawn with KL below 0 where they are: without them nothing would vary where little differs.
    """
    value = _calibrated(*ratios, scored.order.folds, frontier, -np.inf)
    found: list[dict[str, Array]] = []
    for sides in scored.without:
        known = [np.isfinite(side) for side in sides]
        if all(some.any() for some in known):
            left = [side[some] for side, some in zip(sides, known, strict=True)]
            folds = [side[some] for side, some in zip(scored.order.folds, known, strict=True)]
            found.append(_calibrated(left[0], left[1], (folds[0], folds[1]), frontier, -np.inf))
    linear = {
        name: jackknife_interval(float(number), [float(some[name]) for some in found], confidence)
        for name, number in value.items()
        if name != "exponentiated_kl"
    }
    with np.errstate(over="ignore"):
        low, high = np.exp(linear["forward_kl"])
    ranges = {"jensen_shannon": (-np.inf, np.log(2)), "frontier_integral": (-np.inf, 1.0)}
    ranges |= {"auc_divergence": (0.0, 1.0), "mauve": (0.0, 1.0)}
    bounded = {
        name: (max(linear[name][0], ends[0]), min(linear[name][1], float(ends[1]))) for name, ends in ranges.items()
    }
    return linear | bounded | {"exponentiated_kl": (float(low), float(high))}


def _tests(
    scored: Scored, frontier: Frontier, permutations: int, rng: np.random.Generator
) -> dict[str, list[FoldTest]]:
    """Divergences of each fold under estimates and a calibration from earlier folds, and after exchanges."""
    width = terms(np.zeros(1), frontier.grid).shape[1]

    def rows(fold: int) -> tuple[Array, Array]:
        inside = scored.order.inside(fold)
        own = [side[some] for side, some in zip(scored.earlier, inside, strict=True)]
        before = [np.isin(side, [f for f in scored.order.tested() if f < fold]) for side in scored.order.folds]
        slope, shift = _least_log_odds(*(side[some] for side, some in zip(scored.earlier, before, strict=True)))
        # Each text has the terms of either role, since it may come to stand on either side.
        both = [
            np.hstack(
                [terms(side, frontier.grid, slope * side + shift), terms(-side, frontier.grid, -slope * side - shift)]
            )
            for side in own
        ]
        return both[0], both[1]

    def statistics(first: Array, second: Array, n: int, m: int) -> dict[str, Array]:
        values = from_means(first[..., :width] / n, second[..., width:] / m, frontier.scale)
        return values | {"mauve": values["auc_divergence"], "exponentiated_kl": values["forward_kl"]}

    return fold_tests(scored.order, rows, statistics, permutations, rng)


def calibrate(reference: Array, candidate: Array, folds: tuple[Folds, Folds]) -> tuple[Array, Array]:
    """Log-ratios scaled and shifted so that they are log-odds of the two sides, both equally likely beforehand.

    The scale (not below 0) and the shift of a fold come from the other folds, by logistic regression with a slight
    penalty on the scale. Where that finds nothing, all log-ratios are 0.
    """
    sides = (reference, candidate)
    found = [np.zeros(len(side)) for side in sides]
    for fold in np.unique(np.concatenate(folds)):
        inside = [numbers == fold for numbers in folds]
        others = [side[~own] for side, own in zip(sides, inside, strict=True)]
        if not all(map(len, others)):
            continue
        slope, shift = _log_odds(*others)
        for side, own, result in zip(sides, inside, found, strict=True):
            result[own] = slope * side[own] + shift
    return found[0], found[1]


def _least_log_odds(reference: Array, candidate: Array) -> tuple[float, float]:
    """Slope and shift as `_log_odds`, but the slope is above 0: a test then looks at the log-ratios themselves."""
    if not (len(reference) and len(candidate)):
        return LEAST_SLOPE, 0.0
    slope, shift = _log_odds(reference, candidate)
    return max(slope, LEAST_SLOPE), shift


def _log_odds(reference: Array, candidate: Array) -> tuple[float, float]:
    """Slope >= 0 and shift of the logistic regression of the side on the log-ratio, both sides of the same weight."""
    x = np.concatenate([reference, candidate])
    unit = float(np.abs(x).mean()) or 1.0
    signs = np.repeat([1.0, -1.0], [len(reference), len(candidate)])
    weights = 0.5 / np.repeat([len(reference), len(candidate)], [len(reference), len(candidate)])

    def loss(parameters: Array) -> tuple[float, Array]:
        logits = signs * (parameters[0] * x / unit + parameters[1])
        gradient = -weights * signs * expit(-logits)
        penalty = PENALTY * parameters[0]
        value = float(weights @ np.logaddexp(0, -logits)) + 0.5 * penalty * parameters[0]
        return value, np.array([gradient @ x / unit + penalty, gradient.sum()])

    best = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(0, None), (None, None)]).x
    return (float(best[0] / unit), float(best[1])) if best[0] > 0 else (0.0, 0.0)


def published(reference: Array, candidate: Array, frontier: Frontier) -> list[Row]:
    """What the published code computes: swapped directions, trimmed means.

    It calls KL(q || p) forward, KL(p || q) backward and exp(-0.1 KL(q || p)) exponentiated, and leaves out 5 % at
    either end before the means of the frontier. There are no intervals.

    Parameters
    ----------
    reference, candidate
        log p(x) - log q(x) of the texts of either side, in whatever logarithm the published code has there: for strings
        log10 (so that its mixtures are of p^0.434 and q^0.434), for clusters the natural one, of smoothed shares.
    """
    from scipy.stats import trim_mean  # slow to import, and nothing else here needs it

    of_reference, of_candidate = (terms(own, frontier.grid) for own in (reference, -candidate))
    means = [side.mean(axis=0) for side in (of_reference, of_candidate)]
    trimmed = [trim_mean(side[:, 3:], TRIM, axis=0) for side in (of_reference, of_candidate)]
    area = float(area_under_frontier(np.maximum(trimmed[0], 0), np.maximum(trimmed[1][::-1], 0), frontier.scale))
    forward, backward = float(means[1][0]), float(means[0][0])
    values = {
        "forward_kl": forward,
        "backward_kl": backward,
        "exponentiated_kl": float(np.exp(-0.1 * forward)),
        "jensen_shannon": float((means[0][1] + means[1][1]) / 2),
        "auc_divergence": 1 - area,
        "mauve": area,
        "frontier_integral": float("nan"),
    }
    return [(name, values[name], UNDEFINED, UNDEFINED, UNDEFINED) for name in NAMES]


def _holding(value: float, interval: tuple[float, float]) -> tuple[float, float]:
    """Interval that holds its own value, whatever the skew of the resamples."""
    return min(interval[0], value), max(interval[1], value)

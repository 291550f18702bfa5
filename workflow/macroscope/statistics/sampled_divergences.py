"""Divergences between two distributions over strings, from samples and their log-probabilities (pimentel2022 §3.2).

A sum over all strings is impossible, but a KL is a mean over samples of one distribution (eq. 10-13). With l = log p(x)
- log q(x) of a text x, in nats, and r_w = w p + (1 - w) q,

    KL(p || q)   = mean of l over texts of the reference,
    KL(q || p)   = mean of -l over texts of the candidate,
    KL(p || r_w) = mean of -log(w + (1 - w) exp(-l)) over texts of the reference,

and so on: every divergence is a function of the two samples' means of terms that depend on l alone. A bootstrap or a
permutation of texts therefore only adds terms again. Here p and q are estimates; if an estimate was fitted to the text
that it scores, every divergence is too large and its p-value meaningless.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from macroscope.options import Resampling
from macroscope.statistics.bootstrap import bootstrap_sums, percentile_interval
from macroscope.statistics.cross_fitted_tests import Folds, FoldTest, Order, combined_p_value, fold_tests
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.divergences import Frontier, area_under_frontier
from macroscope.statistics.document_features import Array
from macroscope.statistics.jackknife import interval_of_left_out
from macroscope.statistics.p_values import agree_with_test
from macroscope.statistics.tidy import UNDEFINED, Estimate

NAMES = (
    "forward_kl",
    "backward_kl",
    "jeffreys",
    "exponentiated_kl",
    "jensen_shannon",
    "auc_divergence",
    "mauve",
    "frontier_integral",
)
TESTED = ("jeffreys", "jensen_shannon")
"""Divergences with a test. Without a difference they are 0 on average, whatever the estimates are. A KL of estimates is
not: permutations change both by the same sum, their Jeffreys divergence, and only that can be tested."""
_HOLDS = "divergence expected under estimates from this number of texts"
_NULL = "texts of the system and of real text come from one distribution"
STATISTICS = tuple(Statistic(name, _HOLDS, _NULL if name in TESTED else "", sized=True) for name in NAMES)
TRIM = 0.05
"""Share that the published code omits at either end before the mean of the KL of a frontier."""
PENALTY = 1e-6
"""Penalty on the squared slope of the calibration, for samples that the log-ratio separates without error."""
LEAST_SLOPE = 1e-3
"""Smallest slope per nat of a calibration behind a p-value, for log-ratios that do not separate the samples yet."""


def divergence_terms(log_ratios: Array, grid: Array, calibrated: Array | None = None) -> Array:
    """Compute the terms of each text for its own sample.

    Parameters
    ----------
    log_ratios
        Log-ratios of a text's own distribution to the other: l for texts of the reference, -l for texts of the
        candidate.
    grid
        Weights of the own distribution in the mixtures.
    calibrated
        Log-ratios for the divergences that use mixtures. Default: `log_ratios`.

    Returns
    -------
    array texts x (3 + weights)
        The log-ratio, and the terms of the Jensen-Shannon divergence, of the frontier integral and of KL(own ||
        mixture).
    """
    ratios = np.asarray(log_ratios, dtype=float)[:, None]
    mixture_ratios = ratios if calibrated is None else np.asarray(calibrated, dtype=float)[:, None]
    # log(w p + (1 - w) q) - log p, without overflow for any log-ratio
    mixture = np.logaddexp(np.log(grid), np.log1p(-grid) - mixture_ratios)
    half = np.logaddexp(np.log(0.5), np.log(0.5) - mixture_ratios)
    return np.hstack([ratios, -half, integral_term(mixture_ratios), -mixture])


def integral_term(log_ratios: Array) -> Array:
    """Return twice the integral over w in [0, 1] of w log(p / r_w), the term of a text in the frontier integral.

    With c = 1 / (exp(l) - 1) it is 1/2 - c + c^2 l, and l / 3 - l^2 / 12 near 0.
    """
    near = np.abs(log_ratios) < 1e-2
    safe = np.where(near, 1.0, log_ratios)
    with np.errstate(over="ignore"):
        c = 1 / np.expm1(safe)
    return np.where(near, log_ratios / 3 - log_ratios**2 / 12, 0.5 - c + c**2 * safe)


def divergences_from_means(reference: Array, candidate: Array, scale: float, least: float = 0.0) -> dict[str, Array]:
    """Compute every divergence from the means of `divergence_terms` over the two samples: ... x (3 + weights) each.

    The candidate's grid is reversed, since its own weight is 1 - w. Estimates of KL below `least` are replaced by it in
    the frontier.
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
        "jeffreys": reference[..., 0] + candidate[..., 0],
        "exponentiated_kl": exponentiated,
        "jensen_shannon": (reference[..., 1] + candidate[..., 1]) / 2,
        "auc_divergence": 1 - area,
        "mauve": area,
        "frontier_integral": reference[..., 2] + candidate[..., 2],
    }


@dataclass(frozen=True)
class CrossFittedScores:
    """Log-ratios of texts by estimates from other folds.

    Attributes
    ----------
    earlier
        Log-ratios of both samples by estimates from earlier folds only; arbitrary numbers for texts without such
        estimates.
    order
        Order of the folds.
    without
        For each fold, the log-ratios without it, NaN for its own texts. Intervals account for the effect of its
        absence.
    """

    earlier: tuple[Array, Array]
    order: Order
    without: tuple[tuple[Array, Array], ...]


def compare_log_ratios(
    reference: Array,
    candidate: Array,
    frontier: Frontier,
    resampling: Resampling,
    scored: CrossFittedScores | None = None,
) -> list[Estimate]:
    """Compute every divergence, its interval over texts, and its p-value by permutation of texts between the samples.

    The log-ratios of two estimates are noisy, and divergences that use mixtures take noise for certainty: they would
    fall far below 0. For these (Jensen-Shannon, the frontier) the log-ratios of a fold are first scaled and shifted by
    a logistic regression on the other folds. The Jensen-Shannon divergence is then log 2 minus the cross-entropy of
    that classifier. KL use the log-ratios as they are, eq. 10-13.

    Parameters
    ----------
    reference, candidate
        log p(x) - log q(x) of the texts of both samples, in nats.
    frontier
        Scale and weights of the divergence frontier.
    resampling
        Number of resamples and permutations, level and seed.
    scored
        Cross-fitted scores, if p and q are estimates that were not fitted to the texts. None: p and q are given, or
        fitted to the texts; there is no calibration and no p-value.

    Returns
    -------
    list of estimates
        Intervals of estimates hold the values of other texts to score and to estimate from; intervals of given p and q
        are over the texts. Estimates of KL may be negative; the frontier takes these as 0. The p-values of `TESTED` are
        one-sided: a difference makes a divergence larger. Their intervals agree with them.
    """
    if not (len(reference) and len(candidate)):
        return [Estimate(name, UNDEFINED) for name in NAMES]
    rng = np.random.default_rng(resampling.seed)
    if scored is None:
        value = _plug_in(reference, candidate, frontier)
        terms_of_samples = [divergence_terms(ratios, frontier.grid) for ratios in (reference, -candidate)]
        resampled = [bootstrap_sums(terms, resampling.resamples, rng) / len(terms) for terms in terms_of_samples]
        draws = divergences_from_means(resampled[0], resampled[1], frontier.scale)
        intervals = {name: percentile_interval(draws[name], resampling.confidence) for name in NAMES}
        p_values = dict.fromkeys(NAMES, UNDEFINED)
    else:
        value = _calibrated(reference, candidate, scored.order.folds, frontier)
        intervals = _intervals((reference, candidate), scored, frontier, resampling.confidence)
        tests = _permutation_tests(scored, frontier, resampling.permutations, rng)
        p_values = {name: combined_p_value(tests.get(name, [])) if name in TESTED else UNDEFINED for name in NAMES}
    estimates = [
        Estimate(name, float(value[name]), *_widen_to_value(float(value[name]), intervals[name]), p_values[name])
        for name in NAMES
    ]
    return [agree_with_test(estimate, resampling.confidence) for estimate in estimates]


def plug_in_divergences(reference: Array, candidate: Array, frontier: Frontier) -> list[Estimate]:
    """Compute the divergences as their formulas stand, without intervals: the log-ratios may be in-sample.

    Parameters
    ----------
    reference, candidate
        log p(x) - log q(x) of the texts of both samples, in nats.
    """
    return [Estimate(name, float(value)) for name, value in _plug_in(reference, candidate, frontier).items()]


def _plug_in(reference: Array, candidate: Array, frontier: Frontier) -> dict[str, Array]:
    """Compute every divergence from the means over both samples; see `divergences_from_means`."""
    means = [divergence_terms(ratios, frontier.grid).mean(axis=0) for ratios in (reference, -candidate)]
    return divergences_from_means(means[0], means[1], frontier.scale)


def _calibrated(
    reference: Array, candidate: Array, folds: tuple[Folds, Folds], frontier: Frontier, least: float = 0.0
) -> dict[str, Array]:
    """Compute every divergence from cross-fitted log-ratios; see `divergences_from_means`."""
    calibrated_samples = calibrate_log_ratios(reference, candidate, folds)
    of_reference, of_candidate = (
        divergence_terms(ratios, frontier.grid, calibrated).mean(axis=0)
        for ratios, calibrated in ((reference, calibrated_samples[0]), (-candidate, -calibrated_samples[1]))
    )
    return divergences_from_means(of_reference, of_candidate, frontier.scale, least)


def _intervals(
    ratios: tuple[Array, Array], scored: CrossFittedScores, frontier: Frontier, confidence: float
) -> dict[str, tuple[float, float]]:
    """Compute intervals of the divergences by the jackknife over folds, each left out of all estimates.

    The frontier uses negative KL as they are: with 0 in their place, the jackknife values would not vary near equality.
    """
    value = _calibrated(*ratios, scored.order.folds, frontier, -np.inf)
    left_out: list[dict[str, Array]] = []
    for samples in scored.without:
        is_scored = [np.isfinite(sample) for sample in samples]
        if all(flags.any() for flags in is_scored):
            ratios_left = [sample[flags] for sample, flags in zip(samples, is_scored, strict=True)]
            folds = [sample[flags] for sample, flags in zip(scored.order.folds, is_scored, strict=True)]
            left_out.append(_calibrated(ratios_left[0], ratios_left[1], (folds[0], folds[1]), frontier, -np.inf))
    del value["exponentiated_kl"]  # may be infinite; its ends are those of the forward KL
    linear: dict[str, tuple[float, float]] = {}
    for name, number in value.items():
        _, low, high = interval_of_left_out(number, [each[name] for each in left_out], confidence)
        linear[name] = float(low), float(high)
    with np.errstate(over="ignore"):
        exponentiated = np.exp(linear["forward_kl"])
    ranges = {"jensen_shannon": (-np.inf, np.log(2)), "frontier_integral": (-np.inf, 1.0)}
    ranges |= {"auc_divergence": (0.0, 1.0), "mauve": (0.0, 1.0)}
    bounded = {
        name: (max(linear[name][0], ends[0]), min(linear[name][1], float(ends[1]))) for name, ends in ranges.items()
    }
    return linear | bounded | {"exponentiated_kl": (float(exponentiated[0]), float(exponentiated[1]))}


def _permutation_tests(
    scored: CrossFittedScores, frontier: Frontier, permutations: int, rng: np.random.Generator
) -> dict[str, list[FoldTest]]:
    """Compute divergences of each fold, observed and permuted, with estimates and calibration from earlier folds."""
    width = divergence_terms(np.zeros(1), frontier.grid).shape[1]

    def rows(fold: int) -> tuple[Array, Array]:
        inside = scored.order.inside(fold)
        ratios = [sample[flags] for sample, flags in zip(scored.earlier, inside, strict=True)]
        before = [np.isin(sample, [f for f in scored.order.tested() if f < fold]) for sample in scored.order.folds]
        slope, shift = _fit_increasing_log_odds(
            *(sample[flags] for sample, flags in zip(scored.earlier, before, strict=True))
        )
        # Each text has the terms of both roles, since a permutation may move it to the other sample.
        terms_of_both_roles = [
            np.hstack(
                [
                    divergence_terms(sample, frontier.grid, slope * sample + shift),
                    divergence_terms(-sample, frontier.grid, -slope * sample - shift),
                ]
            )
            for sample in ratios
        ]
        return terms_of_both_roles[0], terms_of_both_roles[1]

    def statistics(reference: Array, candidate: Array, n: int, m: int) -> dict[str, Array]:
        values = divergences_from_means(reference[..., :width] / n, candidate[..., width:] / m, frontier.scale)
        return {name: values[name] for name in TESTED}

    return fold_tests(scored.order, rows, statistics, permutations, rng)


def calibrate_log_ratios(reference: Array, candidate: Array, folds: tuple[Folds, Folds]) -> tuple[Array, Array]:
    """Scale and shift log-ratios to log-odds of the two samples, which are equally likely a priori.

    The scale (at least 0) and the shift of a fold come from the other folds, by logistic regression with a slight
    penalty on the scale. If the log-ratio does not separate them, all log-ratios are 0.
    """
    samples = (reference, candidate)
    calibrated = [np.zeros(len(sample)) for sample in samples]
    for fold in np.unique(np.concatenate(folds)):
        inside = [numbers == fold for numbers in folds]
        training = [sample[~is_inside] for sample, is_inside in zip(samples, inside, strict=True)]
        if not all(map(len, training)):
            continue
        slope, shift = _fit_log_odds(*training)
        for sample, is_inside, result in zip(samples, inside, calibrated, strict=True):
            result[is_inside] = slope * sample[is_inside] + shift
    return calibrated[0], calibrated[1]


def _fit_increasing_log_odds(reference: Array, candidate: Array) -> tuple[float, float]:
    """Return slope and shift of `_fit_log_odds`, the slope at least `LEAST_SLOPE`, so that tests use the ratios."""
    if not (len(reference) and len(candidate)):
        return LEAST_SLOPE, 0.0
    slope, shift = _fit_log_odds(reference, candidate)
    return max(slope, LEAST_SLOPE), shift


def _fit_log_odds(reference: Array, candidate: Array) -> tuple[float, float]:
    """Fit slope >= 0 and shift of the logistic regression of the sample on the log-ratio, samples equally weighted."""
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


def published_divergences(reference: Array, candidate: Array, frontier: Frontier) -> list[Estimate]:
    """Compute the divergences of the published code: swapped directions, trimmed means.

    It calls KL(q || p) forward, KL(p || q) backward and exp(-0.1 KL(q || p)) exponentiated, and omits 5 % at either end
    before the means of the frontier. There are no intervals.

    Parameters
    ----------
    reference, candidate
        log p(x) - log q(x) of the texts of both samples, to the base that the published code uses: 10 for strings (its
        mixtures are of p^0.434 and q^0.434), e for clusters, from smoothed shares.
    """
    from scipy.stats import trim_mean  # slow to import, and nothing else here needs it

    of_reference, of_candidate = (divergence_terms(ratios, frontier.grid) for ratios in (reference, -candidate))
    means = [terms.mean(axis=0) for terms in (of_reference, of_candidate)]
    trimmed = [trim_mean(terms[:, 3:], TRIM, axis=0) for terms in (of_reference, of_candidate)]
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
    return [Estimate(name, value) for name, value in values.items()]


def _widen_to_value(value: float, interval: tuple[float, float]) -> tuple[float, float]:
    """Widen an interval to hold its value, whatever the skew of the resamples."""
    return min(interval[0], value), max(interval[1], value)

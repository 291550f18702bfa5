"""Readable names of statistics."""

from collections.abc import Mapping

FULL_NAMES = {
    "auc_divergence": "divergence frontier (1 − AUC)",
    "backward_kl": "backward KL",
    "covariance_discrepancy": "difference between covariances",
    "cross_entropy": "cross-entropy",
    "energy_distance": "energy distance",
    "exponentiated_kl": "exponentiated KL",
    "forward_kl": "forward KL",
    "frontier_integral": "frontier integral",
    "jeffreys": "Jeffreys divergence",
    "jensen_shannon": "Jensen–Shannon divergence",
    "largest_difference": "largest difference of all numbers (permutation test)",
    "latent_nll": "latent NLL per text",
    "latent_ppl": "latent PPL",
    "log_odds_unlike_real": "log odds of not being real",
    "mauve": "MAUVE",
    "mmd_squared": "squared MMD",
    "nll_per_unit": "latent NLL per state",
    "posterior_entropy": "entropy of the posterior",
    "posterior_kl": "KL of the posterior to the prior",
    "posterior_margin": "certainty of the projection",
    "posterior_resolved": "share of the prior's variance explained by the words",
    "precision": "precision (share of the system's texts near a real one)",
    "recall": "recall (share of real texts near one of the system's)",
    "c2st_auc": "detectability (C2ST AUC against real text)",
    "c2st_auc_without": "detectability without the features that decide most",
    "c2st_auc_between_systems": "detectability between the two systems (C2ST AUC)",
    "token_ppl": "token PPL",
    "tvd_half_l1": "total variation of word shares",
    "tvd_sup": "largest difference in a word's share",
    "units": "number of states",
    "word_ppl": "word PPL",
}
"""Statistic -> readable name, for statistics that several critics have."""

SUFFIXES = {
    "_minimum_detectable_difference": "{}: smallest detectable difference",
    "_minimum_detectable": "{}: smallest detectable",
    "_mean_difference": "{}: difference of means",
    "_cliffs_delta": "{}: Cliff's delta",
    "_hedges_g": "{}: Hedges' g",
    "_ks": "distribution of {} (Kolmogorov–Smirnov D)",
    "_mean": "{}, mean",
    "_difference": "{}: difference from real text",
    "_ratio": "{}, ratio to real text",
    "_corrected": "{}, corrected for small-sample bias",
    "_at_half": "{} of random halves",
    "_floor": "{} within real text",
    "_bias": "{}: bias",
    "_seed_sd": "{}: SD over seeds",
    "_per_word": "{} per word",
    "_ranked": "{}, of ranks",
    "_compared": "{} at equal token counts",
    "_d_own": "{}: D to its own law",
    "_d_reference": "{}: D to real text's law",
    "_d_empirical": "{}: D to real text",
    "_share": "share of {}",
}
"""Suffix of a name -> template around the readable name of the rest; the first matching suffix applies."""

PREFIXES = {
    "c2st_auc_share_": "share of the detectability, feature {}",
    "reference_": "{} of real text",
    "latent_ppl_": "latent PPL, {}",
}


def readable_name(name: str, quantities: Mapping[str, str]) -> str:
    """Return the readable name: "duplicate_4grams_mean" becomes "repeated 4-grams (share), mean".

    Parameters
    ----------
    name
        Full name of the statistic.
    quantities
        Critic's own names: full name or prefix of a statistic -> readable name.
    """
    names = {**FULL_NAMES, **quantities}
    if name in names:
        return names[name]
    for suffix, template in SUFFIXES.items():
        if name.endswith(suffix) and len(name) > len(suffix):
            return template.format(readable_name(name.removesuffix(suffix), quantities))
    for prefix, template in PREFIXES.items():
        if name.startswith(prefix) and len(name) > len(prefix):
            return template.format(readable_name(name.removeprefix(prefix), quantities))
    return name.replace("_", " ")

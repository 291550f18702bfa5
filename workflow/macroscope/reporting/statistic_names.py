"""What a person reads in place of a statistic's name."""

from collections.abc import Mapping

WHOLE = {
    "auc_divergence": "divergence frontier (1 − AUC)",
    "backward_kl": "backward KL",
    "covariance_discrepancy": "difference of the covariances",
    "cross_entropy": "cross-entropy",
    "energy_distance": "energy distance",
    "exponentiated_kl": "exponentiated KL",
    "forward_kl": "forward KL",
    "frontier_integral": "frontier integral",
    "jensen_shannon": "Jensen–Shannon divergence",
    "latent_nll": "latent NLL a text",
    "latent_ppl": "latent PPL",
    "log_odds_unlike_real": "log odds that it is not real",
    "mauve": "MAUVE",
    "mmd_squared": "squared MMD",
    "nll_per_unit": "latent NLL a state",
    "posterior_entropy": "entropy of the posterior",
    "posterior_kl": "KL of the posterior to the prior",
    "posterior_margin": "certainty of the projection",
    "posterior_resolved": "share of the prior's variance that the words take away",
    "precision": "precision (share of its texts near a real one)",
    "recall": "recall (share of real texts near one of its)",
    "c2st_auc": "told apart from real text",
    "token_ppl": "token PPL",
    "tvd_half_l1": "total variation of word shares",
    "tvd_sup": "largest difference of a word's share",
    "units": "number of states",
    "word_ppl": "word PPL",
}
"""Statistics of more than one critic, by their whole name."""

ENDS = {
    "_minimum_detectable_difference": "{}: smallest difference to be seen",
    "_minimum_detectable": "{}: smallest to be seen",
    "_mean_difference": "{}: difference of means",
    "_cliffs_delta": "{}: Cliff's delta",
    "_hedges_g": "{}: Hedges' g",
    "_ks": "distribution of {} (Kolmogorov–Smirnov D)",
    "_mean": "{}, mean",
    "_difference": "{}: difference to real text",
    "_ratio": "{}, ratio to real text",
    "_corrected": "{}, without the bias of small samples",
    "_at_half": "{} of random halves",
    "_floor": "{} within real text",
    "_bias": "{}: bias",
    "_seed_sd": "{}: SD over seeds",
    "_per_word": "{} a word",
    "_ranked": "{}, of the ranks",
    "_compared": "{} in as many tokens",
    "_d_own": "{}: D to its own law",
    "_d_reference": "{}: D to real text's law",
    "_d_empirical": "{}: D to real text",
    "_share": "share of {}",
}
"""End of a name -> what is said of what stands before it; the first that fits holds."""

BEGINNINGS = {"reference_": "{} of real text", "latent_ppl_": "latent PPL, {}"}


def readable(name: str, quantities: Mapping[str, str]) -> str:
    """Name of a statistic as a person reads it: "duplicate_4grams_mean" is "repeated 4-grams (share), mean".

    Parameters
    ----------
    name
        Of the statistic, in full.
    quantities
        What a critic calls its own quantities: a statistic's name, or its beginning -> words.
    """
    known = {**WHOLE, **quantities}
    if name in known:
        return known[name]
    for end, said in ENDS.items():
        if name.endswith(end) and len(name) > len(end):
            return said.format(readable(name.removesuffix(end), quantities))
    for beginning, said in BEGINNINGS.items():
        if name.startswith(beginning) and len(name) > len(beginning):
            return said.format(readable(name.removeprefix(beginning), quantities))
    return name.replace("_", " ")

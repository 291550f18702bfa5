"""The latent PPL that classification errors alone give to real section orders.

A section classifier that errs turns real orders into less likely ones. Its latent PPL of a system then exceeds that of
real text even if the system orders its sections like real text. The errors explain a difference if real orders, with
as many errors as the classifier makes on the system's texts, have as large a latent PPL.

Given the types z of a document, the classifier assigns section m a type from row z_m of a matrix C. Errors in different
sections are independent, so that the expected T(x) of inferred types is that of a posterior with the rows C[z_m]. C is
the confusion matrix on validation sections with its errors scaled to the system's error rate: the share of titled
sections that the classifier gets wrong or, without titles, one minus the mean probability of the most probable type.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from macroscope.critics.coherence.confusion import read_confusion
from macroscope.critics.coherence.latents import Batch, read_batches
from macroscope.critics.coherence.prior import UNKNOWN, Priors, SectionPrior, flatten
from macroscope.critics.coherence.smoothing import Array, Sequences
from macroscope.critics.findings import Findings
from macroscope.options import CONTROL
from macroscope.statistics.tidy import SIGNIFICANT

TITLED = 0.5
"""Share of a system's documents with known titles from which its error rate is measured on them."""
COLUMNS = ["system", "error_rate", "latent_ppl", "by_errors_alone", "explained"]


def explain_by_errors(findings: Findings) -> pd.DataFrame:
    """Compare each system's latent PPL with that which classification errors alone give to real section orders.

    Returns
    -------
    data frame
        One row per system, the control first; columns `COLUMNS`. `explained`: the system's latent PPL is significantly
        above that of real text, its interval does not lie above the value by errors alone, and its own titles do not
        show the difference either. Empty under the published convention, which does not define T(x) as an expectation,
        and if no real document is fully titled.
    """
    prior = Priors.load(findings.folder / "prior").default
    orders = _real_orders(findings, prior)
    if prior.published or not orders:
        return pd.DataFrame(columns=COLUMNS)
    confusion = read_confusion(findings.folder / "prior" / "confusion.json")
    indexed = findings.statistics.set_index(["system", "statistic"])
    control = indexed.loc[(CONTROL, "latent_ppl"), "value"]
    rows = []
    for system in findings.systems:
        observed = indexed.loc[(system, "latent_ppl")]
        rate = _error_rate(findings, indexed, system)
        alone = expected_ppl(orders, prior, scale_errors(confusion, rate))
        differs = observed["p_adjusted"] < SIGNIFICANT and observed["value"] > control
        shown = observed["ci_low"] > alone or _differs_by_titles(indexed, system)
        rows.append((system, rate, observed["value"], alone, bool(differs and not shown)))
    return pd.DataFrame(rows, columns=COLUMNS)


def scale_errors(confusion: Array, rate: float) -> Array:
    """Return a confusion matrix with the same kinds of errors, and `rate` as the share of errors in every row.

    A type without errors on validation sections is confused with all others alike.
    """
    types = len(confusion)
    errors = confusion * (1 - np.eye(types))
    totals = errors.sum(axis=1, keepdims=True)
    uniform = (1 - np.eye(types)) / max(1, types - 1)
    kinds = np.where(totals > 0, errors / np.where(totals > 0, totals, 1.0), uniform)
    return np.asarray((1 - rate) * np.eye(types) + rate * kinds)


def expected_ppl(orders: Sequences, prior: SectionPrior, confusion: Array) -> float:
    """Compute the latent PPL of inferred types, given the true orders and the classifier's confusion matrix."""
    states, lengths = flatten(orders)
    nll = prior.expected_nll(confusion[states], lengths)
    return float(np.exp(nll.sum() / prior.units(lengths).sum()))


def _real_orders(findings: Findings, prior: SectionPrior) -> list[list[int]]:
    """Return the section types, by their titles, of the control's documents whose titles are all known."""
    index: dict[str | None, int] = {name: number for number, name in enumerate(prior.types)}
    gold = [gold for batch in read_batches(findings.latents(CONTROL)) for gold in batch.gold if gold is not None]
    orders = [[index.get(name, UNKNOWN) for name in names] for names in gold]
    return [order for order in orders if UNKNOWN not in order]


def _error_rate(findings: Findings, indexed: pd.DataFrame, system: str) -> float:
    """Return the share of a system's sections that the classifier gets wrong; see the module's docstring."""
    agreement = (system, "title_agreement_share")
    if agreement in indexed.index:
        row, documents = indexed.loc[agreement], indexed.loc[(system, "latent_ppl"), "n_candidate"]
        if np.isfinite(row["value"]) and row["n_candidate"] >= TITLED * documents:
            return float(1 - row["value"])
    return _mean_doubt(read_batches(findings.latents(system)))


def _differs_by_titles(indexed: pd.DataFrame, system: str) -> bool:
    """Return whether a system's latent PPL by its own titles lies above that of real text: no classifier is involved.

    A system whose titles do not fit its sections disagrees with the classifier without an error of the classifier.
    """
    keys = [(name, "latent_ppl_gold") for name in (system, CONTROL)]
    if any(key not in indexed.index for key in keys):
        return False
    of_system, of_control = (indexed.loc[key] for key in keys)
    return bool(of_system["ci_low"] > of_control["ci_high"])


def _mean_doubt(batches: Iterable[Batch]) -> float:
    """Return one minus the mean probability of the most probable type, over sections."""
    doubts = np.concatenate([1 - batch.posterior.max(axis=1).astype(float) for batch in batches])
    return float(doubts.mean())

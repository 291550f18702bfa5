"""Chapter of the coherence critic in the report of a corpus."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from macroscope.critics.coherence.latents import Batch, read_batches, read_info
from macroscope.critics.coherence.prior import UNKNOWN, Priors, SectionPrior, flatten
from macroscope.critics.coherence.smoothing import Array, Sequences
from macroscope.critics.coherence.validation import add_interval, check_classifier, read_confusion
from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.report_tables import divergence_table, statistics_table
from macroscope.files import read_json
from macroscope.options import CONTROL
from macroscope.phrases import number
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

# ---- reading of sections ---------------------------------------------------------------------------------------------
# The latent PPL that real section orders have if they are read like the system's sections.
#
# A section classifier that errs, or doubts, turns real orders into less likely ones. Its latent PPL of a system then
# exceeds that of real text even if the system orders its sections like real text. How it reads the sections explains a
# difference if real orders, read as it reads the system's sections, have as large a latent PPL.
#
# Given the types z of a document, the classifier gives section m the posterior of row z_m of a matrix C. Readings of
# different sections are independent, so that the expected T(x) is that of a posterior with the rows C[z_m]. C has the
# mean posterior of the system's sections with this title: a section shuffled inside gets a flat posterior although its
# most probable type is right. For types and systems without titles it is the confusion matrix on validation sections
# with its errors scaled to one minus the mean probability of the most probable type, or to the errors on titles. That
# probability says too little of sections that are harder to read than those of validation: if a system without titles
# is read less surely than real text, the reading may explain any latent PPL.

TITLED = 0.5
"""Share of a system's documents with known titles from which its error rate is measured on them."""
COLUMNS = ["system", "error_rate", "latent_ppl", "by_errors_alone", "explained"]


def explain_by_errors(findings: Findings) -> pd.DataFrame:
    """Compare each system's latent PPL with that of real section orders that are read like the system's sections.

    Returns
    -------
    data frame
        One row per system, the control first; columns `COLUMNS`. `explained`: the system's latent PPL is significantly
        above that of real text, or a classifier detects the system and its sections are read otherwise than real ones;
        its interval does not lie above that of real orders, or it has no titles and its sections are read less surely;
        and its own titles do not show the difference either.
        Empty under the published convention, which does not define T(x) as an expectation, and if no real document is
        fully titled.
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
        batches = read_batches(findings.latents(system)) if _is_titled(indexed, system) else ()
        alone = expected_ppl(orders, prior, mean_posteriors(batches, prior.types, scale_errors(confusion, rate)))
        differs = observed["p_adjusted"] < SIGNIFICANT and observed["value"] > control
        differs |= _is_read_otherwise(indexed, system) and _detectability(indexed, system)["ci_low"] > 0.5  # chance
        is_unsure = not _is_titled(indexed, system) and _is_read_otherwise(indexed, system)
        shown = (observed["ci_low"] > alone and not is_unsure) or _differs_by_titles(indexed, system)
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
    if _is_titled(indexed, system):
        return float(1 - indexed.loc[(system, "title_agreement_share"), "value"])
    return _mean_doubt(read_batches(findings.latents(system)))


def _is_titled(indexed: pd.DataFrame, system: str) -> bool:
    agreement = (system, "title_agreement_share")
    if agreement not in indexed.index:
        return False
    row, documents = indexed.loc[agreement], indexed.loc[(system, "latent_ppl"), "n_candidate"]
    return bool(np.isfinite(row["value"]) and row["n_candidate"] >= TITLED * documents)


def mean_posteriors(batches: Iterable[Batch], types: Sequence[str], default: Array) -> Array:
    """Return the mean posterior of the sections with each title (types x types); `default` for types without any."""
    sums, counts = np.zeros_like(default), np.zeros(len(default))
    for batch in batches:
        titles = [title for n, gold in zip(batch.lengths, batch.gold, strict=True) for title in gold or [None] * n]
        number = pd.Categorical(titles, categories=list(types)).codes
        np.add.at(sums, number[number >= 0], batch.posterior[number >= 0])
        counts += np.bincount(number[number >= 0], minlength=len(counts))
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], default)


def _differs_by_titles(indexed: pd.DataFrame, system: str) -> bool:
    """Return whether a system's latent PPL by its own titles lies above that of real text: no classifier is involved.

    A system whose titles do not fit its sections disagrees with the classifier without an error of the classifier.
    """
    keys = [(name, "latent_ppl_gold") for name in (system, CONTROL)]
    if any(key not in indexed.index for key in keys):
        return False
    of_system, of_control = (indexed.loc[key] for key in keys)
    return bool(of_system["ci_low"] > of_control["ci_high"])


def _detectability(indexed: pd.DataFrame, system: str) -> pd.Series:
    return indexed.reindex([(system, C2ST_AUC)]).iloc[0]


def _is_read_otherwise(indexed: pd.DataFrame, system: str) -> bool:
    """Return whether sections agree less with their titles than real ones do or, without titles, are less certain."""
    name = "title_agreement_share" if _is_titled(indexed, system) else "posterior_margin"
    of_system, control = (indexed.reindex([(each, name)]).iloc[0] for each in (system, CONTROL))
    return bool(of_system["p_adjusted"] < SIGNIFICANT and of_system["value"] < control["value"])


def _mean_doubt(batches: Iterable[Batch]) -> float:
    """Return one minus the mean probability of the most probable type, over sections."""
    doubts = np.concatenate([1 - batch.posterior.max(axis=1).astype(float) for batch in batches])
    return float(doubts.mean())


# ---- report ----------------------------------------------------------------------------------------------------------

PRIOR_COLUMNS = {
    "latent_ppl": "latent PPL",
    "latent_ppl_back_off": "back-off",
    "latent_ppl_additive_*": "additive, {}",
    "latent_ppl_aggregated": "of inferred transitions",
    "latent_ppl_published": "as published",
    "unseen_transition_share": "unseen transitions, share",
    "latent_ppl_seen": "PPL of seen transitions",
}
PROJECTION_COLUMNS = {
    "latent_ppl": "latent PPL",
    "latent_ppl_corrected": "corrected for classification errors",
    "latent_ppl_gold": "by section titles",
    "posterior_entropy": "entropy of the posterior, nats per section",
    "posterior_margin": "margin of the most probable type",
    "title_agreement_share": "agreement with titles, share",
}


def tabulate(findings: Findings, columns: dict[str, str]) -> pd.DataFrame:
    """Tabulate available statistics, one row per system; * in a name matches any suffix."""
    labels: dict[str, tuple[str, float]] = {}
    for name, label in columns.items():
        stem, star, _ = name.partition("*")
        present = (each for each in findings.statistics["statistic"].unique() if each == name or star)
        labels |= {each: (label.format(each.removeprefix(stem)), 1.0) for each in present if each.startswith(stem)}
    return statistics_table(findings.statistics, labels)


COMMON_ERRORS = 5


def items(findings: Findings) -> list[ReportItem]:
    """Return the tables, figures and documents of the chapter, in order."""
    inference = findings.folder / "inference"
    documents = read_csv(inference / "validation_documents.csv")
    validation = add_interval(read_json(inference / "validation.json"), documents, findings.confidence)
    weakness = check_classifier(validation)
    report_items = [
        ReportItem(
            "section_classifier",
            "Section classifier",
            table=pd.DataFrame([validation]),
            warning=weakness,
            unusable=weakness is not None,
        ),
        ReportItem("projection_quality", "Projection quality by system", table=tabulate(findings, PROJECTION_COLUMNS)),
        *_errors_item(findings),
        _prior_item(findings),
        ReportItem(
            "reliability",
            "Calibration of the section classifier",
            figure=findings.svg("reliability"),
        ),
        ReportItem("projection", "Projected documents", table=_projection_counts(findings)),
        ReportItem(
            "transition_errors", "Most common transition errors", table=_common_errors(findings), shows_texts=True
        ),
    ]
    title = "Divergences between the section transitions"
    report_items.append(ReportItem("transition_divergences", title, table=divergence_table(findings.statistics)))
    for system in findings.candidates:
        title = f"Section transitions of {system} compared with real text"
        figure = findings.evidence(system, "transition_graph.svg")
        report_items.append(
            ReportItem(f"transition_graph_{system}", title, figure=figure, caption="transition_graph", system=system)
        )
    for system in findings.systems:
        worst = read_json(findings.evidence(system, "worst_documents.json"))
        title = f"Least likely documents of {system}"
        report_items.append(
            ReportItem(f"worst_documents_{system}", title, documents=worst, caption="worst_documents", system=system)
        )
        if repeating := read_json(findings.evidence(system, "repetition.json")):
            title = f"A repeated section of {system}"
            report_items.append(
                ReportItem(f"repetition_{system}", title, documents=repeating, caption="repetition", system=system)
            )
    return report_items


def _errors_item(findings: Findings) -> list[ReportItem]:
    """Return the table of the latent PPL by classification errors alone, if it is defined."""
    table = explain_by_errors(findings)
    if table.empty:
        return []
    shown = pd.DataFrame(
        {
            "system": table["system"],
            "sections that are classified wrongly, share": [number(rate) for rate in table["error_rate"]],
            "latent PPL": [number(value) for value in table["latent_ppl"]],
            "real orders, read like the system's sections": [number(value) for value in table["by_errors_alone"]],
            "reading may explain the difference": table["explained"].map({True: "yes: not usable", False: "no"}),
        }
    )
    explained = {system: describe_reading(findings, system) for system in table.loc[table["explained"], "system"]}
    title = "Latent PPL by classification errors alone"
    return [ReportItem("classification_errors", title, table=shown, unusable_systems=explained)]


def describe_reading(findings: Findings, system: str) -> str:
    """Return the verdict on a system that the reading of its sections explains, with its detectability."""
    tested = _detectability(findings.statistics.set_index(["system", "statistic"]), system)
    detected = ""
    if tested["ci_low"] > 0.5:  # chance
        detected = (
            f"; a classifier tells them from real text in {100 * tested['value']:.0f} % of pairs, perhaps by that"
        )
    return (
        "The reading of the sections, with its doubts and errors, may explain the latent PPL: their order is not"
        f" shown to differ{detected}."
    )


def _prior_item(findings: Findings) -> ReportItem:
    """Return the table of latent PPL under every prior, with a warning if the smoothing is not identified."""
    choice = read_json(findings.folder / "prior" / "validation.json")
    warning = None
    if choice["at_edge"]:
        warning = (
            "The smoothing of the prior is at the edge of its search range: the training documents do not identify it,"
            " and the latent PPL of systems with unseen transitions depends on it. The table compares other priors."
        )
    return ReportItem("priors", "Sensitivity to the prior", table=tabulate(findings, PRIOR_COLUMNS), warning=warning)


def _projection_counts(findings: Findings) -> pd.DataFrame:
    rows = [{"system": system, **read_info(findings.latents(system)).counts} for system in findings.systems]
    return pd.DataFrame(rows)


def _common_errors(findings: Findings) -> pd.DataFrame:
    """Tabulate the most common errors of every system (deng2022 Table 12)."""
    columns = ["previous", "next", "count", "frequency", "reference_frequency", "prior_probability", "repetition"]
    frames = []
    for system, table in findings.tables("transitions.csv", control=True):
        errors = table[table["error"] & (table["count"] > 0)].head(COMMON_ERRORS)
        repetition = errors["repetition"].map({True: "yes", False: ""})
        frames.append(errors[columns].assign(system=system, repetition=repetition))
    table = pd.concat(frames, ignore_index=True)
    return table[["system", *columns]]

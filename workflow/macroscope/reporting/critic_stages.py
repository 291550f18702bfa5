"""Contributions of critics to tables, figures and report: their stages of reporting, and what these are given."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import Critic
from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.language_fit import FULL, language_fit
from macroscope.errors import MacroscopeError, PluginError, blame_plugins
from macroscope.gaps import FAILED, Gap
from macroscope.options import is_matched
from macroscope.reporting.formats import look_up_estimate
from macroscope.runs.results import Results

log = logging.getLogger("macroscope")
T = TypeVar("T")


def read_findings(results: Results, statistics: pd.DataFrame, figures: Path) -> Iterator[Findings]:
    """Yield the findings of every critic on every corpus, without those at matched length.

    Parameters
    ----------
    statistics
        All numbers of the run, with p_adjusted.
    figures
        Folder of the figures.
    """
    config = results.config
    statistics = statistics[~statistics["system"].map(is_matched)]
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    for (critic, corpus), systems in results.contents.chapters.items():
        yield Findings(
            critic,
            corpus,
            results.folder / "critics" / critic / corpus,
            list(systems),
            select_rows(statistics, critic, corpus),
            config.critic(critic),
            config.statistics.confidence,
            figures,
            _read_perplexities(results, indexed, corpus, systems),
            results.config.corpora[corpus].language,
        )


def _read_perplexities(results: Results, indexed: pd.DataFrame, corpus: str, systems: Sequence[str]) -> pd.DataFrame:
    """Return the perplexities of the systems whose models have one; see `Findings.perplexities`."""
    rows = {}
    for system in systems:
        key = (corpus, results.contents.models[system], "perplexity")
        row = look_up_estimate(indexed, (*key, "word_ppl"), "word_ppl") | look_up_estimate(
            indexed, (*key, "token_ppl"), "token_ppl"
        )
        if not pd.isna(row["word_ppl"]):
            rows[system] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def plot_overview(findings: Findings) -> list[Gap]:
    """Plot a critic's own figures of all systems of a corpus; return the failure, if it failed."""
    return _run_stage(findings, "overview", None)[1]


def report_items(findings: Findings) -> tuple[list[ReportItem], list[Gap]]:
    """Return the items that a critic contributes to the report of a corpus, and its failure, if it failed.

    Items whose table is empty are left out.
    """
    critic = get_critic(findings.critic)
    items, failures = _run_stage(findings, "report", list[ReportItem]())
    shown = [item for item in items if item.table is None or len(item.table)]
    return [*shown, *_language_items(critic.data, findings)], failures


def _run_stage(findings: Findings, stage: str, default: T) -> tuple[T, list[Gap]]:
    """Return the result of a critic's stage of reporting, or a default and the failure.

    Defects of critics of this package are not contained: their tests have to see them.
    """
    critic = get_critic(findings.critic)
    if stage not in critic.data.stages:
        return default, []
    try:
        with blame_plugins():
            return critic.stage(stage).function(critic.package)(findings), []
    except MacroscopeError as error:
        place = {"corpus": findings.corpus, "critic": findings.critic, "stage": stage}
        failure = Gap(kind=FAILED, **place, explanation=str(error))
        traceback = error.traceback if isinstance(error, PluginError) else ""
        log.warning("%s%s %s", f"{traceback}\n" if traceback else "", failure.name, failure.note)
        return default, [failure]


def _language_items(critic: Critic, findings: Findings) -> list[ReportItem]:
    """Return a warning about the language of the texts, if the critic does not fit it in full."""
    fit = language_fit(critic, findings.options, findings.language)
    if fit.level == FULL:
        return []
    warning = "; ".join((*fit.refusals, *fit.limits))
    return [ReportItem("language", "Language", warning=f"{warning[0].upper()}{warning[1:]}.", is_general=True)]


def select_rows(statistics: pd.DataFrame, critic: str, corpus: str) -> pd.DataFrame:
    return statistics[(statistics["critic"] == critic) & (statistics["corpus"] == corpus)]

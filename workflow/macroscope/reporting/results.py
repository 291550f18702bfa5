"""Access to the result files of a run, from which tables, figures and report are made."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from macroscope.config.schema import load_config
from macroscope.critics import get_critic
from macroscope.critics.declaration import Critic
from macroscope.critics.findings import Findings, ReportItem
from macroscope.critics.language_fit import FULL, language_fit
from macroscope.documents import Provenance, read_provenance
from macroscope.errors import MacroscopeError, PluginError, blame_plugins
from macroscope.files import read_json
from macroscope.gaps import FAILED, Gap
from macroscope.options import is_matched
from macroscope.plan import Plan
from macroscope.reporting.formats import look_up_estimate
from macroscope.systems.options import Description, title_setting
from macroscope.tables import read_csv

log = logging.getLogger("macroscope")
T = TypeVar("T")


class Results:
    """Results of a run, read from the folder in which its effective config is.

    Parameters
    ----------
    config
        Effective config, results/<run>/config.json. All other files are found from its folder, which may be a local
        copy of a remote storage.
    """

    def __init__(self, config: Path) -> None:
        self.plan = Plan(load_config(config))
        self.folder = config.parent

    def local(self, path: str) -> Path:
        """Return where a path of the plan, results/<run>/..., is."""
        return self.folder / Path(path).relative_to(self.plan.results)

    def place(self, name: str, critic: str, **wildcards: str) -> Path:
        """Return the path of a critic's output; `name` is a key of `plan.critics.PLACES`."""
        return self.local(self.plan.critics.place(name, critic, **wildcards))

    def statistics(self) -> pd.DataFrame:
        """Read all tidy statistics: critics in the order of the config, then perplexities."""
        tables = [read_csv(self.local(path)) for path in self.plan.reporting.statistics()]
        return pd.concat(tables, ignore_index=True)

    def corpora(self) -> list[str]:
        """Return the names of the run's corpora."""
        return self.plan.critics.corpora_used

    def systems(self, corpus: str) -> list[str]:
        """Return the systems evaluated against a corpus, the control first."""
        return [system for c, system in self.plan.critics.pairs if c == corpus]

    def language_models(self) -> list[tuple[str, str]]:
        """Return every (corpus, language model)."""
        return self.plan.reporting.language_models()

    def measured_systems(self) -> list[tuple[str, str]]:
        """Return every other (corpus, system) that has a perplexity."""
        return self.plan.reporting.measured_systems()

    def trained_models(self) -> list[tuple[str, str]]:
        """Return every (corpus, language model) that was trained rather than used as published."""
        return self.plan.reporting.trained_models()

    def corpus_table(self, name: str) -> pd.DataFrame:
        """Read a table ("filters" or "summary") of all corpora, concatenated, with a column `corpus`."""
        frames = [
            read_csv(self.folder / "corpora" / corpus / f"{name}.csv").assign(corpus=corpus)
            for corpus in self.corpora()
        ]
        table = pd.concat(frames, ignore_index=True)
        return table[["corpus", *(column for column in table if column != "corpus")]]

    def description(self, corpus: str, system: str) -> Description:
        """Describe a system on a corpus; whether it writes titles is a setting only if the corpus has titles."""
        description = self.plan.systems.all[system].description(self.plan.config)
        if description.setting == title_setting(False) and corpus not in self._titled_corpora:
            return replace(description, setting="")
        return description

    @cached_property
    def _titled_corpora(self) -> set[str]:
        """The corpora with section titles."""
        summary = self.corpus_table("summary")
        return set(summary.loc[summary["section_types"] > 0, "corpus"])

    def corpus_provenance(self, corpus: str) -> Provenance:
        """Read the provenance of a corpus's documents."""
        return read_provenance(self.folder / "corpora" / corpus / "documents.parquet")

    def samples(self) -> Iterator[tuple[str, str, Provenance]]:
        """Yield (corpus, system, provenance of its samples)."""
        for corpus, system in self.plan.reporting.sampled():
            yield corpus, system, read_provenance(self.folder / "systems" / corpus / system / "samples.parquet")

    def known_truth(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """Yield (critic, corpus, system, theoretical values) for all systems with known truth."""
        for (critic, corpus, system), path in self.plan.reporting.known_truths().items():
            yield critic, corpus, system, read_json(self.local(path))

    def model_size(self, corpus: str, system: str) -> dict[str, int]:
        """Read the number of parameters, vocabulary size and context window (tokens) of a language model."""
        return read_json(self.folder / "systems" / corpus / system / "model" / "size.json")

    def training_log(self, corpus: str, system: str) -> pd.DataFrame:
        """Read the losses of a language model's training (nats per token) by step."""
        return read_csv(self.folder / "systems" / corpus / system / "model" / "training_log.csv")

    def findings(self, statistics: pd.DataFrame, figures: Path) -> Iterator[Findings]:
        """Yield the findings of every critic on every corpus, without those at matched length.

        Parameters
        ----------
        statistics
            All numbers of the run, with p_adjusted.
        figures
            Folder of the figures.
        """
        config = self.plan.config
        statistics = statistics[~statistics["system"].map(is_matched)]
        indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
        for (critic, corpus), systems in self.plan.critics.chapters.items():
            yield Findings(
                critic,
                corpus,
                self.folder / "critics" / critic / corpus,
                systems,
                select_rows(statistics, critic, corpus),
                config.critic(critic),
                config.statistics.confidence,
                figures,
                self._perplexities(indexed, corpus, systems),
                self.plan.corpora.options(corpus).language,
            )

    def _perplexities(self, indexed: pd.DataFrame, corpus: str, systems: Sequence[str]) -> pd.DataFrame:
        """Return the perplexities of the systems whose models have one; see `Findings.perplexities`."""
        rows = {}
        for system in systems:
            key = (corpus, self.plan.systems.language_models.model_of(system), "perplexity")
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
    """Return the items that a critic contributes to the report of a corpus, and its failure, if it failed."""
    critic = get_critic(findings.critic)
    items, failures = _run_stage(findings, "report", list[ReportItem]())
    return [*items, *_language_items(critic.data, findings)], failures


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
    """Return the rows of a critic on a corpus."""
    return statistics[(statistics["critic"] == critic) & (statistics["corpus"] == corpus)]

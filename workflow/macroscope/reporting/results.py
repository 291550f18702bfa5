"""The files of a run, as tables: what tables, figures and report are made from."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.config.schema import load_config
from macroscope.critics import critic_named
from macroscope.critics.findings import Findings, ReportItem
from macroscope.documents import Provenance, read_provenance
from macroscope.files import read_json
from macroscope.plan import Plan
from macroscope.reporting.formats import estimate
from macroscope.tables import read_csv


class Results:
    """The results of a run.

    Parameters
    ----------
    config
        The effective config, which lies beside the results.
    folder
        Of the run; default: where a run in the working directory has it.
    """

    def __init__(self, config: Path, folder: Path | None = None) -> None:
        self.plan = Plan(load_config(config))
        self.folder = Path(self.plan.results) if folder is None else folder

    def place(self, name: str, critic: str, **wildcards: str) -> Path:
        """Where a critic left something of `plan.critics.PLACES`."""
        return self.folder / Path(self.plan.critics.place(name, critic, **wildcards)).relative_to(self.plan.results)

    def statistics(self) -> pd.DataFrame:
        """All tidy statistics: critics in the order of the config, then perplexities."""
        tables = [read_csv(path) for path in self.plan.reporting.statistics()]
        return pd.concat(tables, ignore_index=True)

    def corpora(self) -> list[str]:
        """Corpora of the run."""
        return self.plan.critics.corpora_used

    def systems(self, corpus: str) -> list[str]:
        """Systems that were judged against a corpus, the control first."""
        return [system for c, system in self.plan.critics.pairs if c == corpus]

    def language_models(self) -> list[tuple[str, str]]:
        """Every (corpus, language model)."""
        return self.plan.reporting.language_models()

    def measured_systems(self) -> list[tuple[str, str]]:
        """Every other (corpus, system) that has a perplexity."""
        return self.plan.reporting.measured_systems()

    def trained_models(self) -> list[tuple[str, str]]:
        """Every (corpus, language model) that was trained, not taken as published."""
        return self.plan.reporting.trained_models()

    def corpus_table(self, name: str) -> pd.DataFrame:
        """A table (filters, summary) of all corpora, one below the other, with a column `corpus`."""
        frames = [
            read_csv(self.folder / "corpora" / corpus / f"{name}.csv").assign(corpus=corpus)
            for corpus in self.corpora()
        ]
        table = pd.concat(frames, ignore_index=True)
        return table[["corpus", *(column for column in table if column != "corpus")]]

    def corpus_provenance(self, corpus: str) -> Provenance:
        """Provenance of a corpus's documents."""
        return read_provenance(self.folder / "corpora" / corpus / "documents.parquet")

    def samples(self) -> Iterator[tuple[str, str, Provenance]]:
        """(corpus, system, provenance of its samples)."""
        for corpus, system in self.plan.critics.pairs:
            yield corpus, system, read_provenance(self.folder / "systems" / corpus / system / "samples.parquet")

    def known_truth(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """(critic, corpus, system, what theory gives) wherever it gives anything."""
        for (critic, corpus, system), path in self.plan.critics.known_truths().items():
            yield critic, corpus, system, read_json(Path(path))

    def model_size(self, corpus: str, system: str) -> dict[str, int]:
        """Parameters, size of the vocabulary, and context window in tokens of a language model."""
        return read_json(self.folder / "systems" / corpus / system / "model" / "size.json")

    def training_log(self, corpus: str, system: str) -> pd.DataFrame:
        """Losses of a language model's training (nats a token) by step."""
        return read_csv(self.folder / "systems" / corpus / system / "model" / "training_log.csv")

    def findings(self, statistics: pd.DataFrame, figures: Path) -> Iterator[Findings]:
        """What every critic found on every corpus.

        Parameters
        ----------
        statistics
            All numbers of the run, with p_adjusted.
        figures
            Folder of the figures.
        """
        config = self.plan.config
        indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
        for (critic, corpus), systems in self.plan.critics.chapters.items():
            yield Findings(
                critic,
                corpus,
                self.folder / "critics" / critic / corpus,
                systems,
                rows_of(statistics, critic, corpus),
                config.critic(critic),
                config.statistics.confidence,
                figures,
                self._perplexities(indexed, corpus, systems),
            )

    def _perplexities(self, indexed: pd.DataFrame, corpus: str, systems: Sequence[str]) -> pd.DataFrame:
        """Perplexities of those systems whose models have any; see `Findings.perplexities`."""
        rows = {}
        for system in systems:
            key = (corpus, self.plan.systems.language_models.model_of(system), "perplexity")
            row = estimate(indexed, (*key, "word_ppl"), "word_ppl") | estimate(
                indexed, (*key, "token_ppl"), "token_ppl"
            )
            if not pd.isna(row["word_ppl"]):
                rows[system] = row
        return pd.DataFrame.from_dict(rows, orient="index")


def overview(findings: Findings) -> None:
    """Draw what a critic draws of all systems of a corpus."""
    critic = critic_named(findings.critic)
    if "overview" in critic.data.stages:
        critic.stage("overview").function(critic.package)(findings)


def report_items(findings: Findings) -> list[ReportItem]:
    """What a critic contributes to the report of a corpus."""
    critic = critic_named(findings.critic)
    return critic.stage("report").function(critic.package)(findings) if "report" in critic.data.stages else []


def rows_of(statistics: pd.DataFrame, critic: str, corpus: str) -> pd.DataFrame:
    """Numbers of a critic on a corpus."""
    return statistics[(statistics["critic"] == critic) & (statistics["corpus"] == corpus)]

"""The files of a run, as tables: what tables, figures and report are made from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.config.schema import load_config
from macroscope.critics.critic import ReportItem, load
from macroscope.documents import Provenance, read_provenance
from macroscope.files import read_json
from macroscope.plan import Plan


class Results:
    """The results of a run.

    Parameters
    ----------
    config
        The effective config, which lies beside the results.
    """

    def __init__(self, config: Path) -> None:
        self.plan = Plan(load_config(config))
        self.folder = Path(self.plan.results)

    def statistics(self) -> pd.DataFrame:
        """All tidy statistics: critics in the order of the config, then perplexities."""
        tables = [pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in self.plan.statistics()]
        return pd.concat(tables, ignore_index=True)

    def corpora(self) -> list[str]:
        """Corpora of the run."""
        return self.plan.judged_corpora()

    def systems(self, corpus: str) -> list[str]:
        """Systems that were judged against a corpus, the control first."""
        return [system for c, system in self.plan.pairs() if c == corpus]

    def language_models(self) -> list[tuple[str, str]]:
        """Every (corpus, language model)."""
        return self.plan.language_models()

    def trained_models(self) -> list[tuple[str, str]]:
        """Every (corpus, language model) that was trained, not taken as published."""
        return [pair for pair in self.language_models() if self.plan.systems.language_models.is_trained(pair[1])]

    def corpus_table(self, name: str) -> pd.DataFrame:
        """A table (filters, summary) of all corpora, one below the other, with a column `corpus`."""
        frames = [
            pd.read_csv(self.folder / "corpora" / corpus / f"{name}.csv").assign(corpus=corpus)
            for corpus in self.corpora()
        ]
        table = pd.concat(frames, ignore_index=True)
        return table[["corpus", *(column for column in table if column != "corpus")]]

    def samples(self) -> Iterator[tuple[str, str, Provenance]]:
        """(corpus, system, provenance of its samples)."""
        for corpus, system in self.plan.pairs():
            yield corpus, system, read_provenance(self.folder / "systems" / corpus / system / "samples.parquet")

    def theory(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """(critic, corpus, system, what theory gives) wherever it gives anything."""
        for (critic, corpus, system), path in self.plan.calibrations().items():
            yield critic, corpus, system, read_json(Path(path))

    def probing(self) -> pd.DataFrame:
        """What clusters know, of all probed corpora and encoders."""
        frames = [
            pd.read_csv(self.folder / "critics" / "clusters" / asked.corpus / "probing" / f"{encoder}.csv").assign(
                corpus=asked.corpus, encoder=encoder
            )
            for asked in self.plan.config.probing
            for encoder in asked.encoders
        ]
        if not frames:
            return pd.DataFrame()
        table = pd.concat(frames, ignore_index=True)
        return table[["corpus", "encoder", *(column for column in table if column not in ("corpus", "encoder"))]]

    def model_size(self, corpus: str, system: str) -> dict[str, int]:
        """Parameters, size of the vocabulary, and context window in tokens of a language model."""
        return read_json(self.folder / "systems" / corpus / system / "model" / "size.json")

    def training_log(self, corpus: str, system: str) -> pd.DataFrame:
        """Losses of a language model's training (nats a token) by step."""
        return pd.read_csv(self.folder / "systems" / corpus / system / "model" / "training_log.csv")

    def judged(self) -> Iterator[tuple[str, str, list[str]]]:
        """(critic, corpus, systems) of everything that was judged."""
        for critic, corpus in dict.fromkeys((critic, corpus) for critic, corpus, _ in self.plan.comparisons):
            yield critic, corpus, [s for c, k, s in self.plan.comparisons if (c, k) == (critic, corpus)]

    def items(self, statistics: pd.DataFrame) -> Iterator[tuple[str, str, ReportItem]]:
        """(critic, corpus, item) of everything that the critics contribute to the report.

        Parameters
        ----------
        statistics
            All numbers of the run, with p_adjusted.
        """
        for critic, corpus, systems in self.judged():
            rows = rows_of(statistics, critic, corpus)
            folder = self.folder / "critics" / critic / corpus
            for item in load(critic).report_items(folder, systems, rows, self.folder / "figures"):
                yield critic, corpus, item


def rows_of(statistics: pd.DataFrame, critic: str, corpus: str) -> pd.DataFrame:
    """Numbers of a critic on a corpus."""
    return statistics[(statistics["critic"] == critic) & (statistics["corpus"] == corpus)]

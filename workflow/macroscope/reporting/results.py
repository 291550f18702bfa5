"""The files of a run, as tables: what tables, figures and report are made from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.config import load_config
from macroscope.critics.critic import ReportItem, load
from macroscope.documents import Provenance, read_provenance
from macroscope.files import read_json
from macroscope.plan import Plan
from macroscope.systems.options import LanguageModelSystem


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
        return pd.concat([pd.read_csv(path) for path in self.plan.statistics()], ignore_index=True)

    def corpora(self) -> list[str]:
        """Corpora of the run."""
        return self.plan.corpora()

    def systems(self, corpus: str) -> list[str]:
        """Systems that were judged against a corpus, the control first."""
        return [system for c, system in self.plan.pairs() if c == corpus]

    def language_models(self) -> list[tuple[str, str]]:
        """Every (corpus, language model)."""
        return self.plan.pairs(LanguageModelSystem)

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

    def training_log(self, corpus: str, system: str) -> pd.DataFrame:
        """Losses of a language model's training (nats a token) by step."""
        return pd.read_csv(self.folder / "systems" / corpus / system / "model" / "training_log.csv")

    def items(self) -> Iterator[tuple[str, str, ReportItem]]:
        """(critic, corpus, item) of everything that the critics contribute to the report."""
        for critic, corpus in dict.fromkeys((critic, corpus) for critic, corpus, _ in self.plan.comparisons):
            systems = [s for c, k, s in self.plan.comparisons if (c, k) == (critic, corpus)]
            for item in load(critic).report(self.folder / "critics" / critic / corpus, systems):
                yield critic, corpus, item

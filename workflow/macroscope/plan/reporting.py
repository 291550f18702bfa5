"""What a config implies for reporting: the files that tables, figures and report are made from."""

from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.files import CAPTIONS, RESOURCES
from macroscope.statistics.judgements import BUILT_IN, holds_documents, is_there, table_files

if TYPE_CHECKING:
    from macroscope.config.schema import Config
    from macroscope.critics.declaration import Critic
    from macroscope.plan.critics import CriticsPlan
    from macroscope.plan.systems import SystemsPlan


class ReportingPlan:
    """The report of a config."""

    def __init__(self, config: "Config", results: str, systems: "SystemsPlan", critics: "CriticsPlan") -> None:
        self.config, self.results, self.systems, self.critics = config, results, systems, critics

    def language_models(self) -> list[tuple[str, str]]:
        """Every (corpus, system) that is judged and makes a language model."""
        return [pair for pair in self.critics.pairs if self.systems.language_models.has_model(pair[1])]

    def measured_systems(self) -> list[tuple[str, str]]:
        """Every other (corpus, system) that is judged and has a perplexity."""
        return [pair for pair in self.critics.pairs if self.systems.all[pair[1]].has_perplexity()]

    def trained_models(self) -> list[tuple[str, str]]:
        """Those of them that are trained, not taken as published."""
        return [pair for pair in self.language_models() if self.systems.language_models.is_trained(pair[1])]

    def statistics(self) -> list[str]:
        """Every table of statistics, perplexities included."""
        measured = [*self.language_models(), *self.measured_systems()]
        models = [f"{self.results}/statistics/perplexity/{corpus}/{system}.csv" for corpus, system in measured]
        return [*self.critics.statistics(), *models]

    def tables_read(self) -> dict[str, list[str]]:
        """What the tables are made from."""
        corpora = [f"{self.results}/corpora/{corpus}" for corpus in self.critics.corpora_used]
        judgements = {file for entry in self.config.human_judgements for file in table_files(entry.table)}
        return {
            "statistics": self.statistics(),
            "pairs": self.critics.side_by_side.pairs_files(),
            "known_truth": list(self.critics.known_truths().values()),
            "probabilities": [
                self.systems.language_models.log_probabilities(*pair) for pair in self.critics.known_log_q()
            ],
            "estimates": self.critics.estimates(),
            "shown": self.critics.shown_files("report"),
            "corpora": [
                f"{folder}/{name}" for folder in corpora for name in ("filters.csv", "summary.csv", "documents.parquet")
            ],
            "samples": [self.systems.samples(*pair) for pair in self.critics.pairs],
            "models": self._models(),
            "judgements": sorted(file for file in judgements if not _is_ours(file)),
            "rated": self._rated(),
        }

    def figures_read(self) -> dict[str, list[str]]:
        """What the figures are made from, the tables aside."""
        return {
            "shown": self.critics.shown_files("overview"),
            "models": self._models(),
            "studies": self._studies(),
        }

    def report_read(self) -> dict[str, list[str]]:
        """What the report is made from, tables and figures aside."""
        return {
            "shown": self.critics.shown_files("report"),
            "profile": [self.config.profile] if self.config.profile else [],
            "studies": self._studies(),
            **self.reader_read(),
        }

    def reader_read(self) -> dict[str, list[str]]:
        """What the reader is made from."""
        samples = [self.systems.samples(*pair) for pair in self.critics.pairs]
        return {"samples": samples, "attributions": list(self.critics.attributions().values())}

    def reader_page(self) -> list[Path]:
        """The page of the reader, and what belongs to it."""
        return sorted((CAPTIONS / "reader").iterdir())

    def modules(self, stage: str) -> list[str]:
        """Modules of a stage of reporting, with what the critics contribute."""
        return [f"macroscope.reporting.{stage}", *self.critics.shown_modules()]

    def captions(self) -> list[Path]:
        """Captions of the report, the critics' among them, and its page."""
        general = [path for path in sorted(CAPTIONS.iterdir()) if path.is_file()]
        return [*general, *self.critics.captions()]

    def built_in_judgements(self) -> list[Path]:
        """Tables of human judgements that come with macroscope."""
        files = {file for entry in self.config.human_judgements for file in table_files(entry.table)}
        return sorted(Path(file) for file in files if _is_ours(file))

    def _studies(self) -> list[str]:
        """Folders that `macroscope human collect` wrote."""
        tables = dict.fromkeys(entry.table for entry in self.config.human_judgements)
        return [table for table in tables if table not in BUILT_IN and Path(table).is_dir()]

    def _rated(self) -> list[str]:
        """What the critics made of documents that people rated."""
        entries = self.config.human_judgements
        corpora = {e.corpus for e in entries if is_there(e.table) and holds_documents(e.table)}
        return [
            self.critics.place(name, critic, corpus=corpus, system=system)
            for (critic, corpus), systems in self.critics.chapters.items()
            if corpus in corpora
            for system in systems
            for name in self._rated_by(self.critics.declared(critic))
        ]

    @staticmethod
    def _rated_by(critic: "Critic") -> tuple[str, ...]:
        """Of what single documents are judged by: T(x), or where there is none what they are blamed for."""
        attributed = ("attributions",) if critic.attribution is not None else ()
        return ("latents", "scores") if critic.scores else ("latents", *attributed)

    def _models(self) -> list[str]:
        return [f"{self.results}/systems/{corpus}/{system}/model" for corpus, system in self.language_models()]


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(RESOURCES)

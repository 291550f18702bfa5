"""Plan of reporting: the jobs of tables, figures and pages, and their inputs."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.critics.declaration import SHOWN
from macroscope.files import RESOURCES
from macroscope.jobs import OUTPUT, Job, Resources, value_words
from macroscope.plan.critics import ALL_SYSTEMS, PLACES
from macroscope.reporting import PACKAGE, STAGES
from macroscope.runs.contents import Contents, Judged, contents_file
from macroscope.statistics.judgements import BUILT_IN, has_document_ratings, list_table_files, table_exists

if TYPE_CHECKING:
    from macroscope.config.schema import Config
    from macroscope.critics.declaration import Critic
    from macroscope.plan.critics import CriticsPlan
    from macroscope.plan.systems import SystemsPlan

_RULES = {
    "tables": "make_tables",
    "figures": "plot_figures",
    "report": "write_report",
    "sensitivity": "write_sensitivity",
    "reader": "write_reader",
}
"""Stage of reporting -> name of its rule."""
_REPORTED: dict[str, dict[str, Any]] = {
    "tables": {"patterns": ["{table}.csv"], "category": "Tables", "labels": {"table": "{table}"}},
    "figures": {"patterns": ["{figure}.svg"], "category": "Figures", "labels": {"figure": "{figure}"}},
    "report": {"category": "Report"},
}
"""Stage of reporting -> how Snakemake's own report shows its output."""


class ReportingPlan:
    """The inputs of the report of a config."""

    def __init__(self, config: "Config", results: str, systems: "SystemsPlan", critics: "CriticsPlan") -> None:
        self.config, self.results, self.systems, self.critics = config, results, systems, critics

    # ---- jobs ------------------------------------------------------------------------------------------------------

    def jobs(self, config: str) -> list[Job]:
        """Return the jobs of tables, figures and pages.

        Parameters
        ----------
        config
            Path of the effective config.
        """
        tables, figures = f"{self.results}/tables", f"{self.results}/figures"
        read: dict[str, dict[str, Any]] = {
            "tables": self.tables_read(),
            "figures": {**self.figures_read(), "tables": tables},
            "report": {**self.report_read(), "tables": tables, "figures": figures},
            "sensitivity": self.sensitivity_read(),
            # The tables for the order alone: the first pass of a run with failures has none, and would write the reader
            # with another config.
            "reader": {**self.reader_read(), "tables": tables},
        }
        described = {"config": config, "contents": contents_file(config)}
        return [self._job(stage, {**inputs, **described}) for stage, inputs in read.items()]

    def contents(self) -> Contents:
        """Return what the run judges, and its files, for all who read it."""
        critics, models = self.critics, self.systems.language_models

        def inside(path: str) -> str:
            return path.removeprefix(f"{self.results}/")

        def outputs(name: str, keys: Iterable[Judged]) -> dict[Judged, str]:
            return {(c, corpus, s): inside(critics.place(name, c, corpus=corpus, system=s)) for c, corpus, s in keys}

        return Contents(
            corpora=critics.corpora_used,
            pairs=critics.pairs,
            comparisons=critics.comparisons,
            chapters=critics.chapters,
            sampled=self.sampled(),
            language_models=self.language_models(),
            measured_systems=self.measured_systems(),
            trained_models=self.trained_models(),
            known_log_q=self.known_log_q(),
            matched=critics.matched_lengths.compared,
            models={system: models.model_of(system) for system in self.systems.all},
            signatures={critic: critics.signature(critic) for critic in critics.plugins},
            folds={critic: critics.folds(critic) for critic in critics.plugins},
            empty_cells={key: gap.model_dump(mode="json") for key, gap in critics.empty_cells.items()},
            unmatched=[gap.model_dump(mode="json") for gap in critics.unmatched],
            statistics=[inside(path) for path in self.statistics()],
            pairs_files=[inside(path) for path in self.pairs_files()],
            two_sample_tests=[inside(path) for path in self.two_sample_tests()],
            powers=[inside(path) for path in self.sensitivity_read().get("powers", ())],
            latents=outputs("latents", critics.comparisons),
            scores=outputs("scores", (key for key in critics.comparisons if critics.declared(key[0]).scores)),
            attributions=outputs("attributions", self.attributions()),
            known_truths=outputs("known_truth", self.known_truths()),
        )

    def _job(self, stage: str, inputs: Mapping[str, Any]) -> Job:
        declared = STAGES[stage]
        made = f"results/<run>/{stage}"
        pages = {OUTPUT: f"{made}.html", "pages": "results/<run>/pages"}
        outputs = pages if "pages" in declared.value_names else {OUTPUT: made}
        # The report shows the times, but no result depends on them: not an input.
        values = {"logs": lambda wildcards: f"logs/{self.config.run}"}
        module = declared.module(PACKAGE)
        return Job(
            name=_RULES[stage],
            command=f"reporting run --stage {stage}",
            stage=declared,
            inputs=inputs,
            outputs=outputs,
            folders=frozenset({"pages"} if "pages" in outputs else {OUTPUT}),
            values=value_words((name for name in declared.value_names if name not in outputs), values),
            modules=[module, *self.shown_modules()] if stage in _REPORTED else [module],
            resources=Resources(declared.threads, declared.megabytes, 0),
            user_inputs=("judgements", "studies", "profile", "cited_sensitivity"),
            order_only=("tables",) if stage == "reader" else (),
            version=self.version(stage),
            reported={OUTPUT: _REPORTED[stage]} if stage in _REPORTED else {},
        )

    # ---- inputs ----------------------------------------------------------------------------------------------------

    def language_models(self) -> list[tuple[str, str]]:
        """Return every (corpus, system) that is judged and makes a language model."""
        return [pair for pair in self.critics.pairs if self.systems.language_models.has_model(pair[1])]

    def measured_systems(self) -> list[tuple[str, str]]:
        """Return every other (corpus, system) that is judged and has a perplexity."""
        return [pair for pair in self.critics.pairs if self.systems.all[pair[1]].has_perplexity()]

    def trained_models(self) -> list[tuple[str, str]]:
        """Return every (corpus, system) that is judged and trains its language model."""
        return [pair for pair in self.language_models() if self.systems.language_models.is_trained(pair[1])]

    def statistics(self) -> list[str]:
        """Return every table of statistics, perplexities included."""
        measured = [*self.language_models(), *self.measured_systems()]
        models = [f"{self.results}/statistics/perplexity/{corpus}/{system}.csv" for corpus, system in measured]
        return [*self.critics_statistics(), *self.critics.matched_lengths.statistics(), *models]

    def sampled(self) -> list[tuple[str, str]]:
        """Return every (corpus, system) whose texts critics read, derived ones included."""
        return [*self.critics.pairs, *self.critics.matched_lengths.samples()]

    def tables_read(self) -> dict[str, list[str]]:
        """Return the inputs of the tables."""
        corpora = [f"{self.results}/corpora/{corpus}" for corpus in self.critics.corpora_used]
        return {
            "statistics": self.statistics(),
            "pairs": self.pairs_files(),
            "known_truth": list(self.known_truths().values()),
            "probabilities": [self.systems.language_models.log_probabilities(*pair) for pair in self.known_log_q()],
            "estimates": self.estimates(),
            "shown": self.shown_files("report"),
            "corpora": [
                f"{folder}/{name}" for folder in corpora for name in ("filters.csv", "summary.csv", "documents.parquet")
            ],
            "samples": [self.systems.samples(*pair) for pair in self.sampled()],
            "models": self._models(),
            "judgements": self.judgements(),
            "rated": self._rated(),
        }

    def figures_read(self) -> dict[str, list[str]]:
        """Return the inputs of the figures, without the tables."""
        return {
            "shown": self.shown_files("overview"),
            "models": self._models(),
            "studies": self.studies(),
        }

    def report_read(self) -> dict[str, list[str]]:
        """Return the inputs of the report, without tables and figures."""
        return {
            "shown": self.shown_files("report"),
            "profile": self.profile(),
            "cited_sensitivity": self.cited_sensitivity(),
            "studies": self.studies(),
            **self.reader_read(),
        }

    def reader_read(self) -> dict[str, list[str]]:
        """Return the inputs of the reader."""
        samples = [self.systems.samples(*pair) for pair in self.critics.pairs]
        scores = list(self.scores_of_documents().values())
        attributions = list(self.attributions().values())
        return {"samples": samples, "attributions": attributions, "scores": scores, "tests": self.two_sample_tests()}

    def sensitivity_read(self) -> dict[str, list[str]]:
        """Return the inputs of the page on sensitivity; none in a run that judges systems."""
        if self.config.sensitivity is None:
            return {}
        return {
            "powers": [self.critics.place("power", critic, corpus=corpus) for critic, corpus in self.critics.chapters],
            "samples": [self.systems.samples(*pair) for pair in self.critics.pairs],
            "attributions": [path for key, path in self.attributions().items() if self._scores_documents(key[0])],
            "scores": [path for key, path in self.scores_of_documents().items() if self._scores_documents(key[0])],
        }

    def version(self, stage: str) -> str:
        """Return the version of a stage of reporting, and those above 1 of the critics' stages that it runs."""
        shown = {
            f"{name}_{critic}": self.critics.stage(critic, name).version
            for critic, _ in self.critics.chapters
            for name in SHOWN
            if name in self.critics.declared(critic).stages
        }
        return " ".join([str(STAGES[stage].version), *(f"{name}={n}" for name, n in sorted(shown.items()) if n > 1)])

    # ---- the user's files --------------------------------------------------------------------------------------------

    def judgements(self) -> list[str]:
        """Return the user's tables of human judgements, and folders that `macroscope human collect` wrote."""
        files = {file for entry in self.config.human_judgements for file in list_table_files(entry.table)}
        return sorted(file for file in files if not _is_built_in(file))

    def studies(self) -> list[str]:
        """Return the folders that `macroscope human collect` wrote."""
        tables = dict.fromkeys(entry.table for entry in self.config.human_judgements)
        return [table for table in tables if table not in BUILT_IN and Path(table).is_dir()]

    def profile(self) -> list[str]:
        """Return the table of the texts' profile, if there is one."""
        return [self.config.profile] if self.config.profile else []

    def cited_sensitivity(self) -> list[str]:
        """Return the matrix of sensitivity that the report cites, if there is one."""
        return [self.config.cited_sensitivity] if self.config.cited_sensitivity else []

    # ---- results of the critics ------------------------------------------------------------------------------------

    def shown_files(self, stage: str) -> list[str]:
        """Return the files that a stage of reporting ("overview", "report") reads of all critics and corpora."""
        return sorted({file for critic, corpus in self.critics.chapters for file in self._shown(critic, corpus, stage)})

    def critics_statistics(self) -> list[str]:
        """Return every table of the critics' statistics."""
        tables = []
        for critic, corpus, system in self.critics.all_comparisons:
            declared = self.critics.declared(critic)
            if declared.scores:
                tables.append(
                    self.critics.place(self.critics.score_statistics(critic), critic, corpus=corpus, system=system)
                )
            if declared.compares:
                tables.append(self.critics.place("statistics", critic, corpus=corpus, system=system))
        return [*tables, *self.two_sample_tests()]

    def two_sample_tests(self) -> list[str]:
        """Return the table of two-sample tests of every critic on every corpus."""
        judged = [chapter for chapter, systems in self.critics.chapters.items() if systems]
        return [self.critics.place("two_sample_test", critic, corpus=corpus) for critic, corpus in judged]

    def pairs_files(self) -> list[str]:
        """Return every table of systems compared with each other."""
        return [self.critics.place("pairs", critic, corpus=corpus) for critic, corpus in self.critics.compared_pairs]

    def attributions(self) -> dict[tuple[str, str, str], str]:
        """Return (critic, corpus, system) -> file of attributions, for critics that make them."""
        return {
            (critic, corpus, system): self.critics.place("attributions", critic, corpus=corpus, system=system)
            for critic, corpus, system in self.critics.comparisons
            if self.critics.declared(critic).attribution is not None
        }

    def scores_of_documents(self) -> dict[tuple[str, str, str], str]:
        """Return (critic, corpus, system) -> file of scores, for critics with a prior that make attributions."""
        return {
            (critic, corpus, system): self.critics.place("scores", critic, corpus=corpus, system=system)
            for critic, corpus, system in self.attributions()
            if self.critics.declared(critic).scores
        }

    def known_truths(self) -> dict[tuple[str, str, str], str]:
        """Return (critic, corpus, system) -> file of the known truth, if the process and the order are known."""
        return {
            (critic, corpus, system): self.critics.place("known_truth", critic, corpus=corpus, system=system)
            for critic, corpus, system in self.critics.comparisons
            if self.critics.corpora.options(corpus).kind_of_process in self.critics.declared(critic).known_processes
            and self.systems.order(system) is not None
        }

    def known_log_q(self) -> list[tuple[str, str]]:
        """Return every (corpus, system) whose log q(x) is known and also estimated by a critic."""
        estimated = dict.fromkeys(
            (corpus, s) for c, corpus, s in self.critics.comparisons if self.critics.declared(c).gives_log_q
        )
        return [(corpus, system) for corpus, system in estimated if self.systems.language_models.is_ancestral(system)]

    def estimates(self) -> list[str]:
        """Return the evidence with estimates of log q(x) of the systems of `known_log_q`."""
        with_known_log_q = set(self.known_log_q())
        return [
            self.critics.place("evidence", critic, corpus=corpus, system=system)
            for critic, corpus, system in self.critics.comparisons
            if self.critics.declared(critic).gives_log_q and (corpus, system) in with_known_log_q
        ]

    def shown_modules(self) -> list[str]:
        """Return the modules with which the critics of the run contribute to tables, figures and report."""
        return sorted(
            {
                self.critics.module(critic, stage)
                for critic, _ in self.critics.chapters
                for stage in SHOWN
                if stage in self.critics.declared(critic).stages
            }
        )

    def _shown(self, critic: str, corpus: str, stage: str) -> Iterator[str]:
        declared = self.critics.declared(critic)
        for name in declared.stages[stage].input_names if stage in declared.stages else ():
            if name.removeprefix(ALL_SYSTEMS) not in PLACES:
                yield from self.critics.own_stages.shown(critic, corpus, stage, name)
            for system in self.critics.chapters[critic, corpus] if name.startswith(ALL_SYSTEMS) else ():
                yield self.critics.place(name.removeprefix(ALL_SYSTEMS), critic, corpus=corpus, system=system)
            if name in PLACES and self.critics.chapters[critic, corpus]:
                yield self.critics.place(name, critic, corpus=corpus)

    # ---- private ---------------------------------------------------------------------------------------------------

    def _scores_documents(self, critic: str) -> bool:
        return self.critics.declared(critic).scores_documents

    def _rated(self) -> list[str]:
        """Return the critics' outputs about documents that people rated."""
        entries = self.config.human_judgements
        corpora = {e.corpus for e in entries if table_exists(e.table) and has_document_ratings(e.table)}
        return [
            self.critics.place(name, critic, corpus=corpus, system=system)
            for (critic, corpus), systems in self.critics.chapters.items()
            if corpus in corpora
            for system in systems
            for name in self._per_document_outputs(self.critics.declared(critic))
        ]

    @staticmethod
    def _per_document_outputs(critic: "Critic") -> tuple[str, ...]:
        """Return the names of the per-document outputs: latents with T(x), or with attributions if there is no T(x)."""
        attributed = ("attributions",) if critic.attribution is not None else ()
        return ("latents", "scores") if critic.scores else ("latents", *attributed)

    def _models(self) -> list[str]:
        return [f"{self.results}/systems/{corpus}/{system}/model" for corpus, system in self.language_models()]


def _is_built_in(file: str) -> bool:
    return Path(file).is_relative_to(RESOURCES)

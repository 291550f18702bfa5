"""Plan of reporting: the jobs of tables, figures and pages, and their inputs."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
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
        reader = {
            "samples": [self.systems.samples(*pair) for pair in self.critics.pairs],
            "attributions": self._made("attributions"),
            "scores": self._made("document_scores"),
            "tests": self._made("two_sample_tests"),
        }
        profile = {"profile": _given(self.config.profile), "cited_sensitivity": _given(self.config.cited_sensitivity)}
        read: dict[str, dict[str, Any]] = {
            "tables": self._tables_read(),
            "figures": {
                "shown": self.shown_files("overview"),
                "models": self._models(),
                "studies": self._studies(),
                "tables": tables,
            },
            "report": {
                "shown": self.shown_files("report"),
                **profile,
                "studies": self._studies(),
                **reader,
                "tables": tables,
                "figures": figures,
            },
            "sensitivity": self._sensitivity_read(),
            # The tables for the order alone: the first pass of a run with failures has none, and would write the reader
            # with another config.
            "reader": {**reader, "tables": tables},
        }
        described = {"config": config, "contents": contents_file(config)}
        return [self._job(stage, {**inputs, **described}) for stage, inputs in read.items()]

    @cached_property
    def contents(self) -> Contents:
        """Contents of the run, for all who read it."""
        critics, models = self.critics, self.systems.language_models
        comparisons, chapters, pairs = critics.comparisons, critics.chapters, critics.pairs

        def inside(paths: Iterable[str]) -> list[str]:
            return [path.removeprefix(f"{self.results}/") for path in paths]

        def outputs(name: str, made: Callable[[str, str, str], Any]) -> dict[Judged, str]:
            keys = [key for key in comparisons if made(*key)]
            paths = inside(critics.place(name, c, corpus=corpus, system=system) for c, corpus, system in keys)
            return dict(zip(keys, paths, strict=True))

        def has_known_truth(critic: str, corpus: str, system: str) -> bool:
            process = critics.corpora.options(corpus).kind_of_process
            return process in critics.declared(critic).known_processes and self.systems.order(system) is not None

        language_models = [pair for pair in pairs if models.has_model(pair[1])]
        measured = [pair for pair in pairs if self.systems.all[pair[1]].has_perplexity()]
        tests = [
            critics.place("two_sample_test", c, corpus=corpus) for (c, corpus), judged in chapters.items() if judged
        ]
        perplexities = [
            f"{self.results}/statistics/perplexity/{corpus}/{system}.csv"
            for corpus, system in [*language_models, *measured]
        ]
        statistics = [*self._critics_statistics(), *tests, *critics.matched_lengths.statistics(), *perplexities]
        estimated = dict.fromkeys((corpus, s) for c, corpus, s in comparisons if critics.declared(c).gives_log_q)
        powers = [] if self.config.sensitivity is None else [critics.place("power", c, corpus=k) for c, k in chapters]
        return Contents(
            corpora=critics.corpora_used,
            pairs=pairs,
            comparisons=comparisons,
            chapters=chapters,
            sampled=[*pairs, *critics.matched_lengths.samples()],
            language_models=language_models,
            measured_systems=measured,
            trained_models=[pair for pair in language_models if models.is_trained(pair[1])],
            known_log_q=[pair for pair in estimated if models.is_ancestral(pair[1])],
            matched=critics.matched_lengths.compared,
            models={system: models.model_of(system) for system in self.systems.all},
            signatures={critic: critics.signature(critic) for critic in critics.plugins},
            folds={critic: critics.folds(critic) for critic in critics.plugins},
            empty_cells={key: gap.model_dump(mode="json") for key, gap in critics.empty_cells.items()},
            unmatched=[gap.model_dump(mode="json") for gap in critics.unmatched],
            statistics=inside(statistics),
            pairs_files=inside(critics.place("pairs", c, corpus=corpus) for c, corpus in critics.compared_pairs),
            two_sample_tests=inside(tests),
            powers=inside(powers),
            latents=outputs("latents", lambda *key: True),
            scores=outputs("scores", lambda critic, *_: critics.declared(critic).scores),
            attributions=outputs("attributions", lambda critic, *_: critics.declared(critic).attribution is not None),
            known_truths=outputs("known_truth", has_known_truth),
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

    def _tables_read(self) -> dict[str, list[str]]:
        corpora = [f"{self.results}/corpora/{corpus}" for corpus in self.contents.corpora]
        return {
            "statistics": self._made("statistics"),
            "pairs": self._made("pairs_files"),
            "known_truth": self._made("known_truths"),
            "probabilities": [self.systems.language_models.log_probabilities(*p) for p in self.contents.known_log_q],
            "estimates": [
                self.critics.place("evidence", critic, corpus=corpus, system=system)
                for critic, corpus, system in self.contents.comparisons
                if self.critics.declared(critic).gives_log_q and (corpus, system) in self.contents.known_log_q
            ],
            "shown": self.shown_files("report"),
            "corpora": [
                f"{folder}/{name}" for folder in corpora for name in ("filters.csv", "summary.csv", "documents.parquet")
            ],
            "samples": [self.systems.samples(*pair) for pair in self.contents.sampled],
            "models": self._models(),
            "judgements": self._judgements(),
            "rated": self._rated(),
        }

    def _sensitivity_read(self) -> dict[str, list[str]]:
        """Return the inputs of the page on sensitivity; none in a run that judges systems."""
        if self.config.sensitivity is None:
            return {}
        scoring = {critic for critic, _ in self.critics.chapters if self.critics.declared(critic).scores_documents}
        return {
            "powers": self._made("powers"),
            "samples": [self.systems.samples(*pair) for pair in self.critics.pairs],
            "attributions": self._made("attributions", scoring),
            "scores": self._made("document_scores", scoring),
        }

    def _made(self, name: str, critics: Collection[str] | None = None) -> list[str]:
        """Return files that the contents name, perhaps of some critics only."""
        files = getattr(self.contents, name)
        if isinstance(files, Mapping):
            files = [path for key, path in files.items() if critics is None or key[0] in critics]
        return [f"{self.results}/{path}" for path in files]

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

    def _judgements(self) -> list[str]:
        """Return the user's tables of human judgements, and folders that `macroscope human collect` wrote."""
        files = {file for entry in self.config.human_judgements for file in list_table_files(entry.table)}
        return sorted(file for file in files if not Path(file).is_relative_to(RESOURCES))

    def _studies(self) -> list[str]:
        """Return the folders that `macroscope human collect` wrote."""
        tables = dict.fromkeys(entry.table for entry in self.config.human_judgements)
        return [table for table in tables if table not in BUILT_IN and Path(table).is_dir()]

    # ---- results of the critics ------------------------------------------------------------------------------------

    def shown_files(self, stage: str) -> list[str]:
        return sorted({file for critic, corpus in self.critics.chapters for file in self._shown(critic, corpus, stage)})

    def _critics_statistics(self) -> Iterator[str]:
        for critic, corpus, system in self.critics.all_comparisons:
            declared = self.critics.declared(critic)
            if declared.scores:
                yield self.critics.place(self.critics.score_statistics(critic), critic, corpus=corpus, system=system)
            if declared.compares:
                yield self.critics.place("statistics", critic, corpus=corpus, system=system)
        for (critic, corpus), systems in self.critics.chapters.items():
            if systems and self.critics.declared(critic).course is not None:
                yield self.critics.place("course", critic, corpus=corpus)
        for critic, corpus in self.critics.labelled:
            yield self.critics.place("by_label", critic, corpus=corpus)

    def shown_modules(self) -> list[str]:
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
        return [f"{self.results}/systems/{corpus}/{system}/model" for corpus, system in self.contents.language_models]


def _given(path: str | None) -> list[str]:
    return [path] if path else []

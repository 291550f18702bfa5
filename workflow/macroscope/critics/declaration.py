"""Declarations of critics: plain data, readable without importing the code that a critic runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from macroscope.critics.options import EMBED_SENTENCES, EMBEDDING_STAGE, FOLDS
from macroscope.critics.readings import SHARED_READINGS, Course, Reading
from macroscope.errors import nearest
from macroscope.natural_language.words import CAPABILITIES
from macroscope.options import Options
from macroscope.registry import Plugin
from macroscope.stages import Stage, describe_versions, load
from macroscope.statistics.declaration import LARGEST_MEAN_DIFFERENCE, SHARED_STATISTICS, Statistic, match_declaration

if TYPE_CHECKING:  # the config imports this module, and must start at once
    import pandas as pd

STAGES = (
    "train",
    "fit_prior",
    "project",
    "learn_shared",
    "score",
    "known_truth",
    "explain",
    "compare",
    "attribute",
    "follow",
    "course",
    "overview",
    "report",
)
"""Standard stages, in the order in which they run; docs/extending.md lists the inputs and the output of each. A stage
with any other name declares its `output`."""

COUNTED = {
    "documents": "documents",
    "titled": "documents with section titles",
    "with_persons": "documents that say 'he' or 'she' at least twice",
    "narratives": "documents of five sentences or more",
    "topical_words": "words that occur ten times or more, in less than half of the texts, and are no stop words",
}
"""Counts of a user's texts that are available before a run -> their description for readers."""

_OF_SYSTEMS = "critic corpus signature"
SHARED_STAGES = {
    "compare_scores": Stage(
        "macroscope.statistics.latent:compare_score_files",
        inputs=f"control_scores scores {_OF_SYSTEMS} system resampling",
        megabytes=4000,
        minutes=120,
    ),
    "two_sample_test": Stage(
        "macroscope.critics.two_sample_test:two_sample_tests",
        inputs=f"all_latents all_scores {_OF_SYSTEMS} systems confidence seed",
        megabytes=4000,
        minutes=120,
        version=2,
    ),
    "compare_labels": Stage(
        "macroscope.critics.two_sample_test:compare_labels",
        inputs=f"all_texts all_latents all_scores {_OF_SYSTEMS} systems resampling",
        megabytes=4000,
        minutes=120,
    ),
    "compare_pairs": Stage(
        "macroscope.critics.pairs:compare_pairs",
        inputs=f"all_latents all_scores all_statistics {_OF_SYSTEMS} systems pairs resampling",
        megabytes=4000,
        minutes=120,
    ),
    "measure_power": Stage(
        "macroscope.critics.two_sample_test:measure_powers",
        inputs=f"all_latents all_scores {_OF_SYSTEMS} systems confidence seed damages sizes repeats",
        megabytes=4000,
        minutes=120,
    ),
    "gather": Stage("macroscope.critics.latents:gather", inputs="shards_of_latents", minutes=120),
}
"""Stages that every critic has without declaring them; `compare_scores` only critics with a prior, and `gather` joins
the shards of a system's latents where systems are projected in shards."""

SHOWN = ("overview", "report")
"""Stages that the reporting rules run, for all critics and corpora."""

MAKES = {
    "train": "inference",
    "fit_prior": "prior",
    "project": "latents",
    "learn_shared": "shared",
    "score": "scores",
    "follow": "courses",
}
"""Stage -> name under which other stages read its output."""


@dataclass(frozen=True)
class AttributionScore:
    """Description, for readers, of the per-document scores that a critic's stage `attribute` writes.

    Attributes
    ----------
    score
        Definition of the score; larger is less like real text.
    unit
        Unit of the score.
    marks
        Description of the marked passages; "" if the stage marks none.
    distance
        Whether the score is a distance, so that only large values are unusual. Of any other score, values below those
        of real texts are unusual as well.
    """

    score: str
    unit: str
    marks: str = ""
    distance: bool = False


@dataclass(frozen=True)
class Critic:
    """A critic, as data.

    Attributes
    ----------
    options
        "module:class" of the critic's options, a subclass of `Options`.
    stages
        Name of each stage -> declaration of the function that runs.
    latents
        "module:NAME" of the columns of the latents, a schema of `critics.latents.latents_schema`; "" if there are none
        besides `id` and `opening`.
    observes
        Aspect of a text that the critic measures, in a few words for readers.
    statistics
        "module:NAME" of the declarations of the critic's statistics: tuples of `statistics.declaration.Statistic`. If
        several match a statistic's name, the first applies.
    quantities
        Names for readers of the critic's quantities: name of a statistic, or a prefix -> words.
    certainty
        Name of the statistic that measures the projection's certainty on a system's own texts; shown beside the latent
        PPL in the headline. "" if there is none.
    density
        Whether the latents are real numbers, so that the prior is a density: the headline then shows the latent NLL
        instead of the latent PPL, which may be any positive number.
    gives_log_q
        Whether the evidence of a system has texts.parquet with the columns id, side and log_q, an estimate of the log
        probability of a text under the system: it is compared with the model's own log probability if that is known.
    known_processes
        Kinds of simulated corpora whose generating process the stage `known_truth` implements.
    features
        "module:function" of the features of single documents, a `critics.features.FeatureExtractor`; "" for the
        default: the critic's scores or, without a prior, the numeric columns of its latents.
    collection_statistics
        "module:function" of each statistic of the critic's permutation test, a `statistics.joint_test`'s
        `CollectionStatistic`. They are tested together, by the same permutations.
    sentences
        "module:function" of options -> `critics.options.SentenceReading`, or None if no sentences are embedded.
    criticize
        Options under which `macroscope criticize` includes this critic by default; None: only if the user names it.
    criticize_folds
        Number of folds under which `macroscope criticize` includes this critic if real texts are few.
    fewest
        Requirements on the reference for that default: a count of `COUNTED` -> its minimum.
    fewest_candidates
        Requirements on every candidate for that default, in the same form.
    language_needs
        What the critic needs of the texts' language: a capability of `natural_language.words.CAPABILITIES` -> what
        follows without it ("the share of stop words is undefined"); "" if the critic cannot judge such texts at all.
    readings
        Words, for readers, of differences that have a direction: name of the statistic -> `Reading`. A test of
        "<name>_mean_difference" is read as "<name>_mean", which has a value for each collection.
    plan
        "module:class" of the critic's `stage_jobs.CriticPlan`; "" if its declarations say all about its jobs.
    unmatched
        Reason why the critic compares no texts at matched length, as the end of a sentence about the critic; "" if it
        does. Texts are cut after a sentence (`systems.length_matching`).
    attribution
        Description of the scores of its stage `attribute`; None if it has no such stage.
    course
        Measures along the texts, of its stages `follow` and `course`; None if it has none.
    extras
        Extras of the installation that the critic needs (`extras.EXTRAS`): name -> "option=value", the option under
        which it is needed; "" if it always is.
    commands
        "module:NAME" of the verbs that the critic adds to `macroscope critics`: a mapping from names to functions for
        Typer, in a module without heavy imports. "" if it adds none.
    kept_words
        Names of the columns and keys with words of texts in its outputs; `text` has them in their order. None if the
        outputs have more of single texts than numbers, words and classes of words, as embeddings are.
    reveals
        What a kept reference shows of the texts by what it holds of this critic, for its users.
    """

    options: str
    stages: Mapping[str, Stage]
    latents: str = ""
    observes: str = ""
    statistics: tuple[str, ...] = field(default=())
    quantities: Mapping[str, str] = field(default_factory=dict)
    certainty: str = ""
    density: bool = False
    gives_log_q: bool = False
    known_processes: tuple[str, ...] = field(default=())
    features: str = ""
    collection_statistics: tuple[str, ...] = (LARGEST_MEAN_DIFFERENCE,)
    sentences: str = ""
    criticize: Mapping[str, Any] | None = None
    criticize_folds: int = 1
    fewest: Mapping[str, int] = field(default_factory=dict)
    language_needs: Mapping[str, str] = field(default_factory=dict)
    fewest_candidates: Mapping[str, int] = field(default_factory=dict)
    readings: Mapping[str, Reading] = field(default_factory=dict)
    plan: str = ""
    unmatched: str = ""
    attribution: AttributionScore | None = None
    course: Course | None = None
    extras: Mapping[str, str] = field(default_factory=dict)
    commands: str = ""
    kept_words: tuple[str, ...] | None = None
    reveals: str = ""

    def __post_init__(self) -> None:
        if without_output := [name for name in self.own_stages if not self.stages[name].output]:
            raise ValueError(
                f"the stage '{without_output[0]}' is not a standard one, and it declares no `output`"
                f"{nearest(without_output[0], STAGES)}"
            )
        if "project" not in self.stages:
            raise ValueError("a critic needs the stage 'project', which projects documents onto latents; declare it")
        if not {"score", "compare"} & set(self.stages):
            raise ValueError("a critic needs the stage 'score' or 'compare', which computes its numbers; declare one")
        if unknown := {*self.fewest, *self.fewest_candidates} - set(COUNTED):
            raise ValueError(
                f"'fewest' has unknown counts: {', '.join(sorted(unknown))}; choose from {', '.join(COUNTED)}"
            )
        if unknown := set(self.language_needs) - set(CAPABILITIES):
            raise ValueError(
                f"'language_needs' has unknown capabilities: {', '.join(sorted(unknown))}; choose from"
                f" {', '.join(CAPABILITIES)}"
            )
        if "explain" in self.stages and "evidence" in self.stages.get("compare", self.stages["project"]).value_names:
            raise ValueError(
                "the stages 'explain' and 'compare' both write evidence; let 'compare' write none or drop 'explain'"
            )
        for stage, declared in (("attribute", self.attribution), ("course", self.course)):
            if (stage in self.stages) != (declared is not None):
                raise ValueError(f"only one of the stage '{stage}' and its words is declared; declare both or neither")

    @property
    def own_stages(self) -> list[str]:
        """Return the names of the stages that are not standard ones."""
        return [name for name in self.stages if name not in STAGES]

    @cached_property
    def all_stages(self) -> Mapping[str, Stage]:
        """Declared and shared stages by name."""
        shared = {name: stage for name, stage in SHARED_STAGES.items() if name != "compare_scores" or self.scores}
        stages = {**self.stages, **shared}
        if self.cross_fits:  # the folds of the real texts determine those of all texts
            project = self.stages["project"]
            stages["project"] = replace(project, inputs=f"{project.inputs} documents?")
        return stages

    def reading(self, statistic: str) -> Reading | None:
        """Return the words about a statistic that differs from real text; None if none are declared."""
        reading = {**SHARED_READINGS, **self.readings}.get(statistic)
        return None if reading is None else reading.naming(self.observes)

    @cached_property
    def scores(self) -> bool:
        """Return whether the critic has a prior and scores every document."""
        return "score" in self.stages

    @cached_property
    def learns(self) -> bool:
        """Return whether the critic learns from documents of the corpus, which can then not be its control."""
        return bool({"train", "fit_prior"} & set(self.stages))

    @cached_property
    def cross_fits(self) -> bool:
        """Return whether the critic can be cross-fitted; see `critics.cross_fitting`."""
        return "train" in self.stages and FOLDS in self.stages["train"].option_names

    @cached_property
    def compares(self) -> bool:
        """Return whether the critic compares collections with statistics of its own."""
        return "compare" in self.stages

    @cached_property
    def scores_documents(self) -> bool:
        """Return whether the stage `attribute` scores each document by itself, and not by a comparison's evidence."""
        return "attribute" in self.stages and "own_evidence" not in self.stages["attribute"].input_names

    def options_of(self, stage: str) -> set[str]:
        """Return the options that change a stage's output: its own and those of all stages upstream of it."""
        read = [self.stages[name] for name in self._upstream(stage)]
        return {option for each in read for option in (*each.option_names, *dict(each.conditions))}

    def versions_of(self, stage: str) -> dict[str, int]:
        """Return stage -> version, of all stages whose code a stage's output depends on, itself included.

        Stages of the critic's own plan count for all others, because only the plan knows what reads their outputs.
        """
        upstream = self._upstream(self.signed_stage(stage))
        names = [*self.own_stages, *(name for name in STAGES if name in upstream), stage]
        embedding = {EMBED_SENTENCES: EMBEDDING_STAGE.version} if self.sentences else {}
        return embedding | {name: self.all_stages[name].version for name in names}

    def _upstream(self, stage: str) -> set[str]:
        """Return a declared stage and the standard stages whose outputs it reads, directly or not."""
        names, waiting = set[str](), {stage}
        while waiting:
            names |= waiting
            read = [self.all_stages[name] for name in waiting]
            waiting = {m for m in MAKES if m in self.stages and any(_reads(each, MAKES[m]) for each in read)} - names
        return names

    def last(self) -> str:
        """Return the stage that computes the critic's numbers."""
        return "compare" if self.compares else "score"

    def signed_stage(self, stage: str) -> str:
        """Return the stage whose options sign what `stage` writes."""
        if stage in ("two_sample_test", "compare_labels", "compare_pairs", "measure_power"):
            return self.last()
        return "score" if stage == "compare_scores" else stage

    def options_given(self, stage: str) -> set[str]:
        """Return the options that a job of a stage is given: those that it reads, and those that it signs with."""
        declared = self.all_stages[stage]
        signs = stage == "compare" or "signature" in declared.value_names
        return self.options_of(self.signed_stage(stage)) if signs else set(declared.option_names)


def statistics_of(critic: Plugin[Critic]) -> tuple[Statistic, ...]:
    """Return the declarations of all statistics of a critic, its own first."""
    references = (*critic.data.statistics, *SHARED_STATISTICS)
    return tuple(chain.from_iterable(load(reference, critic.package) for reference in references))


def difference_tests(critic: Plugin[Critic], statistics: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a critic's tidy statistics that test a difference to real text, each test once.

    Rows with too few documents for any test to reach 5 % are left out. Paired documents can only be swapped within
    their pairs, so paired tests may need more documents.
    """
    import numpy as np

    from macroscope.statistics.permutation_groups import Permutation
    from macroscope.statistics.tidy import SIGNIFICANT

    declarations = statistics_of(critic)
    tested = statistics[statistics["p_value"].notna()]
    sizes = zip(tested["n_reference"].astype(int), tested["n_candidate"].astype(int), strict=True)
    floors = {size: Permutation(size).smallest_p for size in set(sizes)}
    chosen = []
    for row in tested.itertuples():
        floor = row.smallest_p if row.n_paired else floors[int(row.n_reference), int(row.n_candidate)]
        chosen.append(match_declaration(declarations, row.statistic).difference and floor <= SIGNIFICANT)
    return tested[np.array(chosen, dtype=bool)]


def signature(critic: Plugin[Critic], options: Options, stage: str, seed: int) -> str:
    """Return everything that changes a stage's output, as key:value pairs joined by '|'.

    These are the options and the versions of the stage and of all stages upstream, and the run's seed.
    """
    used = critic.data.options_of(critic.data.signed_stage(stage))
    values = options.model_dump()
    parts = [f"{name}:{_text(values[name])}" for name in type(options).model_fields if name in used]
    parts += [f"run_seed:{seed}", describe_versions(critic.data.versions_of(stage))]
    return "|".join([f"critic:{critic.name}", *parts])


def _reads(stage: Stage, made: str) -> bool:
    return any(name == made or name.endswith(f"_{made}") for name in stage.input_names)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={_text(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ",".join(f"{item:g}" if isinstance(item, float) else _text(item) for item in value)
    return str(value)

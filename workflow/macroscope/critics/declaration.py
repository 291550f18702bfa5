"""What a critic declares about itself: data, without importing anything that it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.options import Options
from macroscope.registry import Plugin
from macroscope.stages import Stage, load
from macroscope.statistics.declaration import Statistic, declared

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
    "overview",
    "report",
)
"""Standard stages, in the order in which they run; docs/extending.md says what each is given and has to write. A stage
of another name has a rule of its own in workflow/rules/critics/<critic>.smk."""

COUNTED = {
    "documents": "documents",
    "titled": "documents with section titles",
    "with_persons": "documents that say 'he' or 'she' at least twice",
    "narratives": "documents of five sentences or more",
}
"""What can be counted of a user's reference texts before anything is run -> what a reader is told."""

CLASSIFIER_TWO_SAMPLE_TEST = "macroscope.statistics.classifier_two_sample_test:STATISTICS"
"""Statistics that are there of every critic."""

SHOWN = ("overview", "report")
"""Stages that the rules of reporting run, for all critics and corpora."""

MAKES = {
    "train": "inference",
    "fit_prior": "prior",
    "project": "latents",
    "learn_shared": "shared",
    "score": "scores",
}
"""Stage -> what it makes, by the name under which other stages read it."""


@dataclass(frozen=True)
class AttributionScore:
    """What a critic's stage `attribute` says of a document.

    Attributes
    ----------
    score
        What its number is, for a reader; larger is less like real text.
    unit
        Of the number.
    marks
        What is marked in the text; "" where nothing is.
    distance
        Whether the number is a distance: then a small one is nothing unusual. Of any other number, one that is smaller
        than real texts have it is unlike them as well.
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
        "module:class" of its group of options, an `Options`.
    stages
        Name of each stage -> what runs.
    latents
        Columns of its latents.
    observes
        What it sees of a text, in a few words.
    statistics
        "module:NAME" of what it declares of its statistics: tuples of `statistics.declaration.Statistic`. Of several
        that fit a name the first one holds.
    quantities
        What its own quantities are called: name of a statistic, or its beginning -> words; see
        `reporting.statistic_names`.
    certainty
        Name of the statistic that says how sure the projection is of a system's own text; it stands beside the latent
        PPL in the headline. "": there is none.
    density
        Whether its latents are real numbers, so that its prior is a density: the headline then has its latent NLL in
        place of the latent PPL, which may be any positive number.
    gives_log_q
        Whether its evidence of a system has texts.parquet with the columns id, side and log_q, an estimate of the log
        probability that the system gives to a text: it is held against the model's own where that is known.
    known_processes
        Kinds of simulated corpora whose process its stage `known_truth` knows.
    view
        "module:function" of what it sees of a single document, a `critics.features.ViewOf`; "": its scores or, where it
        has no prior, the numbers of its latents.
    criticize
        Options under which `macroscope criticize` asks this critic without being told to; None: only when told.
    fewest
        What the reference must have for that: a count of `COUNTED` -> how many.
    plan
        "module:class" of what its unusual rules need of the config; "" where all its stages are standard ones.
    attribution
        What its stage `attribute` says of a document; None where it has no such stage.
    commands
        "module:NAME" of verbs that it adds to `macroscope critics`: a mapping from names to functions for Typer, in a
        module that imports nothing heavy. "" where it has none.
    """

    options: str
    stages: Mapping[str, Stage]
    latents: str = "id"
    observes: str = ""
    statistics: tuple[str, ...] = field(default=())
    quantities: Mapping[str, str] = field(default_factory=dict)
    certainty: str = ""
    density: bool = False
    gives_log_q: bool = False
    known_processes: tuple[str, ...] = field(default=())
    features: str = ""
    criticize: Mapping[str, Any] | None = None
    fewest: Mapping[str, int] = field(default_factory=dict)
    plan: str = ""
    attribution: AttributionScore | None = None
    commands: str = ""

    def __post_init__(self) -> None:
        if "project" not in self.stages:
            raise ValueError("a critic projects documents onto latents: it needs the stage 'project'")
        if not {"score", "compare"} & set(self.stages):
            raise ValueError("a critic gives numbers: it needs the stage 'score' or 'compare'")
        if unknown := set(self.fewest) - set(COUNTED):
            raise ValueError(f"'fewest' counts {', '.join(COUNTED)}, not {', '.join(sorted(unknown))}")
        if "explain" in self.stages and "evidence" in self.stages.get("compare", self.stages["project"]).value_names:
            raise ValueError("evidence is written by 'explain' or by 'compare', not by both")
        if ("attribute" in self.stages) != (self.attribution is not None):
            raise ValueError(
                "`attribution` says what the number of the stage 'attribute' is: a critic has both, or neither"
            )

    @cached_property
    def scores(self) -> bool:
        """Whether it has a prior and scores every document."""
        return "score" in self.stages

    @cached_property
    def compares(self) -> bool:
        """Whether it compares collections by statistics of its own."""
        return "compare" in self.stages

    def options_of(self, stage: str) -> set[str]:
        """Options that change what a stage writes: its own, and those of the stages whose output it reads."""
        found: set[str] = set()
        waiting, seen = [stage], set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            declared = self.stages[name]
            found |= {*declared.option_names, *(option for option, _ in declared.conditions)}
            waiting += [maker for maker in MAKES if maker in self.stages and _reads(declared, MAKES[maker])]
        return found

    def last(self) -> str:
        """Stage that its numbers are made from."""
        return "compare" if self.compares else "score"


def captions_of(package: str) -> Path:
    """Folder of a critic's captions."""
    (folder,) = import_module(package).__path__
    return Path(folder) / "captions"


def statistics_of(critic: Plugin[Critic]) -> tuple[Statistic, ...]:
    """Everything that a critic declares of its statistics."""
    own = chain.from_iterable(load(where, critic.package) for where in critic.data.statistics)
    return (*own, *load(CLASSIFIER_TWO_SAMPLE_TEST, critic.package))


def difference_tests(critic: Plugin[Critic], statistics: "pd.DataFrame") -> "pd.DataFrame":
    """Those rows of a critic's tidy statistics that test a difference to real text, each test once.

    With so few documents that no test could reach 5 %, whatever they are like, there are no tests; partners only
    swap, and it may take more of them.
    """
    import numpy as np

    from macroscope.statistics.permutation_groups import Permutation
    from macroscope.statistics.tidy import SIGNIFICANT, smallest_p_in

    known = statistics_of(critic)
    tested = statistics[statistics["p_value"].notna()]
    sizes = zip(tested["n_reference"].astype(int), tested["n_candidate"].astype(int), strict=True)
    floors = {size: Permutation(size).smallest_p for size in set(sizes)}
    chosen = []
    for row in tested.itertuples():
        paired = smallest_p_in(row.signature)
        floor = floors[int(row.n_reference), int(row.n_candidate)] if paired is None else paired
        chosen.append(declared(known, row.statistic).difference and floor <= SIGNIFICANT)
    return tested[np.array(chosen, dtype=bool)]


def signature(critic: Plugin[Critic], options: Options, stage: str) -> str:
    """Everything in the options that changes what a stage writes, as key:value pairs joined by '|'."""
    used = critic.data.options_of(stage)
    values = options.model_dump()
    parts = [f"{name}:{_text(values[name])}" for name in type(options).model_fields if name in used]
    return "|".join([f"critic:{critic.name}", *parts])


def _reads(stage: Stage, made: str) -> bool:
    return any(name == made or name.endswith(f"_{made}") for name in stage.input_names)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={_text(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ",".join(f"{item:g}" if isinstance(item, float) else _text(item) for item in value)
    return str(value)

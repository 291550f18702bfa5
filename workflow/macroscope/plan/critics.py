"""What a config implies for the critics: who judges what, and the inputs, options and resources of every stage.

Stages read by these names:

    documents        of the corpus                    latents          of the system
    process          truth of a simulated corpus      control_latents  of the control
    texts            samples of the system            all_latents      of every system of the corpus
    inference        what `train` made                scores           of the system
    prior            what `fit_prior` made            all_evidence     of every system of the corpus
    shared           what `learn_shared` made         own_evidence     of the system

Any other name is one of the critic's own plan, whose method `inputs` gives the files that figures and report read, and
`stage_input` what another stage reads.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.critics import VARIANT, critic_named, critics
from macroscope.critics.declaration import MAKES, SHOWN, STAGES, Critic, captions_of, signature
from macroscope.errors import MacroscopeError, nearest
from macroscope.files import read_json
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.options import CONTROL
from macroscope.plan.pairs import SideBySide
from macroscope.stages import MACHINE, Function, Stage, Wildcards, as_json, flags, load

if TYPE_CHECKING:
    from macroscope.config.schema import Config
    from macroscope.plan.corpora import CorporaPlan
    from macroscope.plan.systems import SystemsPlan

_FOLDER = "results/<run>/critics/{critic}/{corpus}"
PLACES = {
    "documents": "results/<run>/corpora/{corpus}/documents.parquet",
    "process": "results/<run>/corpora/{corpus}/truth/process.json",
    "texts": "results/<run>/systems/{corpus}/{system}/samples.parquet",
    "inference": f"{_FOLDER}/inference",
    "prior": f"{_FOLDER}/prior",
    "shared": f"{_FOLDER}/shared",
    "latents": f"{_FOLDER}/latents/{{system}}.parquet",
    "control_latents": f"{_FOLDER}/latents/{CONTROL}.parquet",
    "scores": f"{_FOLDER}/scores/{{system}}.parquet",
    "control_scores": f"{_FOLDER}/scores/{CONTROL}.parquet",
    "evidence": f"{_FOLDER}/evidence/{{system}}",
    "own_evidence": f"{_FOLDER}/evidence/{{system}}",
    "attributions": f"{_FOLDER}/attributions/{{system}}.parquet",
    "checkpoints": f"{_FOLDER}/checkpoints",
    "known_truth": f"{_FOLDER}/known_truth/{{system}}.json",
    "shards": f"{_FOLDER}/shards/{{system}}/{{shard}}.parquet",
    "statistics": "results/<run>/statistics/{critic}/{corpus}/{system}.csv",
    "two_sample_test": "results/<run>/statistics/{critic}/{corpus}.two_sample_test.csv",
    "pairs": "results/<run>/statistics/{critic}/{corpus}.pairs.csv",
    "score_statistics": "results/<run>/statistics/{critic}/{corpus}/{system}.scores.csv",
}
"""What is read or made -> where it is, with wildcards."""
_DONE_FOR = {"project": ["macroscope.documents"], "compare": ["macroscope.statistics.tidy"]}
"""Stage -> modules that compute for it besides its own."""
_ALL = "all_"
"""Beginning of the name of an input that is there of every system of the corpus."""


class CriticsPlan:
    """The critics of a config.

    Parameters
    ----------
    corpora, systems
        Plans of the rooms to the left.

    Attributes
    ----------
    found
        Every critic that is there, of the config or not, and the config's variants.
    own
        Plans of the critics that have unusual stages.
    side_by_side
        What all systems of a corpus are compared by together.
    """

    def __init__(self, config: "Config", corpora: "CorporaPlan", systems: "SystemsPlan") -> None:
        self.config, self.corpora, self.systems = config, corpora, systems
        self.found = {**critics(), **{name: critic_named(name) for name in config.variant_names()}}
        self.own = {
            name: load(critic.data.plan, critic.package)(config, f"results/{config.run}")
            for name, critic in critics().items()
            if critic.data.plan
        }
        self.side_by_side = SideBySide(self)
        self._check_processes()

    # ---- who judges what -----------------------------------------------------------------------------------------

    @cached_property
    def comparisons(self) -> list[tuple[str, str, str]]:
        """Every (critic, corpus, system) that is asked for, the control always among them; no doubles."""
        found: dict[tuple[str, str, str], None] = {}
        for comparison in self.config.comparisons:
            for critic in comparison.critics:
                for system in (CONTROL, *self.systems.on(comparison.corpus, comparison.systems)):
                    found[critic, comparison.corpus, system] = None
        return list(found)

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Every (corpus, system) that is judged."""
        return list(dict.fromkeys((corpus, system) for _, corpus, system in self.comparisons))

    @cached_property
    def chapters(self) -> dict[tuple[str, str], list[str]]:
        """(critic, corpus) -> the systems that it judges there; none where only the critic's own stages look at it."""
        found: dict[tuple[str, str], list[str]] = {}
        for critic, corpus, system in self.comparisons:
            found.setdefault((critic, corpus), []).append(system)
        for critic, plan in self.own.items():
            for corpus in plan.corpora():
                found.setdefault((critic, corpus), [])
        return found

    @cached_property
    def corpora_used(self) -> list[str]:
        """Corpora that anything is asked about, in the order of the config."""
        used = {corpus for _, corpus in self.chapters}
        used |= {corpus for plan in self.own.values() for corpus in plan.corpora_read()}
        return [name for name in self.config.corpora if name in used]

    def jobs(self) -> list[tuple[str, str]]:
        """(critic, stage) of every standard stage that is a job of the workflow."""
        return [
            (critic, stage)
            for critic, found in self.found.items()
            for stage in STAGES
            if stage in found.data.stages and stage not in SHOWN
        ]

    def with_stage(self, stage: str) -> list[str]:
        """Critics that declare a stage, of the config or not: their rules are there in any case."""
        return [name for name, critic in self.found.items() if stage in critic.data.stages]

    def declared(self, critic: str) -> Critic:
        """What a critic declares."""
        return self.found[critic].data

    def stage(self, critic: str, stage: str) -> Stage:
        """A stage of a critic."""
        return self.found[critic].stage(stage)

    # ---- what a stage reads --------------------------------------------------------------------------------------

    def inputs(self, critic: str, stage: str) -> dict[str, str | Function]:
        """Inputs of a standard stage, by name: patterns, and input functions where they depend on the config."""
        found: dict[str, str | Function] = {}
        for name in self.stage(critic, stage).input_names:
            if name == "all_latents":
                found[name] = self.of_all("latents", critic)
            elif name not in PLACES:
                place = self._of_own_plan(critic, stage, name)
                found |= {name: place} if place is not None else {}
            elif self._is_made(critic, name):
                found[name] = self.place(name, critic)
        return found

    def value_flags(self, critic: str, stage: str) -> Function:
        """Parameter function: the values that a stage reads, as words of its command line."""
        declared = self.stage(critic, stage)
        names = [name for name in declared.value_names if name not in MACHINE]
        if stage == "compare":  # they stand in every row of its statistics
            names += [name for name in ("corpus", "system", "signature", "resampling") if name not in names]

        def values(wildcards: Wildcards) -> list[str]:
            return flags("--value", {name: self._value(name, critic, stage, wildcards) for name in names})

        return values

    def shown_files(self, stage: str) -> list[str]:
        """What a stage of reporting ("overview", "report") reads of all critics and corpora."""
        return sorted({file for critic, corpus in self.chapters for file in self._shown(critic, corpus, stage)})

    # ---- what a stage makes --------------------------------------------------------------------------------------

    def place(self, name: str, critic: str, **wildcards: str) -> str:
        """Where something of `PLACES` is: a pattern, or a path where all wildcards are given."""
        place = PLACES[name].replace("<run>", self.config.run).replace("{critic}", critic)
        return place.format(**wildcards) if wildcards else place

    def outputs(self, critic: str, stage: str) -> list[tuple[str, str, bool]]:
        """(name, pattern, whether it is a folder) of what a standard stage makes; "made" is what it returns by."""
        made = {
            "compare": "statistics",
            "explain": "evidence",
            "known_truth": "known_truth",
            "attribute": "attributions",
        } | MAKES
        name = "shards" if stage == "project" and self.is_sharded else made[stage]
        found = [("made", self.place(name, critic), self.stage(critic, stage).folder)]
        if "evidence" in self.stage(critic, stage).value_names:
            found.append(("evidence", self.place("evidence", critic), True))
        return found

    def log(self, critic: str, stage: str, suffix: str) -> str:
        """Pattern of a job's log file."""
        made = self.outputs(critic, stage)[0][1]
        wildcards = [name for name in ("{corpus}", "{system}", "{shard}") if name in made]
        return f"logs/<run>/{stage}_{critic}/{'/'.join(wildcards)}.{suffix}"

    def score_statistics(self, critic: str) -> str:
        """What the statistics of a critic's scores are called in `PLACES`; they make way for its own `compare`."""
        return "score_statistics" if self.declared(critic).compares else "statistics"

    def statistics(self) -> list[str]:
        """Every table of statistics of the run."""
        found = []
        for critic, corpus, system in self.comparisons:
            declared = self.declared(critic)
            if declared.scores:
                found.append(self.place(self.score_statistics(critic), critic, corpus=corpus, system=system))
            if declared.compares:
                found.append(self.place("statistics", critic, corpus=corpus, system=system))
        judged = [chapter for chapter, systems in self.chapters.items() if systems]
        return found + [self.place("two_sample_test", critic, corpus=corpus) for critic, corpus in judged]

    def attributions(self) -> dict[tuple[str, str, str], str]:
        """(critic, corpus, system) -> file of what the critic has against the system's texts, where it tells."""
        return {
            (critic, corpus, system): self.place("attributions", critic, corpus=corpus, system=system)
            for critic, corpus, system in self.comparisons
            if self.declared(critic).attribution is not None
        }

    def known_truths(self) -> dict[tuple[str, str, str], str]:
        """(critic, corpus, system) -> file of what theory gives, wherever it gives anything."""
        return {
            (critic, corpus, system): self.place("known_truth", critic, corpus=corpus, system=system)
            for critic, corpus, system in self.comparisons
            if self.corpora.options(corpus).kind_of_process in self.declared(critic).known_processes
            and self.systems.order(system) is not None
        }

    def known_log_q(self) -> list[tuple[str, str]]:
        """Every (corpus, system) whose own log q(x) is known, and which a critic estimates as well."""
        estimated = dict.fromkeys((corpus, s) for c, corpus, s in self.comparisons if self.declared(c).gives_log_q)
        return [(corpus, system) for corpus, system in estimated if self.systems.language_models.is_ancestral(system)]

    def estimates(self) -> list[str]:
        """Evidence with estimates of log q(x) of those systems."""
        known = set(self.known_log_q())
        return [
            self.place("evidence", critic, corpus=corpus, system=system)
            for critic, corpus, system in self.comparisons
            if self.declared(critic).gives_log_q and (corpus, system) in known
        ]

    # ---- shards --------------------------------------------------------------------------------------------------

    @property
    def is_sharded(self) -> bool:
        """Whether systems are projected in shards."""
        return self.config.documents_per_shard is not None

    def shard_flags(self, stage: str) -> str | Function:
        """Parameter function: which shard a job projects, as flags; nothing for other stages."""
        if stage != "project" or not self.is_sharded:
            return ""
        size = self.config.documents_per_shard
        return lambda wildcards: f"--shard {wildcards.shard} --documents-per-shard {size}"

    def shards(self, critic: str, wildcards: Wildcards, counted: str) -> list[str]:
        """Latents of all shards of a system whose documents were counted into a file."""
        documents = read_json(Path(counted))["documents"]
        size = self.config.documents_per_shard or max(1, documents)
        place = {"corpus": wildcards.corpus, "system": wildcards.system}
        return [self.place("shards", critic, **place, shard=str(n)) for n in range(max(1, -(-documents // size)))]

    # ---- options, signatures, code -------------------------------------------------------------------------------

    def options(self, critic: str, stage: str) -> str:
        """Those options that a stage looks at, as JSON: nothing else re-runs it."""
        return as_json(self.config.critic(critic), self.stage(critic, stage).option_names)

    def options_of(self, critic: str, stage: str) -> Function:
        """Parameter function: the same; as a mere text, braces in it would be wildcards."""
        options = self.options(critic, stage)
        return lambda wildcards: options

    def signature(self, critic: str, stage: str | None = None) -> str:
        """Everything that changes what a stage writes (by default, the critic's numbers)."""
        last = stage or self.declared(critic).last()
        return f"{signature(self.found[critic], self.config.critic(critic), last)}|run_seed:{self.config.seed}"

    def module(self, critic: str, stage: str) -> str:
        """Module whose function a stage runs."""
        return self.stage(critic, stage).module(self.found[critic].package)

    def modules(self, critic: str, stage: str) -> list[str]:
        """The same, and what `critics.run_stage` does for the stage: it reads documents, or writes statistics."""
        return [self.module(critic, stage), *_DONE_FOR.get(stage, ())]

    def shown_modules(self) -> list[str]:
        """Modules by which the critics of the run contribute to tables, figures and report."""
        return sorted(
            {
                self.module(critic, stage)
                for critic, _ in self.chapters
                for stage in SHOWN
                if stage in self.declared(critic).stages
            }
        )

    def captions(self) -> list[Path]:
        """Captions of the critics of the run."""
        found = {critic: captions_of(self.found[critic].package) for critic, _ in self.chapters}
        return sorted(path for folder in found.values() for path in folder.glob("*.rst"))

    # ---- resources -----------------------------------------------------------------------------------------------

    def megabytes(self, critic: str, stage: str) -> int:
        """Memory of a job."""
        model = self._model(critic, stage)
        return megabytes_of(model) if model else self.stage(critic, stage).megabytes

    def threads(self, critic: str, stage: str) -> int:
        """Cores of a job."""
        model = self._model(critic, stage)
        return threads_of(model) if model else self.stage(critic, stage).threads

    def gpus(self, critic: str, stage: str) -> int:
        """GPUs that a job asks for."""
        model = self._model(critic, stage)
        return gpus_of(model) if model else 0

    # ---- inside --------------------------------------------------------------------------------------------------

    def _check_processes(self) -> None:
        """Check that who looks at a known process does so where there is one that it knows."""
        for critic, corpus, _ in self.comparisons:
            declared = self.declared(critic)
            needs = any(
                "process" in stage.input_names for name, stage in declared.stages.items() if name != "known_truth"
            )
            if needs and self.corpora.options(corpus).kind_of_process not in declared.known_processes:
                raise MacroscopeError(
                    f"critic '{critic}' judges texts by the process that made their corpus, and knows that of simulated"
                    f" corpora of kind {', '.join(declared.known_processes)}; '{corpus}' is none: leave '{critic}' out there"
                )

    def _model(self, critic: str, stage: str) -> str | None:
        option = self.stage(critic, stage).model_option
        return getattr(self.config.critic(critic), option) if option else None

    def _is_made(self, critic: str, name: str) -> bool:
        """Whether an input is there under the critic's options."""
        maker = next((stage for stage, made in MAKES.items() if made == name), None)
        return maker is None or self.stage(critic, maker).takes_part(self.config.critic(critic))

    def _of_own_plan(self, critic: str, stage: str, name: str) -> str | Function | None:
        """Where an input is that the critic's own plan knows; None where it is not there under these options."""
        own = self.own.get(critic.partition(VARIANT)[0])
        if own is None or not hasattr(own, "stage_input"):
            raise MacroscopeError(f"critic '{critic}', stage '{stage}': no '{name}' can be read{nearest(name, PLACES)}")
        place: str | Function | None = own.stage_input(critic, stage, name)
        return place

    def of_all(self, name: str, critic: str) -> Function:
        """Input function: something of every system of a corpus."""

        def found(wildcards: Wildcards) -> list[str]:
            corpus = wildcards.corpus
            return [self.place(name, critic, corpus=corpus, system=system) for system in self.chapters[critic, corpus]]

        return found

    def _shown(self, critic: str, corpus: str, stage: str) -> Iterator[str]:
        declared = self.declared(critic)
        for name in declared.stages[stage].input_names if stage in declared.stages else ():
            own = self.own.get(critic.partition(VARIANT)[0])
            if name.removeprefix(_ALL) not in PLACES and own is not None:
                yield from own.inputs(critic, name, corpus)
            for system in self.chapters[critic, corpus] if name.startswith(_ALL) else ():
                yield self.place(name.removeprefix(_ALL), critic, corpus=corpus, system=system)
            if name in PLACES and self.chapters[critic, corpus]:
                yield self.place(name, critic, corpus=corpus)

    def _value(self, name: str, critic: str, stage: str, wildcards: Wildcards) -> Any:
        if name in ("corpus", "system", "encoder"):
            return getattr(wildcards, name)
        if name == "language":
            return self.corpora.language(wildcards)
        if name == "order":
            return self.systems.order(wildcards.system)
        if name == "signature":
            return self.signature(critic, stage)
        if name == "checkpoints":
            return self.place("checkpoints", critic, corpus=wildcards.corpus)
        if name == "evidence":
            return self.place("evidence", critic, corpus=wildcards.corpus, system=wildcards.system)
        if name == "resampling":
            return self.config.resampling()
        return {"seed": self.config.seed, "confidence": self.config.statistics.confidence}[name]

"""Plan of the critics: the inputs, options and resources of every stage.

Names of the inputs of stages:

    documents        of the corpus                    latents          of the system
    process          truth of a simulated corpus      control_latents  of the control
    texts            samples of the system            all_latents      of every system of the corpus (or all_texts)
    inference        output of `train`                scores           of the system
    prior            output of `fit_prior`            all_evidence     of every system of the corpus
    shared           output of `learn_shared`         own_evidence     of the system
    sentence_vectors of the system (`plan.sentence_vectors`)

Any other name is that of a stage that only this critic has, or a choice of its plan (`plan.own_stages`).
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from macroscope.critics.declaration import MAKES, SHARED_STAGES, SHOWN, STAGES, signature
from macroscope.critics.options import count_folds
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.jobs import OUTPUT, Job, Values, resources_of, value_words
from macroscope.options import CONTROL, matched_reference, original_system, reference_of
from macroscope.plan.comparisons import Comparisons
from macroscope.plan.own_stages import OF_REFERENCE, PLACES, SENTENCE_VECTORS, OwnStagesPlan, place
from macroscope.plan.sentence_vectors import SentenceVectorsPlan
from macroscope.stages import Function, Stage, Wildcards, as_json, module_of

if TYPE_CHECKING:
    from macroscope.config.schema import Config
    from macroscope.plan.corpora import CorporaPlan
    from macroscope.plan.systems import SystemsPlan

OUTPUTS = MAKES | {
    "known_truth": "known_truth",
    "explain": "evidence",
    "compare": "statistics",
    "attribute": "attributions",
    "course": "course",
    "two_sample_test": "two_sample_test",
    "compare_labels": "by_label",
    "compare_pairs": "pairs",
    "measure_power": "power",
    "gather": "latents",
}
"""Stage -> name of its output in `PLACES`."""
_DONE_FOR = {"project": ["macroscope.documents"], "compare": ["macroscope.statistics.tidy"]}
"""Stage -> further modules that compute for it."""
_OF_DOCUMENTS = ("two_sample_test", "compare_labels", "compare_pairs", "measure_power")
"""Stages that read a critic's features of single documents."""
_OF_TESTED = ("two_sample_test", "course")
"""Stages that compare texts at matched length, too."""
ALL_SYSTEMS = "all_"
"""Beginning of the name of an input that every system of the corpus has."""


class CriticsPlan(Comparisons):
    """The critics of a config: its comparisons, and the jobs that they need.

    Attributes
    ----------
    counted
        Function of the path of a collection that returns the file with the number of its documents; the rules set it
        to their checkpoint's output.
    sentence_vectors
        Plan of the sentences that critics embed.
    own_stages
        Plan of the stages that only one critic has.
    """

    def __init__(self, config: "Config", corpora: "CorporaPlan", systems: "SystemsPlan") -> None:
        super().__init__(config, corpora, systems)
        self.counted: Callable[[str], str] = _not_counted
        self.sentence_vectors = SentenceVectorsPlan(self)
        self.own_stages = OwnStagesPlan(self, self.sentence_vectors, self.values)
        self._check_processes()

    def jobs(self) -> list[Job]:
        """Return the jobs of every standard and shared stage, of the critics' own stages, and of what critics share."""
        standard = [self._job(critic, stage) for critic in self.plugins for stage in self._standard_stages(critic)]
        return [*standard, *self.sentence_vectors.jobs(), *self.own_stages.jobs()]

    def count_jobs(self) -> int:
        """Return the number of jobs of systems and critics that the config implies, without those of shards."""
        stages = {
            critic: sum("{system}" in self.outputs(critic, stage)[OUTPUT] for stage in self._standard_stages(critic))
            for critic, _ in self.chapters
        }
        return len(self.pairs) + sum(stages[critic] for critic, _, _ in self.all_comparisons)

    def stage(self, critic: str, stage: str) -> Stage:
        """Return a stage of a critic."""
        return self.plugins[critic].stage(stage)

    # ---- inputs --------------------------------------------------------------------------------------------------

    def inputs(self, critic: str, stage: str) -> dict[str, str | Function]:
        """Return the inputs of a stage by name: paths with wildcards, or input functions."""
        inputs: dict[str, str | Function] = {}
        for name in self.stage(critic, stage).input_names:
            if name == "shards_of_latents":
                inputs[name] = partial(self.shards, critic)
            elif name == "all_statistics":
                inputs[name] = self._statistics_of_all(critic)
            elif name == "all_scores" and not self.declared(critic).scores:
                continue
            elif name == "texts":
                inputs[name] = self._texts(critic)
            elif name == "all_texts":
                inputs[name] = lambda wildcards: [
                    self.texts(critic, wildcards.corpus, system)
                    for system in self._systems_of(critic, wildcards.corpus, stage)
                ]
            elif name in OF_REFERENCE:
                inputs[name] = self._of_reference(name, critic)
            elif name == SENTENCE_VECTORS:
                inputs[name] = self._vectors_of_sentences(critic)
            elif _is_critic_specific(name):
                inputs[name] = self.own_stages.source(critic, stage, name)
            elif name not in PLACES:
                inputs[name] = self.of_all(name.removeprefix(ALL_SYSTEMS), critic, stage)
            elif self._is_made(critic, name):
                inputs[name] = self.place(name, critic)
        return inputs

    def texts(self, critic: str, corpus: str, system: str) -> str:
        """Return the path of the texts of a system that a critic reads.

        They are the system's samples. A critic that learns nothing from the corpus, or is cross-fitted, may compare
        systems with all of its documents (`systems.control.whole`).
        """
        if self._reads_whole_corpus(critic):
            if system == CONTROL:
                return self.corpora.documents(corpus)
            if system == matched_reference(original_system(system)):
                return self.matched_lengths.documents(corpus, system)
        return self.systems.samples(corpus, system)

    def _of_reference(self, name: str, critic: str) -> Function:
        """Return an input function: an entry of `PLACES` for the real texts that a system is compared with."""

        def path(wildcards: Wildcards) -> str:
            return self.place(
                OF_REFERENCE[name], critic, corpus=wildcards.corpus, system=reference_of(wildcards.system)
            )

        return path

    def _vectors_of_sentences(self, critic: str) -> Function:
        """Return an input function: the folder of vectors that the stage `project` reads, if there is one."""

        def folder(wildcards: Wildcards) -> str | list[str]:
            shard = wildcards.shard if self.is_sharded else None
            return self.sentence_vectors.folder(critic, wildcards.corpus, wildcards.system, shard) or []

        return folder

    def _texts(self, critic: str) -> str | Function:
        if self._reads_whole_corpus(critic):
            return lambda wildcards: self.texts(critic, wildcards.corpus, wildcards.system)
        return self.place("texts", critic)

    def _reads_whole_corpus(self, critic: str) -> bool:
        learns = self.declared(critic).learns and self.folds(critic) == 1
        return self.config.system(CONTROL).is_whole_corpus() and not learns

    def folds(self, critic: str) -> int:
        """Return the number of folds of the real texts that a critic, or variant, is fitted to; 1: one fit."""
        declared = self.declared(critic)
        return count_folds(declared, "train", self.config.critic(critic)) if declared.cross_fits else 1

    # ---- outputs -------------------------------------------------------------------------------------------------

    def place(self, name: str, critic: str, **wildcards: str) -> str:
        """Return an entry of `PLACES` for a critic: a pattern, or a path if the wildcards are given."""
        return place(name, self.config.run, critic, **wildcards)

    def outputs(self, critic: str, stage: str) -> dict[str, str]:
        """Return the outputs of a stage by name: paths with wildcards."""
        name = "shards" if stage == "project" and self.is_sharded else OUTPUTS.get(stage, "")
        name = self.score_statistics(critic) if stage == "compare_scores" else name
        outputs = {OUTPUT: self.place(name, critic)}
        if "evidence" in self.stage(critic, stage).value_names:
            outputs["evidence"] = self.place("evidence", critic)
        return outputs

    def score_statistics(self, critic: str) -> str:
        """Return the name in `PLACES` of the statistics of a critic's scores; it depends on `Critic.compares`."""
        return "score_statistics" if self.declared(critic).compares else "statistics"

    # ---- shards --------------------------------------------------------------------------------------------------

    @property
    def is_sharded(self) -> bool:
        """Return whether systems are projected in shards."""
        return self.config.documents_per_shard is not None

    def shards(self, critic: str, wildcards: Wildcards) -> list[str]:
        """Return the latents of all shards of a system."""
        documents = read_json(Path(self.counted(self.texts(critic, wildcards.corpus, wildcards.system))))["documents"]
        size = self.config.documents_per_shard or max(1, documents)
        place = {"corpus": wildcards.corpus, "system": wildcards.system}
        return [self.place("shards", critic, **place, shard=str(n)) for n in range(max(1, -(-documents // size)))]

    # ---- options, signatures, code -------------------------------------------------------------------------------

    def options(self, critic: str, stage: str) -> str:
        """Return the options that a stage gets, as JSON: no other option re-runs it."""
        return as_json(self.config.critic(critic), self.declared(critic).options_given(stage))

    def signature(self, critic: str) -> str:
        """Return everything that changes a critic's numbers."""
        last = self.declared(critic).last()
        return signature(self.plugins[critic], self.config.critic(critic), last, self.config.seed)

    def module(self, critic: str, stage: str) -> str:
        """Return the module whose function a stage runs."""
        return self.stage(critic, stage).module(self.plugins[critic].package)

    def modules(self, critic: str, stage: str) -> list[str]:
        """Return the stage's module and those that `critics.run_stage` needs to read documents or write statistics."""
        declared = self.declared(critic)
        read = [declared.features or "macroscope.critics.features:"] if stage in _OF_DOCUMENTS else []
        tested = declared.collection_statistics if stage in ("two_sample_test", "measure_power") else ()
        of_plugin = [module_of(where, self.plugins[critic].package) for where in (*read, *tested)]
        return [self.module(critic, stage), *_DONE_FOR.get(stage, ()), *of_plugin]

    # ---- helpers -------------------------------------------------------------------------------------------------

    def _check_processes(self) -> None:
        """Check that critics that need a known process judge only corpora with a process that they know."""
        for critic, corpus, _ in self.comparisons:
            declared = self.declared(critic)
            needs = any(
                "process" in stage.input_names for name, stage in declared.stages.items() if name != "known_truth"
            )
            if needs and self.corpora.options(corpus).kind_of_process not in declared.known_processes:
                raise MacroscopeError(
                    f"critic '{critic}' judges texts by the known process of their corpus, which must be simulated, of"
                    f" kind {', '.join(declared.known_processes)}; '{corpus}' is not: leave '{critic}' out there"
                )

    def _standard_stages(self, critic: str) -> list[str]:
        """Return the standard and shared stages of a critic that have a rule of the template."""
        declared = self.declared(critic).all_stages
        names = [stage for stage in (*STAGES, *SHARED_STAGES) if stage in declared and stage not in SHOWN]
        return [stage for stage in names if stage != "gather" or self.is_sharded]

    def _job(self, critic: str, stage: str) -> Job:
        declared, options = self.stage(critic, stage), self.options(critic, stage)
        outputs = self.outputs(critic, stage)
        names = [name for name in declared.value_names if name not in outputs]
        if stage == "compare":  # columns of every row of its statistics
            names += [name for name in ("corpus", "system", "signature", "resampling") if name not in names]
        if "signature" in names:  # the stage builds it from its options and the run's seed
            names = [*(name for name in names if name not in ("signature", "seed")), "seed"]
        if stage == "project" and self.is_sharded:
            names += ["texts_shard", "texts_per_shard"]
        return Job(
            name=f"{stage}_{critic}",
            command=f"critics run --critic {critic} --stage {stage}",
            stage=declared,
            inputs=self.inputs(critic, stage),
            outputs=outputs,
            folders=frozenset(name for name in outputs if name == "evidence" or (name == OUTPUT and declared.folder)),
            options=lambda wildcards: options,
            values=value_words(names, self.values(critic, stage)),
            modules=self.modules(critic, stage),
            resources=resources_of(declared, lambda wildcards: self.config.critic(critic)),
            user_inputs=tuple(name for name in declared.input_names if _is_critic_specific(name)),
            extras=self.declared(critic).extras,
        )

    def _statistics_of_all(self, critic: str) -> Function:
        """Return an input function: a critic's statistics of every system of a corpus."""
        names = ["statistics"] if self.declared(critic).compares else []
        names += [self.score_statistics(critic)] if self.declared(critic).scores else []
        of_systems = [self.of_all(name, critic, "compare_pairs") for name in names]

        def statistics(wildcards: Wildcards) -> list[str]:
            tests = self.place("two_sample_test", critic, corpus=wildcards.corpus)
            return [*(file for of_each in of_systems for file in of_each(wildcards)), tests]

        return statistics

    def _is_made(self, critic: str, name: str) -> bool:
        """Return whether an input is made under the critic's options."""
        maker = next((stage for stage, made in MAKES.items() if made == name), None)
        return maker is None or self.stage(critic, maker).takes_part(self.config.critic(critic))

    def of_all(self, name: str, critic: str, stage: str) -> Function:
        """Return an input function: an entry of `PLACES` for every system of a corpus that a stage reads."""

        def paths(wildcards: Wildcards) -> list[str]:
            corpus = wildcards.corpus
            systems = self._systems_of(critic, corpus, stage)
            return [self.place(name, critic, corpus=corpus, system=system) for system in systems]

        return paths

    def _systems_of(self, critic: str, corpus: str, stage: str) -> list[str]:
        return self.tested(critic, corpus) if stage in _OF_TESTED else self.chapters[critic, corpus]

    def values(self, critic: str, stage: str) -> Values:
        """Return value name -> function of the wildcards of a stage's jobs, of all values of the run."""
        block = self.config.sensitivity

        def path(name: str) -> Function:
            return lambda w: self.place(name, critic, **{key: getattr(w, key) for key in _wildcards(PLACES[name])})

        return {
            **self.corpora.values(),
            "encoder": lambda w: w.encoder,
            "critic": lambda w: critic,
            "systems": lambda w: self._systems_of(critic, w.corpus, stage),
            "pairs": lambda w: self.compared_pairs[critic, w.corpus],
            "damages": lambda w: block.cells() if block is not None else [],
            "sizes": lambda w: block.sizes if block is not None else [],
            "repeats": lambda w: block.repeats if block is not None else 0,
            "order": lambda w: self.systems.order(w.system),
            "checkpoints": path("checkpoints"),
            "texts_shard": lambda w: w.shard,
            "texts_per_shard": lambda w: self.config.documents_per_shard,
        }


def _is_critic_specific(name: str) -> bool:
    """Return whether an input belongs to the critic's own plan: it may be a file of the user."""
    shared = (*PLACES, "shards_of_latents", SENTENCE_VECTORS)
    return name not in shared and name.removeprefix(ALL_SYSTEMS) not in (*PLACES, "statistics")


def _wildcards(place: str) -> list[str]:
    return [name for name in ("corpus", "system", "shard") if f"{{{name}}}" in place]


def _not_counted(texts: str) -> str:
    raise MacroscopeError(f"{texts}: the number of its documents is known only to the workflow")

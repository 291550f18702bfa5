"""Plan of the stages that only one critic has: paths, wildcards and jobs, from declarations and `CriticPlan`."""

from collections.abc import Callable, Mapping
from typing import Any

from macroscope.critics import VARIANT_SEPARATOR
from macroscope.critics.options import vectors_folder
from macroscope.critics.stage_jobs import CriticPlan, Source, StageJob
from macroscope.errors import MacroscopeError, nearest
from macroscope.jobs import OUTPUT, Job, Values, resources_of, value_words
from macroscope.options import CONTROL, reference_of
from macroscope.plan.comparisons import Comparisons
from macroscope.plan.sentence_vectors import SentenceVectorsPlan
from macroscope.stages import ANY_NAME, Function, Stage, Wildcards, as_json

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
    "courses": f"{_FOLDER}/courses/{{system}}.parquet",
    "real_latents": f"{_FOLDER}/latents/{CONTROL}.parquet",
    "known_truth": f"{_FOLDER}/known_truth/{{system}}.json",
    "shards": f"{_FOLDER}/shards/{{system}}/{{shard}}.parquet",
    "statistics": "results/<run>/statistics/{critic}/{corpus}/{system}.csv",
    "two_sample_test": "results/<run>/statistics/{critic}/{corpus}.two_sample_test.csv",
    "course": "results/<run>/statistics/{critic}/{corpus}.course.csv",
    "by_label": "results/<run>/statistics/{critic}/{corpus}.by_label.csv",
    "pairs": "results/<run>/statistics/{critic}/{corpus}.pairs.csv",
    "power": "results/<run>/statistics/{critic}/{corpus}.power.csv",
    "score_statistics": "results/<run>/statistics/{critic}/{corpus}/{system}.scores.csv",
}
"""Name of an input or output -> its path, with wildcards."""
OF_RULES = {"mentions": f"{_FOLDER}/mentions/{{collection}}.parquet"}
"""Name of an output of a rule that is not made from a stage -> its path, with wildcards."""
OF_REFERENCE = {"control_latents": "latents", "control_scores": "scores"}
"""Input about the real texts that a system is compared with -> name of their output in `PLACES`."""
SENTENCE_VECTORS = "sentence_vectors"
"""Name of the input that several critics may share."""
COLLECTION = "collection"
"""Key of a stage that reads a corpus's documents, or a system's samples or a shard of them."""
COLLECTION_NAMES = r"[^/]+(/\d+)?"
"""Wildcard constraint of a collection."""


class OwnStagesPlan:
    """The jobs of the critics' own stages, and the inputs that all stages read from these.

    Parameters
    ----------
    comparisons
        The comparisons of the config.
    sentence_vectors
        Plan of the sentences that critics embed.
    values
        Function of a critic and a stage that returns the values of the run.
    """

    def __init__(
        self,
        comparisons: Comparisons,
        sentence_vectors: SentenceVectorsPlan,
        values: Callable[[str, str], Values],
    ) -> None:
        self.comparisons, self.sentence_vectors, self.values = comparisons, sentence_vectors, values
        self.config = comparisons.config

    def jobs(self) -> list[Job]:
        """Return the job of each own stage of each critic and variant, if it runs under the options."""
        return [
            self._job(critic, stage)
            for critic in self.comparisons.plugins
            for stage in self.comparisons.declared(critic).own_stages
            if self._is_made(critic, stage)
        ]

    def plan_of(self, critic: str) -> CriticPlan:
        """Return the plan of a critic, which its variants share."""
        return self.comparisons.own[critic.partition(VARIANT_SEPARATOR)[0]]

    def source(self, critic: str, stage: str, name: str) -> Function:
        """Return an input function: an input that is not a standard one."""
        if not self.comparisons.declared(critic).plan:  # else the options may decide
            self._require_maker(critic, stage, name)
        return lambda wildcards: self._input(self._about(critic, stage, wildcards), name)

    def shown(self, critic: str, corpus: str, stage: str, name: str) -> list[str]:
        """Return the files of an input that figures or report read."""
        files = self._input(StageJob(stage, critic, corpus, {}), name)
        return files if isinstance(files, list) else [files]

    # ---- jobs ----------------------------------------------------------------------------------------------------

    def _job(self, critic: str, stage: str) -> Job:
        declared, choices = self._stage(critic, stage), self.plan_of(critic)

        def given(choose: Callable[[StageJob], Any]) -> Function:
            return lambda wildcards: choose(self._about(critic, stage, wildcards))

        return Job(
            name=f"{stage}_{critic}",
            command=f"critics run --critic {critic} --stage {stage}",
            stage=declared,
            inputs={name: self.source(critic, stage, name) for name in declared.input_names},
            outputs={OUTPUT: self._place(critic, stage)},
            folders=frozenset({OUTPUT} if declared.folder else ()),
            options=given(lambda job: as_json(choices.options(job), declared.option_names)),
            values=self._values(critic, stage),
            modules=[declared.module(self.comparisons.plugins[critic].package)],
            resources=resources_of(declared, given(choices.model_options)),
            constraints=_constraints(declared),
            user_inputs=declared.input_names,
            extras=self.comparisons.declared(critic).extras,
        )

    def _values(self, critic: str, stage: str) -> Function:
        declared, of_run = self._stage(critic, stage), self.values(critic, stage)

        def value(name: str) -> Function:
            def chosen(wildcards: Wildcards) -> Any:
                job = self._about(critic, stage, wildcards)
                given = {"checkpoints": self._checkpoints(job), **job.keys, **self.plan_of(critic).values(job)}
                return given[name] if name in given else of_run[name](wildcards)

            return chosen

        words = value_words(declared.value_names, {name: value(name) for name in declared.value_names})
        return lambda wildcards: [*words(wildcards), *self.sentence_vectors.shard_words(wildcards)]

    def _checkpoints(self, job: StageJob) -> str:
        return f"{self._folder(job.critic, job.corpus)}/checkpoints/{'.'.join([job.stage, *job.keys.values()])}"

    def _about(self, critic: str, stage: str, wildcards: Wildcards) -> StageJob:
        """Return what a job is about."""
        names = self._stage(critic, stage).keys or ("system", "shard")
        keys = {name: getattr(wildcards, name) for name in names if hasattr(wildcards, name)}
        return StageJob(stage, critic, wildcards.corpus, keys)

    # ---- inputs --------------------------------------------------------------------------------------------------

    def _input(self, job: StageJob, name: str) -> str | list[str]:
        sources: Mapping[str, Source] = self.plan_of(job.critic).sources(job)
        if name not in sources:
            self._require_maker(job.critic, job.stage, name)
        source = sources.get(name, job.output(name))
        return self._path(source) if isinstance(source, str | StageJob) else [self._path(item) for item in source]

    def _path(self, source: StageJob | str) -> Any:
        """Return the path of a user's file, or of the output of a job; none if the job is not needed."""
        if isinstance(source, str):
            return source
        stage, corpus, keys = source.stage, source.corpus, source.keys
        if stage == SENTENCE_VECTORS:
            return vectors_folder(self.comparisons.corpora.results, corpus, keys["encoding"], keys[COLLECTION])
        if stage in self.comparisons.declared(source.critic).own_stages:
            return self._place(source.critic, stage).format(corpus=corpus, **keys)
        if COLLECTION in keys and stage in ("documents", "texts"):
            return self.sentence_vectors.collection(corpus, keys[COLLECTION], stage)
        if stage in OF_REFERENCE:
            keys = {"system": reference_of(keys["system"])}
        return place(OF_REFERENCE.get(stage, stage), self.config.run, source.critic, corpus=corpus, **keys)

    def _require_maker(self, critic: str, stage: str, name: str) -> None:
        if name not in (*self.comparisons.declared(critic).own_stages, *PLACES):
            raise MacroscopeError(
                f"critic '{critic}', stage '{stage}': there is no input '{name}'{nearest(name, PLACES)}"
            )

    # ---- outputs -------------------------------------------------------------------------------------------------

    def _is_made(self, critic: str, stage: str) -> bool:
        """Return whether a stage has jobs for a critic or variant."""
        declared = self._stage(critic, stage)
        is_shared = declared.once and VARIANT_SEPARATOR in critic
        return not is_shared and declared.takes_part(self.config.critic(critic))

    def _place(self, critic: str, stage: str) -> str:
        """Return the path of a stage's output, with wildcards."""
        declared = self._stage(critic, stage)
        owner = critic.partition(VARIANT_SEPARATOR)[0] if declared.once else critic
        return f"{self._folder(owner, '{corpus}')}/{declared.output}"

    def _stage(self, critic: str, stage: str) -> Stage:
        return self.comparisons.plugins[critic].stage(stage)

    def _folder(self, critic: str, corpus: str) -> str:
        return f"results/{self.config.run}/critics/{critic}/{corpus}"


def place(name: str, run: str, critic: str, **wildcards: str) -> str:
    """Return an entry of `PLACES` for a critic: a pattern, or a path if the wildcards are given."""
    pattern = (PLACES | OF_RULES)[name].replace("<run>", run).replace("{critic}", critic)
    return pattern.format(**wildcards) if wildcards else pattern


def _constraints(stage: Stage) -> dict[str, str]:
    """Return key -> regular expression, of the keys that not all rules have."""
    names = [name for name in stage.keys if name not in ("system", "shard")]
    return {name: {COLLECTION: COLLECTION_NAMES, "task": "[^/.]+"}.get(name, ANY_NAME) for name in names}

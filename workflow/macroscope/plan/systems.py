"""Plan of the systems: the jobs that a config implies, with their files, options and resources.

Inputs that a stage of a kind of system may read, besides the values of `stages.VALUES`:

documents
    Documents of the corpus.
process
    truth/process.json of a simulated corpus.
other_samples
    Samples of the system that this one is made from (`SystemOptions.made_from`).
files
    Files that the samples are read from (`SystemOptions.files_read`).
tokenizer, model
    Folders that the stages `train_tokenizer` and `train` or `finetune` wrote; of a system that samples another system's
    model, that model.
weights
    Retrieved weights of the base of a language model; none for most bases.
prompts
    The control's samples, whose first words are the prompts; none if the system has no prompts.
shards_of_samples, samples
    Samples of a language model: in shards, and together.
perplexity
    Perplexity of the documents of the test split.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from macroscope.errors import MacroscopeError, nearest
from macroscope.jobs import OUTPUT, Job, Resources, Values, resources_of, value_words
from macroscope.options import CONTROL
from macroscope.plan.corpora import CorporaPlan
from macroscope.plan.language_models import LANGUAGE_MODEL, LanguageModelsPlan
from macroscope.stages import Function, Stage, Wildcards, alternatives, as_json
from macroscope.systems import kinds
from macroscope.systems.declaration import GENERATE, MEASURE, SUMMARISE, TRAIN
from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config

_FOLDER = "results/<run>/systems/{corpus}/{system}"
OUTPUTS = {
    TRAIN: f"{_FOLDER}/model",
    GENERATE: f"{_FOLDER}/samples.parquet",
    MEASURE: f"{_FOLDER}/perplexity/{{split}}.parquet",
    SUMMARISE: "results/<run>/statistics/perplexity/{corpus}/{system}.csv",
    "train_tokenizer": f"{_FOLDER}/tokenizer",
    "finetune": f"{_FOLDER}/model",
    "copy_base": f"{_FOLDER}/model",
    "sample": f"{_FOLDER}/shards/{{shard}}.parquet",
    "gather_samples": f"{_FOLDER}/samples.parquet",
    "measure_log_probabilities": f"{_FOLDER}/log_probabilities.parquet",
}
"""Stage -> path of its output. Stages of any other name write no result of the workflow."""
SHARED = (TRAIN, GENERATE, MEASURE, SUMMARISE)
"""Stages that several kinds have: the names of their rules end with the kind."""


class SystemsPlan:
    """The systems of a config, the control always among them.

    Attributes
    ----------
    all
        Every system by its name.
    language_models
        Plan of the systems that sample language models.
    """

    def __init__(self, config: "Config", results: str, corpora: CorporaPlan) -> None:
        self.config, self.results, self.corpora = config, results, corpora
        self.all: dict[str, SystemOptions] = {CONTROL: config.system(CONTROL), **config.systems}
        self.language_models = LanguageModelsPlan(config, results, self.all)

    def order(self, system: str) -> str | None:
        """Return the order that a known process gave the system's documents; None if it is unknown."""
        return self.all[system].order_of_process()

    def on(self, corpus: str, systems: str | list[str]) -> list[str]:
        """Return the systems among `systems`, or among all of the config, that have samples of a corpus."""
        names = self.config.systems if systems == "all" else systems
        return [name for name in names if self.config.applies(name, corpus)]

    def samples(self, corpus: str, system: str) -> str:
        """Return the path of a system's samples."""
        return f"{self.results}/systems/{corpus}/{system}/samples.parquet"

    # ---- jobs ----------------------------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        """Return the jobs of every stage of every kind of system."""
        return [self._job(kind, stage) for kind, plugin in kinds().items() for stage in plugin.data.all_stages]

    def stage(self, kind: str, stage: str) -> Stage:
        """Return a stage of a kind of system."""
        return kinds()[kind].stage(stage)

    def _job(self, kind: str, stage: str) -> Job:
        declared = self.stage(kind, stage)
        if stage not in OUTPUTS:
            raise MacroscopeError(f"kind '{kind}': no stage of a system is called '{stage}'{nearest(stage, OUTPUTS)}")
        folder = OUTPUTS[GENERATE].rpartition("/")[0]
        beside = {name.partition(".")[0]: f"{folder}/{name}" for name in declared.beside.split()}
        return Job(
            name=f"{stage}_{kind}" if stage in SHARED else stage,
            command=f"systems run --kind {kind} --stage {stage}",
            stage=declared,
            inputs=self._inputs(kind, stage),
            outputs={OUTPUT: OUTPUTS[stage], **beside},
            folders=frozenset({OUTPUT} if declared.folder else ()),
            options=lambda wildcards: as_json(self._options(wildcards), ("kind", *declared.option_names)),
            values=value_words(declared.value_names, self._values()),
            modules=self._modules(kind, stage),
            resources=self._resources(stage, declared),
            user_inputs=("files",),
            extras=kinds()[kind].data.extras,
            constraints={"system": alternatives(self._systems_of(kind, stage))},
        )

    def _systems_of(self, kind: str, stage: str) -> list[str]:
        """Return the systems that have a job of a stage."""
        if kind == LANGUAGE_MODEL:
            return self.language_models.systems_of(stage)
        measures = stage in (MEASURE, SUMMARISE)
        of_kind = {name: system for name, system in self.all.items() if system.kind == kind}
        return [name for name, system in of_kind.items() if system.has_perplexity() or not measures]

    def _options(self, wildcards: Wildcards) -> SystemOptions:
        """Return the options of a job: of a system that samples a language model, those of the two together."""
        system = self.all[wildcards.system]
        return system.as_language_model(self.config) or system

    def _inputs(self, kind: str, stage: str) -> dict[str, str | Function]:
        names, functions = self.stage(kind, stage).input_names, self._input_functions()
        for name in names:
            if name not in functions:
                raise MacroscopeError(
                    f"kind '{kind}', stage '{stage}': there is no input '{name}'{nearest(name, functions)}"
                )
        return {name: functions[name] for name in names}

    def _modules(self, kind: str, stage: str) -> Callable[[Wildcards], list[str]]:
        """Parameter function: the module that runs a stage, and the known process that it samples, if it does."""
        declared = self.stage(kind, stage)
        module = declared.module(kinds()[kind].package)
        if "process" not in declared.input_names:
            return lambda wildcards: [module]
        return lambda wildcards: [module, self.corpora.generating_module(wildcards)]

    def _resources(self, stage: str, declared: Stage) -> Resources:
        """Return the resources of a stage's job; those of a kind without a pretrained model may grow with options."""
        if declared.model_option:
            return resources_of(declared, self._options)
        return Resources(
            declared.threads,
            lambda wildcards: self.all[wildcards.system].megabytes(stage) or declared.megabytes,
            lambda wildcards: self.all[wildcards.system].gpus(stage),
        )

    # ---- inputs and values ---------------------------------------------------------------------------------------

    def _input_functions(self) -> dict[str, Function]:
        def file_of_system(name: str) -> Function:
            return lambda w: f"{self.results}/systems/{w.corpus}/{w.system}/{name}"

        return {
            "documents": lambda w: self.corpora.documents(w.corpus),
            "process": lambda w: self.corpora.process(w.corpus),
            "other_samples": self._other_samples,
            "files": lambda w: self.all[w.system].files_read(f"systems.{w.system}"),
            "tokenizer": file_of_system("tokenizer"),
            "model": lambda w: f"{self.results}/systems/{w.corpus}/{self.all[w.system].model_of(w.system)}/model",
            "weights": lambda w: self.language_models.weights(w.system),
            "prompts": lambda w: [self.samples(w.corpus, CONTROL)] if self._options(w).has_prompts() else [],
            "samples": file_of_system("samples.parquet"),
            "shards_of_samples": self.language_models.shards,
            "perplexity": file_of_system("perplexity/test.parquet"),
        }

    def _other_samples(self, wildcards: Wildcards) -> str:
        system = self.all[wildcards.system]
        source = system.made_from()
        assert source is not None  # a kind with this input names the system
        return self.samples(system.made_on(wildcards.corpus), source)

    def _values(self) -> Values:
        return {
            **self.corpora.values(),
            "split": lambda w: w.split,
            "shard": lambda w: w.shard,
            "shards": self.language_models.shard_count,
            "kind_of_process": lambda w: self.corpora.options(w.corpus).kind_of_process,
            "checkpoints": lambda w: f"{self.results}/systems/{w.corpus}/{w.system}/checkpoints",
        }

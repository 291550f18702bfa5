"""What a config implies for the systems: files, options, resources; methods that take `wildcards` are a rule's.

What a stage of a kind of system may read, besides the values of `stages.VALUES`:

documents
    Of the corpus.
process
    truth/process.json of a simulated corpus.
other_samples
    Samples of the system that this one is made from (`SystemOptions.made_from`).
files
    Files that the samples are read from (`SystemOptions.files_read`).
model
    Folder that the stage `train` of the kind made.
prompts
    Documents whose first words samples begin with: the control's, where the system has prompts.

Stages of language models have rules of their own, which name their further inputs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from macroscope.errors import MacroscopeError, nearest
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.options import CONTROL
from macroscope.plan.corpora import CorporaPlan
from macroscope.plan.language_models import LanguageModelsPlan
from macroscope.stages import Stage, Wildcards, alternatives, as_json, flags
from macroscope.systems import kinds
from macroscope.systems.declaration import GENERATE, MEASURE, TRAIN
from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class SystemsPlan:
    """The systems of a config, the control always among them.

    Attributes
    ----------
    all
        Every system by its name.
    language_models
        What is particular about those that sample language models.
    """

    def __init__(self, config: "Config", results: str, corpora: CorporaPlan) -> None:
        self.config, self.results, self.corpora = config, results, corpora
        self.all: dict[str, SystemOptions] = {CONTROL: config.system(CONTROL), **config.systems}
        self.language_models = LanguageModelsPlan(config, results, self.all)

    def generated_kinds(self) -> list[str]:
        """Kinds whose samples are made in one step."""
        return [name for name, kind in kinds().items() if GENERATE in kind.data.stages]

    def trained_kinds(self) -> list[str]:
        """Kinds, language models aside, that train a model."""
        return [name for name in self.generated_kinds() if TRAIN in kinds()[name].data.stages]

    def measured_kinds(self) -> list[str]:
        """Kinds, language models aside, whose systems may have a perplexity."""
        return [name for name in self.generated_kinds() if MEASURE in kinds()[name].data.stages]

    def measured(self, kind: str) -> str:
        """Wildcard constraint: names of the systems of a kind that have a perplexity."""
        return alternatives(
            name for name, system in self.all.items() if system.kind == kind and system.has_perplexity()
        )

    def perplexity_signature(self, wildcards: Wildcards) -> str:
        """What a perplexity depends on."""
        system = self.all[wildcards.system]
        if not system.has_perplexity():
            return self.language_models.perplexity_signature(wildcards)
        values = system.model_dump(mode="json", include=set(self.stage(system.kind, MEASURE).option_names))
        return "|".join([f"kind:{system.kind}", *(f"{name}:{value}" for name, value in values.items()), "split:test"])

    def of_kind(self, kind: str) -> str:
        """Wildcard constraint: names of the systems of a kind."""
        return alternatives(name for name, system in self.all.items() if system.kind == kind)

    def order(self, system: str) -> str | None:
        """Order that a known process, where a corpus has one, gave the system's documents; None where it is unknown."""
        return self.all[system].order_of_process()

    def on(self, corpus: str, systems: str | list[str]) -> list[str]:
        """Those of some systems, or of all of the config, that have samples of a corpus."""
        names = self.config.systems if systems == "all" else systems
        return [name for name in names if self.config.applies(name, corpus)]

    # ---- files ---------------------------------------------------------------------------------------------------

    def samples(self, corpus: str, system: str) -> str:
        """Samples of a system."""
        return f"{self.results}/systems/{corpus}/{system}/samples.parquet"

    def written_beside(self, kind: str) -> list[str]:
        """Patterns of the files that drawing the samples of a kind of system writes beside them."""
        names = self.stage(kind, GENERATE).beside.split()
        return [f"results/<run>/systems/{{corpus}}/{{system}}/{name}" for name in names]

    def inputs(self, kind: str, stage: str) -> Callable[[Wildcards], dict[str, str | list[str]]]:
        """Input function, to unpack: the files that a stage reads."""
        names, known = self.stage(kind, stage).input_names, self._inputs()
        for name in names:
            if name not in known:
                raise MacroscopeError(f"kind '{kind}', stage '{stage}': no '{name}' can be read{nearest(name, known)}")
        return lambda wildcards: {name: known[name](wildcards) for name in names}

    def files_below(self, wildcards: Wildcards) -> str:
        """Parameter function: which files the folders have below them that a system's samples are read from."""
        return self.corpora.digest_below(self.all[wildcards.system].files_read(f"systems.{wildcards.system}"))

    def resources_read(self, wildcards: Wildcards) -> list[str]:
        """Files of the project's resources that a system's samples depend on."""
        return self.all[wildcards.system].resources_read(self.corpora.language(wildcards))

    # ---- a stage's job -------------------------------------------------------------------------------------------

    def stage(self, kind: str, stage: str) -> Stage:
        """A stage of a kind of system."""
        return kinds()[kind].stage(stage)

    def module(self, kind: str, stage: str) -> str:
        """Dotted name of the module that runs a stage."""
        return self.stage(kind, stage).module(kinds()[kind].package)

    def modules(self, kind: str, stage: str) -> Callable[[Wildcards], list[str]]:
        """Parameter function: that module, and the one that draws from a simulated corpus's process, where it does."""
        own, declared = self.module(kind, stage), self.stage(kind, stage)
        if "process" not in declared.input_names:
            return lambda wildcards: [own]
        return lambda wildcards: [own, self.corpora.generating_module(wildcards)]

    def options(self, kind: str, stage: str) -> Callable[[Wildcards], str]:
        """Parameter function: the options of a system that a stage looks at."""
        names = ("kind", *self.stage(kind, stage).option_names)
        return lambda wildcards: as_json(self.all[wildcards.system], names)

    def values(self, kind: str, stage: str) -> Callable[[Wildcards], list[str]]:
        """Parameter function: the values of the run that a stage reads, as words of its command line."""
        names = self.stage(kind, stage).value_names

        def words(wildcards: Wildcards) -> list[str]:
            known = self._values(wildcards)
            return flags("--value", {name: known[name]() for name in names if name in known})

        return words

    def megabytes(self, kind: str, stage: str) -> Callable[[Wildcards], int]:
        """Memory of a stage's job."""
        declared = self.stage(kind, stage)
        if declared.model_option:
            return self._resource(kind, stage, megabytes_of, 0)
        return lambda wildcards: self.all[wildcards.system].megabytes(stage) or declared.megabytes

    def threads(self, kind: str, stage: str) -> Callable[[Wildcards], int]:
        """Cores of a stage's job."""
        return self._resource(kind, stage, threads_of, self.stage(kind, stage).threads)

    def gpus(self, kind: str, stage: str) -> Callable[[Wildcards], int]:
        """GPUs that a stage's job asks for."""
        if not self.stage(kind, stage).model_option:
            return lambda wildcards: self.all[wildcards.system].gpus(stage)
        return self._resource(kind, stage, gpus_of, 0)

    # ---- inside --------------------------------------------------------------------------------------------------

    def _resource(
        self, kind: str, stage: str, of_model: Callable[[str], int], otherwise: int
    ) -> Callable[[Wildcards], int]:
        needs = self.stage(kind, stage).model_option
        if not needs:
            return lambda wildcards: otherwise
        return lambda wildcards: of_model(getattr(self.all[wildcards.system], needs))

    def _inputs(self) -> dict[str, Callable[[Wildcards], str | list[str]]]:
        return {
            "documents": lambda wildcards: self.corpora.documents(wildcards.corpus),
            "process": lambda wildcards: self.corpora.process(wildcards.corpus),
            "other_samples": self._other_samples,
            "model": lambda wildcards: f"{self.results}/systems/{wildcards.corpus}/{wildcards.system}/model",
            "files": lambda wildcards: self.all[wildcards.system].files_read(f"systems.{wildcards.system}"),
            "prompts": self._prompts,
        }

    def _prompts(self, wildcards: Wildcards) -> list[str]:
        return [self.samples(wildcards.corpus, CONTROL)] if self.all[wildcards.system].has_prompts() else []

    def _other_samples(self, wildcards: Wildcards) -> str:
        system = self.all[wildcards.system]
        other = system.made_from()
        assert other is not None  # a kind that reads them says whose
        return self.samples(system.made_on(wildcards.corpus), other)

    def _values(self, wildcards: Wildcards) -> dict[str, Callable[[], object]]:
        """Values by their names; each is made where it is asked for, since not every job has every wildcard."""
        return {
            "corpus": lambda: wildcards.corpus,
            "system": lambda: wildcards.system,
            "seed": lambda: self.config.seed,
            "language": lambda: self.corpora.language(wildcards),
            "kind_of_process": lambda: self.corpora.options(wildcards.corpus).kind_of_process,
            **self.language_models.values(wildcards),
        }

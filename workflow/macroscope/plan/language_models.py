"""What a config implies for systems that sample language models; methods that take `wildcards` are a rule's."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from macroscope.errors import MacroscopeError
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.options import CONTROL
from macroscope.stages import Stage, Wildcards, alternatives, as_json
from macroscope.systems.language_model import KIND
from macroscope.systems.language_model.options import Ancestral, LanguageModelSystem
from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class LanguageModelsPlan:
    """The systems of a config that sample language models, their own or another system's.

    Parameters
    ----------
    systems
        Every system by its name.
    results
        Folder of the run's results.
    """

    def __init__(self, config: "Config", results: str, systems: Mapping[str, SystemOptions]) -> None:
        self.config, self.results, self.systems = config, results, systems

    # ---- which systems -------------------------------------------------------------------------------------------

    def asked(self, system: str) -> LanguageModelSystem | None:
        """What a system that samples a language model asks for; None for one that does not."""
        return self.systems[system].as_language_model(self.config)

    def model_of(self, system: str) -> str:
        """Name of the system that makes the model which a system samples."""
        return self.systems[system].model_of(system)

    def has_model(self, system: str) -> bool:
        """Whether a system makes a language model, trained or taken as published."""
        return self.asked(system) is not None and self.model_of(system) == system

    def is_trained(self, system: str) -> bool:
        """Whether a system makes a language model and trains it."""
        return self.has_model(system) and self._asked(system).training is not None

    def is_ancestral(self, system: str) -> bool:
        """Whether a system draws from the own distribution of a language model."""
        asked = self.asked(system)
        return asked is not None and isinstance(asked.decoding, Ancestral)

    @property
    def models(self) -> str:
        """Wildcard constraint: systems that make a language model."""
        return alternatives(filter(self.has_model, self.systems))

    @property
    def trained(self) -> str:
        """Wildcard constraint: those of them that are trained."""
        return alternatives(filter(self.is_trained, self.systems))

    @property
    def published(self) -> str:
        """Wildcard constraint: those of them that are taken as they were published."""
        return alternatives(s for s in self.systems if self.has_model(s) and not self.is_trained(s))

    @property
    def sampled(self) -> str:
        """Wildcard constraint: systems that sample a language model."""
        return alternatives(system for system in self.systems if self.asked(system))

    @property
    def ancestral(self) -> str:
        """Wildcard constraint: those of them that draw from its own distribution."""
        return alternatives(filter(self.is_ancestral, self.systems))

    # ---- files ---------------------------------------------------------------------------------------------------

    def model(self, wildcards: Wildcards) -> str:
        """Folder of the model that a system samples."""
        return f"{self.results}/systems/{wildcards.corpus}/{self.model_of(wildcards.system)}/model"

    def shards(self, wildcards: Wildcards) -> list[str]:
        """Sampling shards of a system."""
        folder = f"{self.results}/systems/{wildcards.corpus}/{wildcards.system}/shards"
        return [f"{folder}/{shard}.parquet" for shard in range(self.shard_count(wildcards))]

    def shard_count(self, wildcards: Wildcards) -> int:
        """Number of sampling shards of a system."""
        asked = self._asked(wildcards.system)
        return -(-asked.samples // asked.samples_per_shard)

    def prompts(self, wildcards: Wildcards) -> list[str]:
        """Documents that the samples of a system begin as: the control's, where the system has prompts."""
        prompted = self._asked(wildcards.system).prompt_words
        return [f"{self.results}/systems/{wildcards.corpus}/{CONTROL}/samples.parquet"] if prompted else []

    def log_probabilities(self, corpus: str, system: str) -> str:
        """Table of the log-probabilities that a language model gives to its own samples; made where it is asked for.

        Raises
        ------
        MacroscopeError
            Where the samples do not come from the model's own distribution.
        """
        if not self.is_ancestral(system):
            raise MacroscopeError(
                f"systems.{system}: the log-probabilities of its samples are not known; take a system of kind"
                " language_model or resampled with decoding: {rule: ancestral}"
            )
        return f"{self.results}/systems/{corpus}/{system}/log_probabilities.parquet"

    # ---- a stage's job -----------------------------------------------------------------------------------------------

    def stage(self, name: str) -> Stage:
        """A stage of the kind language_model."""
        return KIND.stages[name]

    def module(self, stage: str) -> str:
        """Dotted name of the module that runs a stage."""
        return self.stage(stage).module("macroscope.systems.language_model")

    def values(self, wildcards: Wildcards) -> dict[str, Callable[[], object]]:
        """Values of a job that only stages of language models read; each is made where it is asked for."""
        folder = f"{self.results}/systems/{wildcards.corpus}/{wildcards.system}"
        return {
            "split": lambda: wildcards.split,
            "shard": lambda: wildcards.shard,
            "shards": lambda: self.shard_count(wildcards),
            "checkpoints": lambda: f"{folder}/checkpoints",
        }

    def options(self, stage: str) -> Callable[[Wildcards], str]:
        """Parameter function: what a stage looks at of what a system asks for."""
        names = ("kind", *self.stage(stage).option_names)
        return lambda wildcards: as_json(self._asked(wildcards.system), names)

    def perplexity_signature(self, wildcards: Wildcards) -> str:
        """What a perplexity depends on."""
        asked = self._asked(wildcards.system)
        context = asked.context or "model"
        training = "|training:none" if asked.training is None else ""
        by_document = asked.training is not None and asked.training.windows == "documents"
        windows = "documents" if by_document else "joined_stream"
        return f"base:{asked.base}|titles:{asked.titles}|context:{context}|windows:{windows}|split:test{training}"

    def gpus(self, wildcards: Wildcards) -> int:
        """GPUs that a job with a language model asks for."""
        return gpus_of(self._asked(wildcards.system).base)

    def threads(self, wildcards: Wildcards) -> int:
        """Cores of a job with a language model."""
        return threads_of(self._asked(wildcards.system).base)

    def megabytes(self, wildcards: Wildcards) -> int:
        """Memory of a job with a language model."""
        return megabytes_of(self._asked(wildcards.system).base)

    def _asked(self, system: str) -> LanguageModelSystem:
        found = self.asked(system)
        if found is None:
            raise TypeError(f"system {system} is of kind {self.systems[system].kind}, not a language model")
        return found

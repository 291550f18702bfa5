"""Plan of the language models: the systems that train, copy or sample one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from macroscope.errors import MacroscopeError
from macroscope.models import retrieved_weights
from macroscope.stages import Wildcards
from macroscope.systems.language_model.options import Ancestral, LanguageModelSystem
from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config

(LANGUAGE_MODEL,) = get_args(LanguageModelSystem.model_fields["kind"].annotation)
"""Kind whose stages run for systems that sample another system's model, too."""


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

    def options(self, system: str) -> LanguageModelSystem | None:
        """Return the options under which a system samples a language model; None if it samples none."""
        options = self.systems[system].as_language_model(self.config)
        return options if isinstance(options, LanguageModelSystem) else None

    def model_of(self, system: str) -> str:
        """Return the name of the system whose model a system samples."""
        return self.systems[system].model_of(system)

    def has_model(self, system: str) -> bool:
        return self.options(system) is not None and self.model_of(system) == system

    def is_trained(self, system: str) -> bool:
        return self.has_model(system) and self._options(system).training is not None

    def is_ancestral(self, system: str) -> bool:
        """Return whether a system samples from the unmodified distribution of a language model."""
        options = self.options(system)
        return options is not None and isinstance(options.decoding, Ancestral)

    def systems_of(self, stage: str) -> list[str]:
        """Return the systems that have a job of a stage of language models."""
        if stage in ("train_tokenizer", "finetune"):
            return [name for name in self.systems if self.is_trained(name)]
        if stage == "copy_base":
            return [name for name in self.systems if self.has_model(name) and not self.is_trained(name)]
        if stage in ("sample", "gather_samples"):
            return [name for name in self.systems if self.options(name)]
        if stage == "measure_log_probabilities":
            return [name for name in self.systems if self.is_ancestral(name)]
        return [name for name in self.systems if self.has_model(name)]

    def weights(self, system: str) -> list[str]:
        """Return the retrieved file with the weights of a system's base; none for most bases."""
        from macroscope.corpora.raw_files import data_path
        from macroscope.corpora.retrieval import find_remote_source

        base = self._options(system).base
        file = retrieved_weights(base)
        return [] if file is None else [data_path(find_remote_source(base), file)]

    def shards(self, wildcards: Wildcards) -> list[str]:
        """Return the sampling shards of a system."""
        folder = f"{self.results}/systems/{wildcards.corpus}/{wildcards.system}/shards"
        return [f"{folder}/{shard}.parquet" for shard in range(self.shard_count(wildcards))]

    def shard_count(self, wildcards: Wildcards) -> int:
        """Return the number of sampling shards of a system."""
        options = self._options(wildcards.system)
        return -(-options.samples // options.samples_per_shard)

    def log_probabilities(self, corpus: str, system: str) -> str:
        """Return the table of log-probabilities that a language model gives to its own samples.

        Raises
        ------
        MacroscopeError
            If the samples do not come from the model's unmodified distribution.
        """
        if not self.is_ancestral(system):
            raise MacroscopeError(
                f"systems.{system}: the log-probabilities of its samples are unknown; take a system of kind"
                " language_model or resampled with decoding: {rule: ancestral}"
            )
        return f"{self.results}/systems/{corpus}/{system}/log_probabilities.parquet"

    def _options(self, system: str) -> LanguageModelSystem:
        options = self.options(system)
        if options is None:
            raise TypeError(f"system {system} is of kind {self.systems[system].kind}, not a language model")
        return options

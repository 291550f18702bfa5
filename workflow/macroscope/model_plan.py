"""What a config implies for systems that sample language models: their jobs, files and options."""

import json
import shlex
from typing import Any

from macroscope.config.schema import CONTROL
from macroscope.errors import MacroscopeError
from macroscope.judged import Judged, alternatives
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.systems.options import Ancestral, LanguageModelSystem, ResampledSystem


class ModelPlan(Judged):
    """The part of a `Plan` that is about language models."""

    # ---- which systems -------------------------------------------------------------------------------------------

    language_models = property(lambda self: self.systems_of(LanguageModelSystem))
    trained_models = property(lambda self: alternatives(filter(self.is_trained, self.systems)))
    base_models = property(lambda self: alternatives(filter(self.is_published, self.systems)))
    sampled_systems = property(lambda self: self.systems_of(LanguageModelSystem | ResampledSystem))
    ancestral_systems = property(lambda self: alternatives(filter(self.is_ancestral, self.systems)))

    def is_trained(self, system: str) -> bool:
        """Whether a system is a language model that is trained."""
        found = self.systems[system]
        return isinstance(found, LanguageModelSystem) and found.training is not None

    def is_published(self, system: str) -> bool:
        """Whether a system is a language model that is taken as it was published."""
        found = self.systems[system]
        return isinstance(found, LanguageModelSystem) and found.training is None

    def is_ancestral(self, system: str) -> bool:
        """Whether a system draws from the own distribution of a language model."""
        asked = self.sampled(system)
        return asked is not None and isinstance(asked.decoding, Ancestral)

    def trained(self, system: str) -> str:
        """Name of the system that makes the model of a system that samples one."""
        found = self.systems[system]
        return found.of if isinstance(found, ResampledSystem) else system

    def sampled(self, system: str) -> LanguageModelSystem | None:
        """What a system that samples a language model asks for; None for one that does not."""
        return self.config.sampled(system)

    # ---- files ---------------------------------------------------------------------------------------------------

    def model(self, wildcards: Any) -> str:
        """Folder of the model that a system samples."""
        return f"{self.results}/systems/{wildcards.corpus}/{self.trained(wildcards.system)}/model"

    def shards(self, wildcards: Any) -> list[str]:
        """Sampling shards of a language model."""
        folder = f"{self.results}/systems/{wildcards.corpus}/{wildcards.system}/shards"
        return [f"{folder}/{shard}.parquet" for shard in range(self.shard_count(wildcards))]

    def shard_count(self, wildcards: Any) -> int:
        """Number of sampling shards of a language model."""
        system = self._language_model(wildcards.system)
        return -(-system.samples // system.samples_per_shard)

    def prompts(self, wildcards: Any) -> list[str]:
        """Documents that the samples of a system begin as: the control's, where the system has prompts."""
        prompted = self._language_model(wildcards.system).prompt_words
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

    def models_with_estimates(self) -> list[tuple[str, str]]:
        """Every (corpus, system) whose own log q(x) is known, and which a critic estimates as well."""
        judged = dict.fromkeys(
            (corpus, s) for critic, corpus, s in self.comparisons if critic in ("strings", "clusters")
        )
        return [pair for pair in judged if self.is_ancestral(pair[1])]

    def true_probabilities(self) -> list[str]:
        """Tables of their log-probabilities."""
        return [self.log_probabilities(corpus, system) for corpus, system in self.models_with_estimates()]

    # ---- options and resources -----------------------------------------------------------------------------------

    def training_options(self, wildcards: Any) -> str:
        """Options of a language model that its training looks at."""
        return as_json(self._language_model(wildcards.system), {"kind", "base", "titles", "context", "training"})

    def perplexity_options(self, wildcards: Any) -> str:
        """Options of a language model that its perplexity depends on, its training aside."""
        return as_json(self._language_model(wildcards.system), {"kind", "base", "titles", "context"})

    def sampling_options(self, wildcards: Any) -> str:
        """Options of a language model that its sampling looks at."""
        system = self._language_model(wildcards.system)
        used = set(LanguageModelSystem.model_fields) - {"training", "samples_per_shard"}
        return as_json(system, used)

    def perplexity_signature(self, wildcards: Any) -> str:
        """What a perplexity depends on."""
        system = self._language_model(wildcards.system)
        context = system.context or "model"
        training = "|training:none" if system.training is None else ""
        return f"base:{system.base}|titles:{system.titles}|context:{context}|windows:joined_stream|split:test{training}"

    def base(self, wildcards: Any) -> str:
        """Base model of a language model."""
        return self._language_model(wildcards.system).base

    def titles_flag(self, wildcards: Any) -> str:
        """W/ Title or W/O Title, as a flag."""
        return "--titles" if self._language_model(wildcards.system).titles else "--no-titles"

    def prompts_flag(self, wildcards: Any) -> str:
        """`--prompts ...` for a system that has them."""
        return " ".join(f"--prompts {shlex.quote(path)}" for path in self.prompts(wildcards))

    def gpus(self, wildcards: Any) -> int:
        """GPUs that a language model asks for."""
        return gpus_of(self.base(wildcards))

    def threads(self, wildcards: Any) -> int:
        """Cores of a job with a language model."""
        return threads_of(self.base(wildcards))

    def megabytes(self, wildcards: Any) -> int:
        """Memory of a job with a language model."""
        return megabytes_of(self.base(wildcards))

    def _language_model(self, system: str) -> LanguageModelSystem:
        found = self.sampled(system)
        if found is None:
            raise TypeError(f"system {system} is of kind {self.systems[system].kind}, not a language model")
        return found


def as_json(options: Any, names: set[str]) -> str:
    """Those options that are named, as JSON: what a stage looks at."""
    return json.dumps(options.model_dump(mode="json", include=names), sort_keys=True, ensure_ascii=False)

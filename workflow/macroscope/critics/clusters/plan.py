"""Choices of the clusters critic about its probing jobs, each of a corpus and an encoder."""

from collections.abc import Mapping
from typing import Any

from macroscope.critics.clusters import CRITIC
from macroscope.critics.clusters.options import ClustersOptions, EmbeddingOptions, Probing
from macroscope.critics.stage_jobs import CriticPlan, Source, StageJob
from macroscope.options import ConfigView
from macroscope.stages import describe_versions

_CLUSTERING = ("normalise", "explained_variance", "seeds", "restarts")


class ProbingPlan(CriticPlan):
    """Corpora that are embedded and probed."""

    def __init__(self, config: ConfigView, name: str) -> None:
        super().__init__(config, name)
        self.clustering: ClustersOptions = config.critic(name)
        self.probings = {probing.corpus: probing for probing in self.clustering.probing}

    def corpora(self) -> list[str]:
        return list(self.probings)

    def corpora_read(self) -> list[str]:
        """Return the corpora whose documents are read."""
        return [name for probing in self.probings.values() for name in (probing.corpus, probing.reference) if name]

    def sources(self, job: StageJob) -> Mapping[str, Source]:
        """Return the corpora to embed, and the embeddings of a corpus and of its reference, if it has one."""
        probing = self.probings.get(job.corpus)
        if probing is None:
            return {"probing": []}
        reference = probing.reference
        embedded = reference if reference and job.keys.get("side") == "reference" else job.corpus
        return {
            "documents": job.output("documents", corpus=embedded),
            "embeddings": job.output("embed_corpus", side="own"),
            "reference": job.output("embed_corpus", side="reference") if reference else [],
            "probing": [job.output("probe", encoder=encoder) for encoder in probing.encoders],
        }

    def options(self, job: StageJob) -> ClustersOptions:
        """Return the options of one encoder alone, whose job no other re-runs, or of clustering without encoders."""
        probing = self.probings[job.corpus]
        if job.stage == "embed_corpus":
            encoders = {job.keys["encoder"]: self.model_options(job)}
            return ClustersOptions(probing=[Probing(corpus=job.corpus, encoders=encoders)])
        kept = Probing(corpus=probing.corpus, numbers_of_clusters=probing.numbers_of_clusters, halves=probing.halves)
        return self.clustering.model_copy(update={"probing": [kept]})

    def model_options(self, job: StageJob) -> EmbeddingOptions:
        return self.probings[job.corpus].encoders[job.keys["encoder"]]

    def values(self, job: StageJob) -> Mapping[str, Any]:
        """Return the signature of probing: all settings that change its results."""
        values = self.model_options(job).model_dump() | self.clustering.model_dump(include=set(_CLUSTERING))
        halves = "halves|" if self.probings[job.corpus].halves else ""
        parts = [f"{name}:{value}" for name, value in values.items()]
        versions = describe_versions({name: CRITIC.stages[name].version for name in CRITIC.own_stages})
        return {"signature": f"probing:clusters|{halves}" + "|".join([*parts, versions])}

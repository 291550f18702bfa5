"""What a config implies for probing: what the clusters of a corpus know of its texts, with every encoder asked for."""

from macroscope.judged import Judged
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.stages import Wildcards


class ProbingPlan(Judged):
    """The part of a `Plan` that is about probing."""

    def probed(self) -> list[str]:
        """Every table of what clusters know."""
        folder = f"{self.results}/critics/clusters"
        return [f"{folder}/{p.corpus}/probing/{name}.csv" for p in self.config.probing for name in p.encoders]

    def embedded_corpora(self, wildcards: Wildcards) -> dict[str, str]:
        """Embeddings of a probed corpus, and of the one that its clusters are learnt on as well."""
        probing = self.probing(wildcards.corpus)
        folder = f"{self.results}/critics/clusters/{probing.corpus}/probing/{wildcards.encoder}"
        found = {"embeddings": f"{folder}.own.parquet"}
        return found | ({"reference": f"{folder}.reference.parquet"} if probing.reference else {})

    def embedded_documents(self, wildcards: Wildcards) -> str:
        """Documents that are embedded for probing a corpus: its own, or the reference's."""
        probing = self.probing(wildcards.corpus)
        corpus = probing.corpus if wildcards.side == "own" else probing.reference
        return f"{self.results}/corpora/{corpus}/documents.parquet"

    def embedding_options(self, wildcards: Wildcards) -> str:
        """How texts are embedded for probing."""
        return self.probing(wildcards.corpus).encoders[wildcards.encoder].model_dump_json()

    def probing_options(self, wildcards: Wildcards) -> str:
        """What is probed."""
        return self.probing(wildcards.corpus).model_dump_json(include={"corpus", "reference", "clusters"})

    def probe_threads(self, wildcards: Wildcards) -> int:
        """Cores of a job that embeds a corpus for probing."""
        return threads_of(self.probing(wildcards.corpus).encoders[wildcards.encoder].encoder)

    def probe_megabytes(self, wildcards: Wildcards) -> int:
        """Memory of a job that embeds a corpus for probing."""
        return megabytes_of(self.probing(wildcards.corpus).encoders[wildcards.encoder].encoder)

    def probe_gpus(self, wildcards: Wildcards) -> int:
        """GPUs of a job that embeds a corpus for probing."""
        return gpus_of(self.probing(wildcards.corpus).encoders[wildcards.encoder].encoder)

    def probing_signature(self, wildcards: Wildcards) -> str:
        """Everything that changes what probing finds."""
        embedding = self.probing(wildcards.corpus).encoders[wildcards.encoder].model_dump()
        used = ("normalise", "explained_variance", "seeds", "restarts")
        clustering = self.config.critics.clusters.model_dump(include=set(used))  # type: ignore[attr-defined]
        parts = {**embedding, **{name: clustering[name] for name in used}}
        return "probing:clusters|" + "|".join(f"{name}:{value}" for name, value in parts.items())

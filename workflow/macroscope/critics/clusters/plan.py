"""What a config implies for probing: what the clusters of a corpus know of its texts, with every encoder asked for."""

import json
from typing import TYPE_CHECKING, Any

from macroscope.critics.clusters.options import ClustersOptions, Probing
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.stages import Wildcards, flags

if TYPE_CHECKING:
    from macroscope.config.schema import Config

_CLUSTERING = ("normalise", "explained_variance", "seeds", "restarts")


class ProbingPlan:
    """The critic's own jobs: corpora are embedded and probed."""

    def __init__(self, config: "Config", results: str) -> None:
        options: ClustersOptions = config.critic("clusters")
        self.options, self.results = options, results
        self.resampling = config.resampling()
        self.asked = {probing.corpus: probing for probing in options.probing}

    def corpora(self) -> list[str]:
        """Corpora that are probed."""
        return list(self.asked)

    def corpora_read(self) -> list[str]:
        """Corpora whose documents are looked at."""
        return [name for probing in self.asked.values() for name in (probing.corpus, probing.reference) if name]

    def inputs(self, critic: str, name: str, corpus: str) -> list[str]:
        """Tables of what the clusters of a corpus know: what figures and report read as "probing"."""
        encoders = self.asked[corpus].encoders if corpus in self.asked else ()
        return [f"{self._folder(corpus)}/{encoder}.csv" for encoder in encoders]

    def embeddings(self, wildcards: Wildcards) -> dict[str, str]:
        """Embeddings of a probed corpus, and of the one that its clusters are learnt on as well."""
        place = f"{self._folder(wildcards.corpus)}/{wildcards.encoder}"
        reference = self.asked[wildcards.corpus].reference
        return {"embeddings": f"{place}.own.parquet"} | (
            {"reference": f"{place}.reference.parquet"} if reference else {}
        )

    def documents(self, wildcards: Wildcards) -> str:
        """Documents that are embedded for probing a corpus: its own, or the reference's."""
        probing = self.asked[wildcards.corpus]
        corpus = probing.corpus if wildcards.side == "own" else probing.reference
        return f"{self.results}/corpora/{corpus}/documents.parquet"

    def embedding_options(self, wildcards: Wildcards) -> str:
        """The one encoder that embeds."""
        encoder = self._encoder(wildcards).model_dump(mode="json")
        return _json(probing=[{"corpus": wildcards.corpus, "encoders": {wildcards.encoder: encoder}}])

    def probing_options(self, wildcards: Wildcards) -> str:
        """How the embeddings of a corpus are clustered."""
        asked = self.asked[wildcards.corpus].model_dump(
            mode="json", include={"corpus", "numbers_of_clusters", "halves"}
        )
        return _json(probing=[asked], **self.options.model_dump(mode="json", include=set(_CLUSTERING)))

    def signature(self, wildcards: Wildcards) -> str:
        """Everything that changes what probing finds."""
        values = self._encoder(wildcards).model_dump() | self.options.model_dump(include=set(_CLUSTERING))
        halves = "halves|" if self.asked[wildcards.corpus].halves else ""
        return f"probing:clusters|{halves}" + "|".join(f"{name}:{value}" for name, value in values.items())

    def value_flags(self, wildcards: Wildcards) -> list[str]:
        """Values that probing reads, as words of its command line."""
        return flags("--value", {"signature": self.signature(wildcards), "resampling": self.resampling})

    def threads(self, wildcards: Wildcards) -> int:
        """Cores of a job that embeds a corpus."""
        return threads_of(self._encoder(wildcards).encoder)

    def megabytes(self, wildcards: Wildcards) -> int:
        """Memory of a job that embeds a corpus."""
        return megabytes_of(self._encoder(wildcards).encoder)

    def gpus(self, wildcards: Wildcards) -> int:
        """GPUs of a job that embeds a corpus."""
        return gpus_of(self._encoder(wildcards).encoder)

    def _encoder(self, wildcards: Wildcards) -> Any:
        probing: Probing = self.asked[wildcards.corpus]
        return probing.encoders[wildcards.encoder]

    def _folder(self, corpus: str) -> str:
        return f"{self.results}/critics/clusters/{corpus}/probing"


def _json(**values: Any) -> str:
    return json.dumps(values, sort_keys=True, ensure_ascii=False)

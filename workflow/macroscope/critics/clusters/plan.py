"""Plan of the probing jobs: what a corpus's clusters reveal about its texts, with each configured encoder."""

from macroscope.critics.clusters import CRITIC
from macroscope.critics.clusters.options import ClustersOptions, EmbeddingOptions, Probing
from macroscope.critics.declaration import CriticPlan
from macroscope.jobs import OUTPUT, Job, Values, resources_of, value_words
from macroscope.options import ConfigView
from macroscope.stages import ANY_NAME, Function, Wildcards, as_json, describe_versions

NAME = "clusters"
_PACKAGE = "macroscope.critics.clusters"
_CLUSTERING = ("normalise", "explained_variance", "seeds", "restarts")


class ProbingPlan(CriticPlan):
    """Jobs specific to the clusters critic: embed and probe corpora."""

    def __init__(self, config: ConfigView, results: str) -> None:
        super().__init__(config, results)
        options: ClustersOptions = config.critic(NAME)
        self.options = options
        self.probings = {probing.corpus: probing for probing in options.probing}

    def corpora(self) -> list[str]:
        """Return the corpora that are probed."""
        return list(self.probings)

    def corpora_read(self) -> list[str]:
        """Return the corpora whose documents are read."""
        return [name for probing in self.probings.values() for name in (probing.corpus, probing.reference) if name]

    def inputs(self, critic: str, name: str, corpus: str) -> list[str]:
        """Return the tables of a corpus's probing results, which figures and report read as "probing"."""
        encoders = self.probings[corpus].encoders if corpus in self.probings else ()
        return [f"{self._folder(corpus)}/{encoder}.csv" for encoder in encoders]

    def embeddings(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the embeddings of a probed corpus, and of the reference that its clusters are also fitted to."""
        stem = f"{self._folder(wildcards.corpus)}/{wildcards.encoder}"
        reference = self.probings[wildcards.corpus].reference
        return {"embeddings": f"{stem}.own.parquet"} | ({"reference": f"{stem}.reference.parquet"} if reference else {})

    def documents(self, wildcards: Wildcards) -> str:
        """Return the documents that are embedded for probing a corpus: its own, or the reference's."""
        probing = self.probings[wildcards.corpus]
        corpus = probing.corpus if wildcards.side == "own" else probing.reference
        return f"{self.results}/corpora/{corpus}/documents.parquet"

    def jobs(self) -> list[Job]:
        """Return the jobs that embed and probe corpora."""
        place = f"results/<run>/critics/{NAME}/{{corpus}}/probing"
        encoder = ANY_NAME
        embed, probe = CRITIC.stages["embed_corpus"], CRITIC.stages["probe"]
        values: Values = {
            "encoder": lambda w: w.encoder,
            "resampling": lambda w: self.config.resampling(),
            "signature": self.signature,
        }
        return [
            Job(
                name="embed_corpus",
                command=f"critics run --critic {NAME} --stage embed_corpus",
                stage=embed,
                inputs={"documents": self.documents},
                outputs={OUTPUT: f"{place}/{{encoder}}.{{side}}.parquet"},
                options=lambda w: as_json(self._embedding(w), embed.option_names),
                values=value_words(embed.value_names, values),
                modules=[embed.module(_PACKAGE)],
                resources=resources_of(embed, self._encoder, lambda encoder: encoder.encoder),
                constraints={"encoder": encoder, "side": "own|reference"},
                extras=CRITIC.extras,
            ),
            Job(
                name="probe_clusters",
                command=f"critics run --critic {NAME} --stage probe",
                stage=probe,
                inputs={name: self._embeddings_of(name) for name in probe.input_names},
                outputs={OUTPUT: f"{place}/{{encoder}}.csv"},
                options=lambda w: as_json(self._clustering(w), probe.option_names),
                values=value_words(probe.value_names, values),
                modules=[probe.module(_PACKAGE)],
                resources=resources_of(probe, self._encoder),
                constraints={"encoder": encoder},
                extras=CRITIC.extras,
            ),
        ]

    def signature(self, wildcards: Wildcards) -> str:
        """Return all settings that change the results of probing."""
        values = self._encoder(wildcards).model_dump() | self.options.model_dump(include=set(_CLUSTERING))
        halves = "halves|" if self.probings[wildcards.corpus].halves else ""
        parts = [f"{name}:{value}" for name, value in values.items()]
        versions = describe_versions({name: CRITIC.stages[name].version for name in ("embed_corpus", "probe")})
        return f"probing:clusters|{halves}" + "|".join([*parts, versions])

    def _embeddings_of(self, name: str) -> Function:
        return lambda wildcards: self.embeddings(wildcards).get(name, [])

    def _embedding(self, wildcards: Wildcards) -> ClustersOptions:
        """Return the options of embedding a corpus: one encoder alone, since the others must not re-run the job."""
        encoders = {wildcards.encoder: self._encoder(wildcards)}
        return ClustersOptions(probing=[Probing(corpus=wildcards.corpus, encoders=encoders)])

    def _clustering(self, wildcards: Wildcards) -> ClustersOptions:
        """Return the options of clustering and probing a corpus's embeddings, without encoders."""
        probing = self.probings[wildcards.corpus]
        kept = Probing(corpus=probing.corpus, numbers_of_clusters=probing.numbers_of_clusters, halves=probing.halves)
        return self.options.model_copy(update={"probing": [kept]})

    def _encoder(self, wildcards: Wildcards) -> EmbeddingOptions:
        return self.probings[wildcards.corpus].encoders[wildcards.encoder]

    def _folder(self, corpus: str) -> str:
        return f"{self.results}/critics/clusters/{corpus}/probing"

"""The clusters critic: divergences between distributions over clusters of text embeddings (pimentel2022).

Latents: an embedding of each text, and the cluster that it is in. Prior: the distribution of the control over clusters.
The clustering depends on both reference and candidate, so statistics compare collections with each other.

In addition, probing: which properties of texts can be predicted from the clusters of a corpus.
"""

from macroscope.critics.declaration import AttributionScore, Critic
from macroscope.critics.readings import IN_PROBABILITY, Reading
from macroscope.stages import Stage

_CLUSTERING = "normalise explained_variance seeds restarts"

CRITIC = Critic(
    options="options:ClustersOptions",
    extras={"models": ""},
    latents="latents:LATENTS",
    features="latents:features",
    collection_statistics=("macroscope.statistics.vectors:compare_by_energy",),
    observes="frequencies of kinds of texts",
    statistics=(
        "comparison:STATISTICS",
        "macroscope.statistics.vectors:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
        "probing:STATISTICS",
    ),
    quantities={
        "clusters": "number of clusters",
        "duplicate": "repeated texts",
        "empty": "empty texts",
        "learnt_on": "number of embeddings that the clusters are fitted to",
        "not_embedded": "texts without embedding",
        "truncated": "texts cut at the encoder's limit",
    },
    readings={
        "latent_nll_difference": Reading(
            "are more often of kinds that are rare in real text",
            "are more often of kinds that are frequent in real text",
            "above",
            "nats",
            IN_PROBABILITY,
            "latent_nll",
        ),
    },
    gives_log_q=True,
    attribution=AttributionScore("latent NLL of the text's cluster", "nats"),
    sentences="options:read_sentences",
    reveals="an embedding of each text and of each sentence: its subject can be guessed, and much of a short sentence",
    criticize={"pooling": "sentences", "max_tokens": 64},
    plan="plan:ProbingPlan",
    stages={
        "project": Stage(
            "projection:project",
            inputs="texts sentence_vectors? language signature",
            options="encoder pooling max_tokens precision",
            model_option="encoder",
            minutes=240,
            version=2,
        ),
        "learn_shared": Stage(
            "clustering:learn_shared",
            inputs="all_latents seed",
            options=f"{_CLUSTERING} number_of_clusters",
            when="clustering=shared",
            megabytes=8000,
            minutes=240,
            threads=2,
            folder=True,
        ),
        "compare": Stage(
            "comparison:compare_latents",
            inputs="control_latents latents shared? resampling evidence",
            options=f"{_CLUSTERING} number_of_clusters smoothing scale weights cluster_counts neighbours most_vectors"
            " permutations convention",
            megabytes=4000,
            minutes=240,
        ),
        "attribute": Stage(
            "macroscope.critics.attributions:attribute_evidence_nll", inputs="texts own_evidence system"
        ),
        "overview": Stage("figures:plot", inputs="all_evidence probing"),
        "report": Stage("report:items", inputs="all_evidence probing"),
        "embed_corpus": Stage(
            "probing:embed_corpus",
            inputs="documents encoder",
            options="probing",
            model_option="encoder",
            minutes=480,
            output="probing/{encoder}.{side}.parquet",
            once=True,
        ),
        "probe": Stage(
            "probing:probe",
            inputs="embeddings reference? resampling signature",
            options=f"{_CLUSTERING} probing",
            megabytes=8000,
            minutes=480,
            threads=2,
            output="probing/{encoder}.csv",
            once=True,
        ),
    },
)

"""The clusters critic: are texts of every kind as frequent as in real text (pimentel2022).

Latents: an embedding of each text, and the cluster that it falls into. Prior: the distribution of the control's
clusters. The clustering depends on both sides of a comparison, so collections are compared with each other.

Besides, probing: what the clusters of whole corpora know of their texts.
"""

from macroscope.critics.declaration import Blame, Critic
from macroscope.stages import Stage

_CLUSTERING = "normalise explained_variance seeds restarts"

CRITIC = Critic(
    options="options:ClustersOptions",
    latents="id opening embedding truncated excerpt",
    view="view:view",
    looks_at="which kinds of texts there are",
    statistics=(
        "comparison:STATISTICS",
        "macroscope.statistics.vectors:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
        "probing:STATISTICS",
    ),
    quantities={
        "clusters": "number of clusters",
        "duplicate": "texts that are there twice",
        "empty": "empty texts",
        "learnt_on": "embeddings that the clusters are learnt on",
        "not_embedded": "texts that were not embedded",
        "truncated": "texts that were cut for the encoder",
    },
    gives_log_q=True,
    blames=Blame("latent NLL of its cluster", "nats"),
    criticize={"max_tokens": 256},
    plan="plan:ProbingPlan",
    stages={
        "project": Stage(
            "embeddings:project",
            reads="texts signature",
            uses="encoder pooling max_tokens precision",
            needs="encoder",
            minutes=240,
        ),
        "learn_shared": Stage(
            "shared:learn_shared",
            reads="all_latents seed",
            uses=f"{_CLUSTERING} number_of_clusters",
            when="clustering=shared",
            megabytes=8000,
            minutes=240,
            threads=2,
            folder=True,
        ),
        "compare": Stage(
            "comparison_files:compare_latents",
            reads="control_latents latents shared? resampling evidence",
            uses=f"{_CLUSTERING} number_of_clusters smoothing scale weights cluster_counts neighbours most_vectors"
            " permutations convention",
            megabytes=4000,
            minutes=240,
        ),
        "blame": Stage("macroscope.critics.blaming:blame_compared", reads="texts own_evidence system"),
        "overview": Stage("figures:draw", reads="all_evidence probing"),
        "report": Stage("report:items", reads="all_evidence probing"),
        "embed_corpus": Stage(
            "probing:embed_corpus", reads="documents encoder", uses="probing", minutes=480, resources="stop_words"
        ),
        "probe": Stage(
            "probing:probe",
            reads="embeddings reference? resampling signature",
            uses=f"{_CLUSTERING} probing",
            megabytes=8000,
            minutes=480,
            threads=2,
        ),
    },
)

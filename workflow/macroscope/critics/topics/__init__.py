"""Critic `topics`: co-occurrence of topics in a text (deng2022 §6, App. F).

The latents are approximate posteriors over topic strengths in R^K. The projection is variational inference under a
correlated topic model, fitted to the train split. The prior is the model's Gaussian N(mu, Sigma), so that the stages
`score` and `compare` need nothing else.
"""

from macroscope.critics.declaration import AttributionScore, Course, Critic, Reading
from macroscope.stages import Stage

_WORDS = "convention stop_words most_documents least_frequency"
_MODEL = "topics pinned covariance_prior smoothing iterations tolerance initialisation restarts"

_FIRST_TOPICS = Reading(
    "stay more on the topics of their beginning", "stay less on the topics of their beginning", unit="%"
)
_COURSE = Course("scoring:follow", "words of the vocabulary", 50, {"first_topics": _FIRST_TOPICS})

CRITIC = Critic(
    options="options:TopicsOptions",
    extras={"models": ""},
    # Few topics, so that each has many training documents: users often have hundreds of texts, not tens of thousands.
    kept_words=("words", "topics", "first", "second"),
    reveals="the recurring words of all texts together, and the share of each topic in each text",
    criticize={"topics": 10},
    # Twice as many words as topics: those of the training texts alone are fewer, and rarer.
    fewest={"documents": 100, "topical_words": 20},
    language_needs={"list of stop words": "frequent function words may make topics of their own"},
    certainty="posterior_resolved",
    density=True,
    course=_COURSE,
    attribution=AttributionScore("latent NLL", "nats"),
    known_processes=("topics",),
    latents="latents:LATENTS",
    features="latents:read_document_features",
    observes="co-occurrence of topics",
    statistics=(
        "latents:STATISTICS",
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.covariance:STATISTICS",
        "macroscope.statistics.vectors:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
    ),
    quantities={
        "course_first_topics": "words on the topics of the beginning",
        "known_words": "words of the vocabulary per text",
        "patchiness": "patchiness of the topics (words of one sentence share their topic)",
        "not_converged": "texts whose inference did not converge",
        "without_words": "texts without a word of the vocabulary",
    },
    readings={
        "patchiness_mean": Reading(
            "change their topic more between sentences, as mixed texts do",
            "change their topic less between sentences",
            "above",
        ),
    },
    stages={
        "train": Stage(
            "training:train",
            inputs="documents seed checkpoints",
            options=f"{_WORDS} {_MODEL} folds",
            megabytes=4000,
            minutes=2880,
            threads=2,
            folder=True,
        ),
        "project": Stage(
            "projection:project",
            inputs="texts inference language signature",
            options="convention folds",
            megabytes=4000,
            minutes=240,
        ),
        "score": Stage("scoring:score", inputs="latents inference", options="convention folds"),
        "known_truth": Stage("scoring:write_known_truth", inputs="process inference order"),
        "compare": Stage(
            "comparison:compare_latents",
            inputs="texts control_latents latents scores inference resampling evidence",
            options="neighbours most_vectors permutations folds",
            megabytes=4000,
            minutes=240,
        ),
        "attribute": Stage("macroscope.critics.attributions:attribute_latent_nll", inputs="scores"),
        **_COURSE.stages("inference", "convention", megabytes=4000),
        "overview": Stage("figures:plot", inputs="inference all_latents", options="convention"),
        "report": Stage("report:items", inputs="inference all_evidence"),
    },
)

"""Critic `languages`: mixing of languages within a text (deng2022 App. C).

The latents are topic proportions on the simplex. The projection is Gibbs sampling under a latent Dirichlet allocation
with as many topics as languages, fitted to the train split. The prior is the model's Dirichlet distribution, so that
the stages `score` and `compare` need nothing else.
"""

from macroscope.critics.declaration import AttributionScore, Critic, Reading
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:LanguagesOptions",
    extras={"languages": ""},
    # Not included by default: it needs a corpus of several languages, and their number.
    density=True,
    attribution=AttributionScore("latent NLL", "nats", "words in another language than most of the text"),
    known_processes=("languages",),
    latents="latents:LATENTS",
    features="latents:read_document_features",
    observes="mixing of languages",
    statistics=(
        "macroscope.critics.topic_shares:STATISTICS",
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.vectors:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
    ),
    quantities={
        "known_words": "words of the vocabulary per text",
        "mixed": "texts that mix languages",
        "without_words": "texts without a word of the vocabulary",
    },
    readings={"mixed_share": Reading("mix languages more", "mix languages less", "above", "%")},
    stages={
        "train": Stage(
            "training:train",
            inputs="documents seed",
            options="languages least_frequency iterations beta",
            megabytes=4000,
            minutes=720,
            folder=True,
        ),
        "project": Stage("latents:project", inputs="texts inference seed signature", options="sweeps", minutes=240),
        "score": Stage("scoring:score", inputs="latents inference", options="mixed_below"),
        "known_truth": Stage("scoring:write_known_truth", inputs="inference order"),
        "compare": Stage(
            "comparison:compare_latents",
            inputs="texts control_latents latents inference resampling evidence",
            options="neighbours most_vectors permutations",
            megabytes=4000,
            minutes=240,
        ),
        "attribute": Stage("scoring:attribute", inputs="texts latents scores inference"),
        "overview": Stage("figures:plot", inputs="inference all_latents"),
        "report": Stage("report:items", inputs="inference all_evidence"),
    },
)

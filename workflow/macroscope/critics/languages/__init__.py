"""The languages critic: is a text of one language, or of a mix that no real text has (deng2022 App. C).

Latents: topic proportions on the simplex. Projection: Gibbs sampling under a latent Dirichlet allocation with as many
topics as there are languages, fitted to the train split. Prior: its Dirichlet distribution, so that score and
comparison need no more.
"""

from macroscope.critics.declaration import AttributionScore, Critic
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:LanguagesOptions",
    # Not asked without being told to: it needs a corpus of several languages, and to know how many.
    density=True,
    attribution=AttributionScore("latent NLL", "nats", "words of another language than most of the text"),
    known_processes=("languages",),
    latents="id opening words proportions log_proportions log_sample",
    features="latents:features",
    observes="how languages mix",
    statistics=(
        "comparison:STATISTICS",
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.vectors:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
    ),
    quantities={
        "known_words": "known words a text",
        "mixed": "texts that mix languages",
        "without_words": "texts without a known word",
    },
    stages={
        "train": Stage(
            "training:train",
            inputs="documents seed",
            options="languages least_frequency iterations beta",
            megabytes=4000,
            minutes=720,
            folder=True,
        ),
        "project": Stage("projection:project", inputs="texts inference seed signature", options="sweeps", minutes=240),
        "score": Stage("scoring:score", inputs="latents inference", options="mixed_below"),
        "known_truth": Stage("known_truth:write_known_truth", inputs="inference order"),
        "compare": Stage(
            "comparison:compare_latents",
            inputs="texts control_latents latents inference resampling evidence",
            options="neighbours most_vectors permutations",
            megabytes=4000,
            minutes=240,
        ),
        "attribute": Stage("attribution:attribute", inputs="texts latents scores inference"),
        "overview": Stage("figures:plot", inputs="inference all_latents"),
        "report": Stage("report:items", inputs="inference all_evidence"),
    },
)

"""The languages critic: is a text of one language, or of a mix that no real text has (deng2022 App. C).

Latents: topic proportions on the simplex. Projection: Gibbs sampling under a latent Dirichlet allocation with as many
topics as there are languages, fitted to the train split. Prior: its Dirichlet distribution, so that score and
comparison need no more.
"""

from macroscope.critics.declaration import Blame, Critic
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:LanguagesOptions",
    # Not asked without being told to: it needs a corpus of several languages, and to know how many.
    density=True,
    blames=Blame("latent NLL", "nats", "words of another language than most of the text"),
    theory_of=("languages",),
    latents="id opening words proportions log_proportions log_sample",
    view="view:view",
    looks_at="how languages mix",
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
            reads="documents seed",
            uses="languages least_frequency iterations beta",
            megabytes=4000,
            minutes=720,
            folder=True,
        ),
        "project": Stage("projection:project", reads="texts inference seed signature", uses="sweeps", minutes=240),
        "score": Stage("scoring:score", reads="latents inference", uses="mixed_below"),
        "theory": Stage("theory:write_theory", reads="inference order"),
        "compare": Stage(
            "comparison_files:compare_latents",
            reads="texts control_latents latents inference resampling evidence",
            uses="neighbours most_vectors permutations",
            megabytes=4000,
            minutes=240,
        ),
        "blame": Stage("blame:blame", reads="texts latents scores inference"),
        "overview": Stage("figures:draw", reads="inference all_latents"),
        "report": Stage("report:items", reads="inference all_evidence"),
    },
)

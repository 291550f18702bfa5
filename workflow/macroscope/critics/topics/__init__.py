"""The topics critic: do the topics of a text go together as those of real texts do (deng2022 §6, App. F).

Latents: the approximate posterior over topic strengths in R^K. Projection: variational inference under a correlated
topic model, fitted to the train split. Prior: its Gaussian N(mu, Sigma), so that score and comparison need no more.
"""

from macroscope.critics.declaration import Blame, Critic
from macroscope.stages import Stage

_WORDS = "convention most_documents least_frequency"
_MODEL = "topics pinned shrinkage smoothing iterations tolerance initialisation restarts"

CRITIC = Critic(
    options="options:TopicsOptions",
    # Few topics, each with many documents to learn it from: a user's texts are often hundreds, not ten thousands.
    criticize={"topics": 10, "shrinkage": 0.1},
    fewest={"documents": 100},
    certainty="posterior_resolved",
    density=True,
    blames=Blame("latent NLL", "nats"),
    theory_of=("topics",),
    latents="id opening words mean variance bound converged",
    view="view:view",
    looks_at="which topics go together",
    statistics=(
        "description:STATISTICS",
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.covariance:STATISTICS",
        "macroscope.statistics.vectors:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
    ),
    quantities={
        "known_words": "known words a text",
        "not_converged": "texts whose topics were not found",
        "without_words": "texts without a known word",
    },
    stages={
        "train": Stage(
            "training:train",
            reads="documents seed checkpoints",
            uses=f"{_WORDS} {_MODEL}",
            megabytes=4000,
            minutes=2880,
            threads=2,
            folder=True,
            resources="stop_words",
        ),
        "project": Stage(
            "projection:project", reads="texts inference signature", uses="convention", megabytes=4000, minutes=240
        ),
        "score": Stage("scoring:score", reads="latents inference", uses="convention"),
        "theory": Stage("theory:write_theory", reads="process inference order"),
        "compare": Stage(
            "comparison_files:compare_latents",
            reads="texts control_latents latents scores inference resampling evidence",
            uses="neighbours most_vectors permutations",
            megabytes=4000,
            minutes=240,
        ),
        "blame": Stage("macroscope.critics.blaming:blame_latent_nll", reads="scores"),
        "overview": Stage("figures:draw", reads="inference all_latents", uses="convention"),
        "report": Stage("report:items", reads="inference all_evidence"),
    },
)

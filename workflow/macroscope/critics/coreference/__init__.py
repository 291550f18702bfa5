"""The coreference critic: are persons mentioned as real texts mention them (deng2022 §5, Appendix G).

Latents: the chain of mentions, each a pronoun or a gender with the number of whom it means. Projection: a resolver of
coreference. Prior: a 5-gram model of the chains of the train split, entities numbered anew within each 5-gram.

Besides: resolvers with environments of their own, whose rules stand in rules/critics/coreference.smk.
"""

from macroscope.critics.declaration import Blame, Critic
from macroscope.stages import Stage

_RESOLVED = "resolver ranker model mentions domain single"
_RESOURCES = "persons.yaml pronoun_weights.json stop_words"

CRITIC = Critic(
    options="options:CoreferenceOptions",
    criticize={},
    fewest={"with_persons": 50},
    theory_of=("people",),
    latents="id opening in_domain error invalid surfaces entities starts ends",
    looks_at="how persons are mentioned",
    statistics=(
        "scoring:STATISTICS",
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
    ),
    quantities={
        "female_mention": "female mentions",
        "in_domain": "texts about persons",
        "invalid_mention": "mentions that are left out",
        "male_mention": "male mentions",
        "plural_mention": "plural mentions",
        "pronoun": "pronouns among the mentions",
        "resolver_failed": "texts on which the resolver fails",
        "unknown_surface": "mentions with an unknown surface",
        "unlikely_mention": "mentions that are unlikely where they stand",
        "without_mentions": "texts with nobody in them",
    },
    plan="plan:ResolverPlan",
    blames=Blame("latent NLL of the chain", "nats a symbol", "mentions that are unlikely where they stand"),
    commands="commands:COMMANDS",
    stages={
        "train": Stage(
            "training:train",
            reads="documents mentions? threads checkpoints",
            uses=_RESOLVED,
            minutes=720,
            threads=2,
            folder=True,
            resources=_RESOURCES,
        ),
        "fit_prior": Stage("prior:fit_prior", reads="inference", uses="order convention", folder=True),
        "project": Stage(
            "projection:project",
            reads="texts mentions? signature",
            uses=_RESOLVED,
            minutes=240,
            resources=_RESOURCES,
        ),
        "score": Stage("scoring:score", reads="latents prior", uses="unlikely"),
        "theory": Stage("theory:write_theory", reads="process prior order seed", uses="single"),
        "explain": Stage(
            "explanation:explain",
            reads="texts latents control_latents prior",
            uses="unlikely least_count",
            megabytes=4000,
            folder=True,
        ),
        "blame": Stage("blame:blame", reads="texts latents scores prior", uses="unlikely"),
        "overview": Stage("figures:draw", reads=""),
        "report": Stage("report:items", reads="inference prior all_evidence"),
    },
)

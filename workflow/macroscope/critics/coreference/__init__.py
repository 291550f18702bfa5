"""The coreference critic: mentions of persons, compared with those of real text (deng2022 §5, Appendix G).

Latents: the chain of mentions, each a pronoun or a gender with the number of its entity. Projection: a coreference
resolver. Prior: a 5-gram model of the chains of the train split, with entities renumbered within each 5-gram.

Resolvers that need their own environment have rules in workflow/rules/coreference.smk.
"""

from macroscope.critics.declaration import AttributionScore, Course, Critic, Reading
from macroscope.stages import Stage

_RESOLVED = "resolver ranker model mentions domain single language_pipeline"

_NEW_PERSONS = Reading("bring in more new persons", "bring in fewer new persons", unit="%")
_COURSE = Course("scoring:follow", "mentions of persons", 10, {"new_persons": _NEW_PERSONS})

CRITIC = Critic(
    options="options:CoreferenceOptions",
    kept_words=(),
    reveals="the pronouns of each text in their order, and where they stand",
    criticize={},
    # The chains of a third of the texts teach nearly as much: detectability of 200 texts, 61 to 74 % where a split has
    # 53 to 73 %. Topics of a third are worse by as much as the interval is narrower.
    criticize_folds=3,
    fewest={"with_persons": 50},
    language_needs={"coreference resolver": ""},
    known_processes=("people",),
    latents="latents:LATENTS",
    observes="mentions of persons",
    statistics=(
        "scoring:STATISTICS",
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
    ),
    quantities={
        "course_new_persons": "mentions of persons not mentioned before",
        "female_mention": "female mentions",
        "few_names": "texts with too few mentions of names",
        "in_domain": "texts in the domain",
        "invalid_mention": "invalid mentions, which are left out",
        "male_mention": "male mentions",
        "name_mismatch": "use of names: log odds that names have changed places",
        "plural_mention": "plural mentions",
        "pronoun": "pronouns among the mentions",
        "resolver_failed": "texts on which the resolver fails",
        "unknown_surface": "mentions by words that never occur in the train split",
        "unlikely_mention": "unlikely mentions",
        "without_mentions": "texts without mentions of persons",
    },
    readings={
        "female_mention_share": Reading("mention women more", "mention women less", unit="%"),
        "male_mention_share": Reading("mention men more", "mention men less", unit="%"),
        "plural_mention_share": Reading("mention groups more", "mention groups less", unit="%"),
        "pronoun_share": Reading("mention persons more by pronouns", "mention persons less by pronouns", unit="%"),
        "unlikely_mention_share": Reading(
            "have more unlikely mentions of persons", "have fewer unlikely mentions of persons", "above", "%"
        ),
        "name_mismatch_mean": Reading(
            "use the names of persons less consistently",
            "use the names of persons more consistently",
            "above",
            numbers="score for exchanged names {value} against {real}",
        ),
    },
    plan="plan:ResolverPlan",
    course=_COURSE,
    attribution=AttributionScore(
        "latent NLL of the chain", "nats per symbol", "mentions that are unlikely in their context"
    ),
    commands="plan:COMMANDS",
    stages={
        "train": Stage(
            "training:train",
            inputs="documents mentions? threads checkpoints",
            options=f"{_RESOLVED} folds",
            minutes=720,
            threads=2,
            folder=True,
        ),
        "fit_prior": Stage("prior:fit_prior", inputs="inference", options="order convention folds", folder=True),
        "project": Stage(
            "projection:project",
            inputs="texts mentions? signature",
            options=f"{_RESOLVED} folds",
            minutes=240,
        ),
        "score": Stage("scoring:score", inputs="latents prior", options="unlikely folds"),
        "known_truth": Stage("scoring:write_known_truth", inputs="process prior order seed", options="single"),
        "explain": Stage(
            "explanation:explain",
            inputs="texts latents control_latents prior seed",
            options="unlikely least_count folds",
            megabytes=4000,
            folder=True,
        ),
        "attribute": Stage("scoring:attribute", inputs="texts latents scores prior", options="unlikely folds"),
        **_COURSE.stages(),
        "overview": Stage("figures:plot", inputs=""),
        "report": Stage("report:items", inputs="inference prior all_evidence"),
    },
)

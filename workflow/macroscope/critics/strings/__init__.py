"""The strings critic: divergences between estimated distributions over strings (pimentel2022 §3).

Latents: the text itself. Prior: a distribution over strings, estimated from the control's texts. A text is scored by
estimates that have not seen it, so the estimates depend on both the reference and the candidate.
"""

from macroscope.critics.declaration import AttributionScore, Course, Critic, Reading
from macroscope.stages import Stage
from macroscope.statistics.declaration import LARGEST_MEAN_DIFFERENCE

_ESTIMATE = "estimator model folds most_texts lstm convention"

_SURPRISAL = Reading("use less usual sequences of words", "use more predictable sequences of words", "above", "nats")
_COURSE = Course("scoring:follow", "words", 100, {"surprisal": _SURPRISAL})

CRITIC = Critic(
    options="options:StringsOptions",
    extras={"models": "estimator=lstm", "kenlm": "estimator=kenlm"},
    latents="latents:LATENTS",
    features="latents:features",
    collection_statistics=(
        LARGEST_MEAN_DIFFERENCE,
        "macroscope.statistics.shared_ngrams:compare_by_shared_ngrams",
    ),
    observes="sequences of words",
    statistics=(
        "macroscope.statistics.shared_ngrams:STATISTICS",
        "macroscope.statistics.word_kinds:STATISTICS",
        "comparison:STATISTICS",
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.sampled_divergences:STATISTICS",
    ),
    quantities={
        "course_surprisal": "surprisal of words",
        "content_words_c2st_auc": "detectability by content words alone",
        "duplicate": "repeated texts",
        "empty": "empty texts",
        "function_words_c2st_auc": "detectability by function words alone",
        "scored_texts": "number of scored texts",
        "words": "number of words",
        "shared_ngrams": "share of 4-grams that other texts have",
    },
    readings={
        "latent_ppl_ratio": Reading(
            "use less usual sequences of words",
            "use more predictable sequences of words",
            "above",
            numbers="{value} times the perplexity of real text",
        ),
        "shared_ngrams_difference": Reading(
            "share more sequences of four words with each other",
            "share fewer sequences of four words with each other",
            "above",
            "points",
            "by {size}",
        ),
    },
    gives_log_q=True,
    kept_words=("text",),
    plan="options:StringsPlan",
    reveals="the texts: all words in their order",
    criticize={},
    fewest={"documents": 10},
    fewest_candidates={"documents": 10},
    course=_COURSE,
    attribution=AttributionScore(
        "surprisal by an n-gram model of other real texts",
        "nats per word",
        "words with a larger surprisal than 98 % of the words of real text",
    ),
    stages={
        "project": Stage("latents:project", inputs="texts signature", megabytes=1000, version=2),
        "compare": Stage(
            "comparison:compare_latents",
            inputs="control_latents latents fits? system language resampling checkpoints evidence",
            options=f"{_ESTIMATE} shared_vocabulary order scale weights permutations",
            megabytes=4000,
            minutes=480,
            gpu="estimator=lstm",
        ),
        "fit": Stage(
            "fits:fit",
            inputs="control_latents latents system fit resampling checkpoints",
            options=_ESTIMATE,
            megabytes=4000,
            minutes=480,
            gpu="estimator=lstm",
            when="estimator=lstm",
            folder=True,
            output="fits/{system}/{fit}",
        ),
        "attribute": Stage(
            "scoring:attribute", inputs="texts control_latents", options="order most_texts", megabytes=4000
        ),
        **_COURSE.stages("real_latents", "order most_texts", megabytes=4000),
        "overview": Stage("macroscope.critics.divergence_figure:plot"),
        "report": Stage("report:items", inputs="all_evidence"),
    },
)

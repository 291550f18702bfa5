"""The coherence critic: the order of section types, compared with that of real text (deng2022 §4, App. E).

Latents: the sequence of section types z_1 ... z_M. Projection: a fine-tuned section classifier, independent over
sections. Prior: a bigram Markov chain with begin and end states.
"""

from macroscope.critics.declaration import AttributionScore, Course, Critic, Reading
from macroscope.stages import Stage

_RARE_ORDER = Reading("have more sections in a rare order", "have fewer sections in a rare order", "above", "%")
_COURSE = Course("scoring:follow", "sections", 5, {"rare_order": _RARE_ORDER})

CRITIC = Critic(
    options="options:CoherenceOptions",
    extras={"models": ""},
    # A small encoder on the first tokens of a section: trains in a few minutes on a laptop.
    kept_words=(),
    reveals="the titles of sections that recur, and the kinds of sections of each text in their order",
    criticize={
        "encoder": "minilm",
        "max_tokens": 64,
        "epochs": 4,
        "batch_size": 16,
        "learning_rate": 0.0002,
        "max_train_sections": 1500,
    },
    fewest={"titled": 20},
    language_needs={"dictionary of lemmas": "inflected forms of a title are section types of their own"},
    known_processes=("wiki",),  # other simulated processes do not expose their section types
    latents="latents:LATENTS",
    observes="the order of sections",
    statistics=(
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
        "transitions:STATISTICS",
    ),
    quantities={
        "course_rare_order": "sections in a rare order",
        "latent_ppl_corrected": "latent PPL corrected for classification errors",
        "repeating_error": "errors that repeat the previous section type",
        "title_agreement": "sections whose inferred type matches their title",
        "transition_error": "transitions that are rare in real text",
        "unseen_transition": "transitions that never occur in real text",
    },
    readings={
        "repeating_error_share": Reading(
            "repeat the previous type of section more often",
            "repeat the previous type of section less often",
            "above",
            "%",
        ),
        "title_agreement_share": Reading(
            "have more sections that match their title", "have fewer sections that match their title", "below", "%"
        ),
        "transition_error_share": Reading(
            "have more sections in an order that is rare in real text",
            "have fewer sections in an order that is rare in real text",
            "above",
            "%",
        ),
        "unseen_transition_share": Reading(
            "have more sections in an order that real text never has",
            "have fewer sections in an order that real text never has",
            "above",
            "%",
        ),
    },
    certainty="posterior_margin",
    course=_COURSE,
    attribution=AttributionScore(
        "latent NLL", "nats per section", "sections that rarely follow the previous one in real text"
    ),
    stages={
        "train": Stage(
            "training:train",
            inputs="documents seed checkpoints",
            options="encoder max_tokens precision epochs batch_size learning_rate max_train_sections calibrate",
            model_option="encoder",
            minutes=720,
            folder=True,
        ),
        "fit_prior": Stage(
            "scoring:fit_prior", inputs="documents inference", options="prior smoothing convention", folder=True
        ),
        "project": Stage(
            "projection:project",
            version=2,
            inputs="texts inference signature",
            options="max_tokens precision",
            model_option="encoder",
            minutes=240,
        ),
        "score": Stage("scoring:score", inputs="latents prior", options="error_threshold"),
        "known_truth": Stage("scoring:write_known_truth", inputs="process prior order seed"),
        "explain": Stage(
            "explanation:explain",
            inputs="texts latents control_latents scores prior system resampling",
            options="error_threshold",
            megabytes=4000,
            folder=True,
        ),
        "attribute": Stage("scoring:attribute", inputs="texts latents scores prior", options="error_threshold"),
        **_COURSE.stages("prior", "error_threshold"),
        "overview": Stage("figures:plot", inputs="inference"),
        "report": Stage("report:items", inputs="inference prior all_latents all_evidence"),
    },
)

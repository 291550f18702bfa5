"""The narrative critic: local coherence of sentences, measured by detectors of damage (cai2020).

Latents: for each slot between two sentences the probability that a sentence is missing there, for each sentence the
probability that it replaces another one, and for each narrative the log odds that its sentences stand in their author's
order; the incoherence joins these numbers in one. Projection: detectors and a model of the order, trained on real
narratives with known damage. Prior: the mean probability of a missing or replaced sentence in real, undamaged text.

In addition: further detectors for comparison, pre-training, autoencoders, and generation of sentences for the gaps;
plan.py chooses what their jobs read.
"""

from macroscope.critics.declaration import AttributionScore, Course, Critic, Reading
from macroscope.stages import Stage

_ENCODING = "encoder pooling max_tokens precision language_pipeline"
_SENTENCES = f"{_ENCODING} autoencoders"
_SIMILARITY = "similarity similarity_encoder similarity_layer rescale"
_DAMAGE = f"sentences damaged intact draws replacements candidates {_SIMILARITY}"
_DETECTORS = f"tasks {_SENTENCES} {_DAMAGE} detector"

_OUT_OF_PLACE = Reading("have more sentences out of place", "have fewer sentences out of place", "above", "%")
_COURSE = Course("scoring:follow", "sentences", 10, {"out_of_place": _OUT_OF_PLACE})

CRITIC = Critic(
    options="options:NarrativeOptions",
    extras={"models": ""},
    # Gaps are hardly found in fewer than thousands of narratives. Eight draws cost four times as much, and find no more
    # discordant sentences in 60 or 100 narratives (docs/critics/narrative.md).
    reveals="an embedding of each sentence: its subject can be guessed, and much of a short sentence",
    criticize={"tasks": ["discordant"], "draws": 2},
    fewest={"narratives": 60},
    latents="latents:LATENTS",
    observes="coherence and order of consecutive sentences",
    statistics=(
        "scoring:STATISTICS",
        "comparison:STATISTICS",
        "macroscope.statistics.latent:STATISTICS",
        "macroscope.statistics.categorical:STATISTICS",
    ),
    quantities={
        "course_out_of_place": "probability of a sentence out of place",
        "cut_sentence": "sentences cut at the encoder's limit",
        "discordant": "sentences out of place",
        "discordant_corrected": "share of sentences out of place, beyond that of real text",
        "incoherence": "incoherence of a text (order, and places that seem damaged)",
        "missing": "places where a sentence is missing",
        "missing_corrected": "share of places where a sentence is missing, beyond that of real text",
        "order": "order of the sentences (log odds)",
        "too_short": "texts of fewer than two sentences",
        "worst_discordant": "largest probability of a sentence out of place",
        "worst_missing": "largest probability of a missing sentence",
    },
    readings={
        "discordant_share": Reading(
            "have more sentences that seem out of place",
            "have fewer sentences that seem out of place, as uniform or repetitive texts do",
            "above",
            "%",
        ),
        "incoherence_mean": Reading(
            "are less coherent", "are more uniform or repetitive, which is not more coherent", "above"
        ),
        "missing_share": Reading(
            "have more places where a sentence seems missing",
            "have fewer places where a sentence seems missing, as uniform or repetitive texts do",
            "above",
            "%",
        ),
        "order_mean": Reading("have a clearer order of sentences", "have a less clear order of sentences", "below"),
        "worst_discordant_mean": Reading(
            "have a sentence that seems more out of place",
            "have no sentence that seems as much out of place",
            "above",
            "%",
        ),
        "worst_missing_mean": Reading(
            "have a place where a sentence seems missing more clearly",
            "have no place where a sentence seems missing as clearly",
            "above",
            "%",
        ),
    },
    sentences="options:read_sentences",
    plan="plan:NarrativePlan",
    course=_COURSE,
    attribution=AttributionScore(
        "incoherence: order of the sentences, and places that seem damaged",
        "standard deviations of real texts",
        "sentences that seem out of place, or before which a sentence seems missing",
    ),
    stages={
        "train": Stage(
            "judges:train",
            inputs="documents detectors? embeddings? language seed checkpoints resampling",
            options=f"{_DETECTORS} pretraining false_positive_rate",
            folder=True,
            version=2,
        ),
        "project": Stage(
            "projection:project",
            inputs="texts inference sentence_vectors? embeddings? language signature",
            options=f"tasks {_SENTENCES} detector",
            model_option="encoder",
            minutes=240,
            version=2,
        ),
        "score": Stage("scoring:score", inputs="latents inference"),
        "explain": Stage(
            "explanation:explain", inputs="texts latents inference language", options="language_pipeline", folder=True
        ),
        "compare": Stage("comparison:compare_latents", inputs="control_latents latents inference resampling"),
        "attribute": Stage("scoring:attribute", inputs="texts latents inference language", options="language_pipeline"),
        **_COURSE.stages(),
        "overview": Stage("figures:plot", inputs="inference all_latents detectors infilled"),
        "report": Stage(
            "report:items",
            inputs="inference all_evidence detectors infilled",
            options="compared pretraining generation retrieval_shards test_segments",
        ),
        "embed_by_autoencoder": Stage(
            "projection:embed_by_autoencoder",
            inputs="autoencoder documents? texts? language",
            options=_ENCODING,
            model_option="encoder",
            minutes=480,
            folder=True,
            output="embeddings/{kind}/{collection}",
            once=True,
        ),
        "retrieve": Stage(
            "corruption:retrieve",
            inputs="documents language seed shard shards threads",
            options="sentences damaged intact draws replacements candidates retrieval_shards language_pipeline",
            megabytes=8000,
            minutes=240,
            threads=2,
            output="retrieved/{shard}.parquet",
        ),
        "corrupt": Stage(
            "corruption:corrupt",
            inputs="documents retrieved? checked? language seed task",
            options=f"encoder language_pipeline {_DAMAGE}",
            model_option="encoder",
            minutes=480,
            output="corrupted/{task}.parquet",
        ),
        "autoencode": Stage(
            "autoencoder:train_autoencoder",
            inputs="documents language seed checkpoints name processes",
            options=_SENTENCES,
            model_option="encoder",
            minutes=1440,
            folder=True,
            output="autoencoders/{autoencoder}",
            once=True,
        ),
        "pretrain": Stage(
            "training:pretrain",
            inputs="documents embeddings language seed checkpoints task name threads processes",
            options=f"{_DETECTORS} compared pretraining",
            model_option="encoder",
            minutes=1440,
            folder=True,
            output="pretrained/{task}.{detector}",
        ),
        "detect": Stage(
            "training:train_detector",
            inputs="documents corrupted embeddings? pretrained? checked? language seed checkpoints resampling task"
            " name processes",
            options=f"{_DETECTORS} compared pretraining false_positive_rate",
            model_option="encoder",
            minutes=720,
            folder=True,
            output="detectors/{task}.{detector}",
        ),
        "infill": Stage(
            "autoencoder:infill",
            inputs="documents detector embeddings corrupted autoencoder wordnet? language resampling task",
            options="generation language_pipeline",
            megabytes=8000,
            minutes=480,
            folder=True,
            output="infilled/{task}.{detector}",
        ),
    },
)

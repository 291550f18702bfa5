"""Critic `tendencies`: statistical tendencies of text (meister2021).

The latents are counts of tokens, and numbers of every text: its length, types, stop words, symbols and repetitions.
There is no prior; collections are compared with each other.
"""

from macroscope.critics.declaration import AttributionScore, Course, Critic, Reading
from macroscope.stages import Stage

_COURSE = Course(
    *("scoring:follow", "words", 100),
    {
        "repetition": Reading("repeat themselves more", "repeat themselves less", "above", "%"),
        "new_words": Reading("use more new words", "use fewer new words", "below", "%"),
    },
)

CRITIC = Critic(
    options="options:TendenciesOptions",
    kept_words=("type", "word"),
    reveals="the words of each text, names among them, with their numbers and without their order",
    criticize={},
    language_needs={"list of stop words": "the share of stop words is undefined"},
    course=_COURSE,
    attribution=AttributionScore(
        "mean distance of the text's numbers from the median of real text",
        "of 1",
        "repeated sequences of four or more words, in texts that repeat more than 95 % of real ones",
        distance=True,
    ),
    latents="latents:LATENTS",
    features="latents:read_document_features",
    observes="lengths, vocabulary and repetition",
    statistics=("comparison:STATISTICS", "macroscope.critics.numeric_latents:STATISTICS"),
    quantities={
        "course_new_words": "words that are new in the text",
        "course_repetition": "words that end a sequence of four seen before",
        "compression_ratio": "compression ratio",
        "duplicate_2grams": "repeated 2-grams (share)",
        "duplicate_4grams": "repeated 4-grams (share)",
        "heaps": "vocabulary growth",
        "heaps_alpha": "Heaps' factor α",
        "heaps_beta": "Heaps' exponent β",
        "heaps_bigram": "growth of distinct word pairs",
        "heaps_bigram_alpha": "Heaps' factor α of word pairs",
        "heaps_bigram_beta": "Heaps' exponent β of word pairs",
        "length": "length (tokens)",
        "longest_repeat": "longest repeat (tokens)",
        "stop_word": "stop words",
        "symbol": "symbols",
        "vocabulary_size": "vocabulary (types)",
        "vocabulary_tokens_compared": "tokens at which vocabularies are compared",
        "zipf": "rank–frequency distribution",
        "zipf_s": "Zipf's exponent",
    },
    readings={
        "compression_ratio_mean": Reading(
            "can be compressed more, as repetitive texts can",
            "can be compressed less",
            "above",
            numbers="compression ratio {value} against {real}",
        ),
        "duplicate_2grams_mean": Reading("repeat word pairs more", "repeat word pairs less", "above", "%"),
        "duplicate_4grams_mean": Reading(
            "repeat sequences of four words more", "repeat sequences of four words less", "above", "%"
        ),
        "length_mean": Reading("are longer", "are shorter", unit="tokens"),
        "longest_repeat_mean": Reading("repeat longer sequences", "repeat shorter sequences", "above", "tokens"),
        "stop_word_share_mean": Reading("use more stop words", "use fewer stop words", unit="%"),
        "symbol_share_mean": Reading(
            "use more punctuation and symbols", "use less punctuation and fewer symbols", unit="%"
        ),
        "vocabulary_size_difference": Reading(
            "use more different words",
            "use fewer different words",
            "below",
            numbers="{value} against {real} in samples of equal length",
            difference_of="vocabulary_size_compared",
        ),
        "zipf_s_difference": Reading(
            "rely more on their most frequent words",
            "rely less on their most frequent words",
            numbers="Zipf's exponent {value} against {real}",
            difference_of="zipf_s",
        ),
    },
    stages={
        "project": Stage(
            "projection:project",
            inputs="texts language signature",
            options="unit language tokenizer language_pipeline",
            megabytes=4000,
            minutes=240,
        ),
        "compare": Stage(
            "comparison:compare_latents",
            inputs="texts control_latents latents resampling evidence",
            options="ranks min_texts_per_length length_bins_per_decade simulations convention count_permutations",
            megabytes=4000,
            minutes=240,
            version=2,
        ),
        "attribute": Stage("scoring:attribute", inputs="texts latents control_latents"),
        **_COURSE.stages(options="language language_pipeline", megabytes=4000),
        "overview": Stage(
            "figures:plot", inputs="all_latents all_evidence", options="training_samples count_permutations"
        ),
        "report": Stage("report:items", inputs="all_evidence", options="training_samples"),
    },
)

"""The tendencies critic: does a text keep the statistics of real text (meister2021).

Latents: counts of tokens, and numbers of every text: its length, types, stop words, symbols, repetitions. No prior:
collections are compared with each other.
"""

from macroscope.critics.declaration import AttributionScore, Critic
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:TendenciesOptions",
    criticize={},
    attribution=AttributionScore(
        "mean distance of its numbers from the median of real text",
        "of 1",
        "words that repeat four words running, in texts that do so more than 95 % of real ones",
        distance=True,
    ),
    latents="id opening block tokens types bigram_types stop_words symbols longest_repeat duplicate_2grams"
    " duplicate_4grams compression_ratio block_counts",
    features="latents:features",
    observes="lengths, vocabulary and repetition",
    statistics=("comparison:STATISTICS", "macroscope.critics.numeric_latents:STATISTICS"),
    quantities={
        "compression_ratio": "compression ratio",
        "duplicate_2grams": "repeated 2-grams (share)",
        "duplicate_4grams": "repeated 4-grams (share)",
        "heaps": "growth of the vocabulary",
        "heaps_alpha": "Heaps' factor α",
        "heaps_beta": "Heaps' exponent β",
        "heaps_bigram": "growth of the word pairs",
        "heaps_bigram_alpha": "Heaps' factor α of word pairs",
        "heaps_bigram_beta": "Heaps' exponent β of word pairs",
        "length": "length (tokens)",
        "longest_repeat": "longest repeat (tokens)",
        "stop_word": "stop words",
        "symbol": "symbols",
        "vocabulary_size": "vocabulary (types)",
        "vocabulary_tokens_compared": "tokens in which vocabularies are compared",
        "zipf": "ranks of words",
        "zipf_s": "Zipf's exponent",
    },
    stages={
        "project": Stage(
            "projection:project",
            inputs="texts language signature",
            options="unit language tokenizer",
            megabytes=4000,
            minutes=240,
            resources="stop_words",
        ),
        "compare": Stage(
            "comparison:compare_latents",
            inputs="control_latents latents resampling evidence",
            options="ranks min_texts_per_length length_bins_per_decade simulations count_permutations",
            megabytes=4000,
            minutes=240,
        ),
        "attribute": Stage("attribution:attribute", inputs="texts latents control_latents"),
        "overview": Stage(
            "figures:plot", inputs="all_latents all_evidence", options="training_samples count_permutations"
        ),
        "report": Stage("report:items", inputs="all_evidence", options="training_samples"),
    },
)

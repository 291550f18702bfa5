"""Kind `ngram`: n-gram models over words, unsmoothed (meister2021 eq. 16) and Kneser-Ney."""

from macroscope.colours import SKY
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:NgramSystem",
    label="n-gram model",
    colour=SKY,
    stages={
        "draw": Stage(
            "drawing:sample_ngram",
            reads="documents corpus system seed",
            uses="order smoothing titles decoding samples max_tokens seed",
            megabytes=8000,
            minutes=480,
        ),
        "measure_perplexity": Stage(
            "perplexity:measure_perplexity",
            reads="documents split",
            uses="order smoothing titles",
            megabytes=8000,
            minutes=480,
        ),
    },
)

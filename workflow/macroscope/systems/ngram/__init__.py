"""Kind `ngram`: n-gram models over words, unsmoothed (meister2021 eq. 16) and Kneser-Ney."""

from macroscope.colours import SKY
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:NgramSystem",
    label="n-gram model",
    colour=SKY,
    stages={
        "train": Stage(
            "training:count_train_split",
            reads="documents checkpoints",
            uses="order titles",
            megabytes=6000,
            minutes=1440,
            threads=4,
            folder=True,
        ),
        "draw": Stage(
            "drawing:sample_ngram",
            reads="model corpus system seed",
            uses="order smoothing titles decoding samples max_tokens seed",
            megabytes=4000,
            minutes=480,
        ),
        "measure_perplexity": Stage(
            "perplexity:measure_perplexity",
            reads="documents model split",
            uses="order smoothing titles",
            megabytes=4000,
            minutes=480,
        ),
    },
)

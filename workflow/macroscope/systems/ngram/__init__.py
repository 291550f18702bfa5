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
            inputs="documents checkpoints",
            options="order titles",
            megabytes=6000,
            minutes=1440,
            threads=4,
            folder=True,
        ),
        "generate": Stage(
            "generation:sample_ngram",
            inputs="model corpus system seed",
            options="order smoothing titles decoding samples max_tokens seed",
            megabytes=4000,
            minutes=480,
        ),
        "measure_perplexity": Stage(
            "perplexity:measure_perplexity",
            inputs="documents model split",
            options="order smoothing titles",
            megabytes=4000,
            minutes=480,
        ),
    },
)

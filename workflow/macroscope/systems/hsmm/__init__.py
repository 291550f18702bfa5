"""Kind `hsmm`: hidden semi-Markov language models over n-grams (deng2022 §3, Appendix D)."""

from macroscope.colours import PURPLE
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:HsmmSystem",
    label="hidden semi-Markov model",
    colour=PURPLE,
    stages={
        "train": Stage(
            "training:train_hsmm",
            inputs="documents seed checkpoints",
            options="states longest ngrams ends fit",
            minutes=2880,
            folder=True,
        ),
        "generate": Stage(
            "sampling:sample_hsmm",
            inputs="model corpus system seed",
            options="ends segments samples max_tokens seed",
            minutes=480,
        ),
        "measure_perplexity": Stage(
            "perplexity:measure_perplexity",
            inputs="documents model split",
            options="states longest ngrams ends fit",
            minutes=480,
        ),
    },
)

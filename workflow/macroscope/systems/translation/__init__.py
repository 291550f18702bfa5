"""Kind `translation`: encoder-decoder transformers, autoregressive or not, on a translation set (deng2022 App. C)."""

from macroscope.colours import BLUE
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

_NETWORK = "autoregressive vocabulary layers heads width hidden dropout max_tokens"

KIND = Kind(
    options="options:TranslationSystem",
    label="translation model",
    colour=BLUE,
    stages={
        "train": Stage(
            "training:train_translator",
            inputs="documents seed checkpoints",
            options=f"{_NETWORK} training",
            megabytes=8000,
            minutes=2880,
            folder=True,
        ),
        "generate": Stage(
            "generation:translate",
            inputs="documents model corpus system seed",
            options=f"{_NETWORK} split samples batch_size temperature seed",
            megabytes=8000,
            minutes=480,
        ),
    },
)

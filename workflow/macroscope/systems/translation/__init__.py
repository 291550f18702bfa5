"""Kind `translation`: encoder-decoder transformers, autoregressive or not, on a translation set (deng2022 App. C)."""

from typing import Literal

from pydantic import Field

from macroscope.colours import BLUE
from macroscope.options import ConfigView, Options
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, Seed, SystemOptions

_NETWORK = "autoregressive vocabulary layers heads width hidden dropout max_tokens positions lengths"

KIND = Kind(
    options=":TranslationSystem",
    extras={"models": ""},
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

LARGE = 256
"""Least width of a network whose jobs request a GPU."""


class TranslationTraining(Options):
    """Training of a translation model."""

    epochs: float = Field(30, gt=0, description="Passes over the training pairs.")
    batch_size: int = Field(64, ge=1, description="Pairs per update.")
    learning_rate: float = Field(5e-4, gt=0, description="Peak learning rate of Adam.")
    warmup_share: float = Field(0.1, ge=0, lt=1, description="Share of the updates with a rising learning rate.")
    evaluations: int = Field(5, ge=1, description="Number of validations and checkpoints over the whole training.")


class TranslationSystem(SystemOptions):
    """A transformer that is trained on a corpus of translations and translates held-out originals."""

    kind: Literal["translation"]
    autoregressive: bool = Field(
        True,
        description="true: each word given those before it. false: first a length, then all words at once,"
        " independently of each other (Gu et al. 2018).",
    )
    vocabulary: int = Field(
        4000, ge=300, description="Number of word pieces (byte-level BPE of originals and translations)."
    )
    layers: int = Field(6, ge=1, description="Layers of the encoder and of the decoder (paper: 6).")
    heads: int = Field(8, ge=1, description="Attention heads (paper: 8).")
    width: int = Field(512, ge=8, description="Model dimension (paper: 512).")
    hidden: int = Field(2048, ge=8, description="Hidden dimension of the feed-forward layers (paper: 2048).")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout in training.")
    training: TranslationTraining = Field(TranslationTraining(), description="Training.")
    split: Literal["valid", "test"] = Field("test", description="Split whose originals are translated.")
    samples: int | None = Field(
        None, ge=1, description="Largest number of translations; default: all originals of the split."
    )
    batch_size: int = Field(64, ge=1, description="Originals that are translated in parallel.")
    max_tokens: int = Field(
        200, ge=2, description="Longest text in word pieces; longer pairs are left out of training."
    )
    positions: int | None = Field(
        None,
        ge=0,
        description="Learnt positions of the encoder, and as many of the decoder (fairseq: 1026); 0: sinusoids."
        " Default: one table for both, of max_tokens + 2.",
    )
    lengths: int | None = Field(
        None,
        ge=2,
        description="Number of lengths that a model that is not autoregressive can predict (fairseq: 256); default:"
        " max_tokens + 1.",
    )
    temperature: float = Field(1.0, ge=0, description="Sampling temperature; 0: always the most probable word piece.")
    seed: Seed = 0

    def check(self, place: str, config: ConfigView) -> None:
        """Check that the number of heads divides the width, and that there are positions and lengths for all tokens."""
        for name, least in (("positions", self.max_tokens + 2), ("lengths", self.max_tokens + 1)):
            value = getattr(self, name)
            if value and value < least:
                raise ValueError(
                    f"{place}.{name}: {value} is too few for texts of {self.max_tokens} tokens; give at least {least},"
                    " or a smaller max_tokens"
                )
        if self.width % self.heads:
            raise ValueError(f"{place}.width: {self.width} is not divisible by {self.heads} heads; give a multiple")

    def gpus(self, stage: str) -> int:
        """Return 1 for a network that is too large for a laptop, else 0."""
        return int(self.width >= LARGE)

    def description(self, config: ConfigView) -> Description:
        """Describe it by its probabilistic form and size."""
        form = "autoregressive" if self.autoregressive else "non-autoregressive"
        layers = "1 layer" if self.layers == 1 else f"{self.layers} layers"
        return Description(self.kind, form, f"{layers}, width {self.width}")

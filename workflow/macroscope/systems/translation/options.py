"""Options of systems of kind `translation`."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from macroscope.options import Options
from macroscope.systems.options import Description, Seed, SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


LARGE = 256
"""Width from which on a network asks for a GPU."""


class TranslationTraining(Options):
    """How a translation model is trained."""

    epochs: float = Field(30, gt=0, description="Passes over the training pairs.")
    batch_size: int = Field(64, ge=1, description="Pairs per update.")
    learning_rate: float = Field(5e-4, gt=0, description="Peak learning rate of Adam.")
    warmup_share: float = Field(0.1, ge=0, lt=1, description="Share of the updates with a rising learning rate.")
    evaluations: int = Field(5, ge=1, description="Validations (and checkpoints) over the whole training.")


class TranslationSystem(SystemOptions):
    """A transformer that is trained on the documents of a corpus and their originals, and translates held-out ones."""

    kind: Literal["translation"]
    autoregressive: bool = Field(
        True,
        description="true: each word given those before it. false: a length first, then all words at once, each without"
        " regard to the others (Gu et al. 2018).",
    )
    vocabulary: int = Field(
        4000, ge=300, description="Pieces of words (byte-level BPE of both sides of the training pairs)."
    )
    layers: int = Field(6, ge=1, description="Layers of encoder and of decoder (paper: 6).")
    heads: int = Field(8, ge=1, description="Attention heads (paper: 8).")
    width: int = Field(512, ge=8, description="Model dimension (paper: 512).")
    hidden: int = Field(2048, ge=8, description="Hidden dimension of the feed-forward layers (paper: 2048).")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of training.")
    training: TranslationTraining = Field(TranslationTraining(), description="Training.")
    split: Literal["valid", "test"] = Field("test", description="Split whose originals are translated.")
    samples: int | None = Field(None, ge=1, description="Most translations; default: of all originals of the split.")
    batch_size: int = Field(64, ge=1, description="Originals that are translated at the same time.")
    max_tokens: int = Field(200, ge=2, description="Longest text in pieces of words; longer pairs are not trained on.")
    temperature: float = Field(1.0, ge=0, description="Of the words that are drawn; 0: always the most probable one.")
    seed: Seed = 0

    def check(self, place: str, config: "Config") -> None:
        """Check that the width can be shared out among the heads."""
        if self.width % self.heads:
            raise ValueError(f"{place}.width: {self.width} cannot be shared out among {self.heads} heads")

    def gpus(self, stage: str) -> int:
        """One for a network of a size that a laptop is too slow for."""
        return int(self.width >= LARGE)

    def description(self, config: "Config") -> Description:
        """Return the probabilistic form."""
        form = "autoregressive" if self.autoregressive else "non-autoregressive"
        layers = "1 layer" if self.layers == 1 else f"{self.layers} layers"
        return Description(self.kind, form, f"{layers}, width {self.width}")

"""Kind `ngram`: n-gram models over words, unsmoothed (meister2021 eq. 16) and Kneser-Ney."""

from typing import Annotated, Literal

from pydantic import Field

from macroscope.colours import SKY
from macroscope.options import ConfigView
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.language_model.options import Ancestral, BeamSampling, Nucleus, describe_decoding
from macroscope.systems.options import Description, Seed, SystemOptions, title_setting

KIND = Kind(
    options=":NgramSystem",
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
            "training:measure_perplexity",
            inputs="documents model split",
            options="order smoothing titles",
            megabytes=4000,
            minutes=480,
        ),
    },
)

NgramDecoding = Annotated[Ancestral | Nucleus | BeamSampling, Field(discriminator="rule")]


class NgramSystem(SystemOptions):
    """An n-gram model over the words of the train split, with a closed vocabulary, that generates documents."""

    kind: Literal["ngram"]
    order: int = Field(3, ge=1, description="Words of an n-gram (paper: 3).")
    smoothing: Literal["none", "kneser_ney"] = Field(
        "none",
        description="none: relative frequencies (meister2021 eq. 16); kneser_ney: interpolated, with three discounts"
        " per order.",
    )
    titles: bool = Field(description="Whether section titles precede the sections in the training text (W/ Title).")
    decoding: NgramDecoding = Field(
        Ancestral(rule="ancestral"),
        description="How the next word is chosen; nucleus requires a model without smoothing, whose contexts have few"
        " continuations.",
    )
    samples: int = Field(1000, ge=1, description="Number of valid samples.")
    max_tokens: int = Field(20000, ge=1, description="Longest sample, in words; a longer one is cut and counted.")
    seed: Seed = 0

    def check(self, place: str, config: ConfigView) -> None:
        """Check that the decoding rule applies to the model."""
        if isinstance(self.decoding, Nucleus) and self.smoothing != "none":
            raise ValueError(
                f"{place}.decoding: a smoothed n-gram model has no nucleus here, because every word may follow every"
                " context; set smoothing: none, or another rule"
            )

    def has_perplexity(self) -> bool:
        """Return whether the model is smoothed; without smoothing, one new n-gram makes the perplexity infinite."""
        return self.smoothing != "none"

    def description(self, config: ConfigView) -> Description:
        """Describe it by order, smoothing, format and decoding rule."""
        smoothing = "Kneser-Ney" if self.smoothing == "kneser_ney" else "unsmoothed"
        decoding = describe_decoding(self.decoding)
        return Description(self.kind, f"{self.order}-gram, {smoothing}", title_setting(self.titles), decoding)

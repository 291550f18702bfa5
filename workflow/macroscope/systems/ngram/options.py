"""Options of systems of kind `ngram`."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from macroscope.systems.language_model.options import Ancestral, BeamSampling, Nucleus, decoding_shown
from macroscope.systems.options import Description, Seed, SystemOptions, title_setting

if TYPE_CHECKING:
    from macroscope.config.schema import Config


NgramDecoding = Annotated[Ancestral | Nucleus | BeamSampling, Field(discriminator="rule")]


class NgramSystem(SystemOptions):
    """An n-gram model over words, counted on the train split, that samples documents; its vocabulary is closed."""

    kind: Literal["ngram"]
    order: int = Field(3, ge=1, description="Words of an n-gram (paper: 3).")
    smoothing: Literal["none", "kneser_ney"] = Field(
        "none",
        description="none: relative frequencies (meister2021 eq. 16); kneser_ney: interpolated, with three discounts an"
        " order.",
    )
    titles: bool = Field(description="Section titles stand before the sections in the training text (W/ Title).")
    decoding: NgramDecoding = Field(
        Ancestral(rule="ancestral"),
        description="How the next word is chosen; nucleus asks for a model without smoothing, whose contexts have few"
        " continuations.",
    )
    samples: int = Field(1000, ge=1, description="Number of valid samples to draw.")
    max_tokens: int = Field(20000, ge=1, description="Longest sample, in words; a longer one is cut and counted.")
    seed: Seed = 0

    def check(self, place: str, config: "Config") -> None:
        """Check that the decoding rule is one for the model."""
        if isinstance(self.decoding, Nucleus) and self.smoothing != "none":
            raise ValueError(
                f"{place}.decoding: a smoothed n-gram model gives every word a probability after every context, and has"
                " no nucleus here; set smoothing: none, or another rule"
            )

    def has_perplexity(self) -> bool:
        """Whether the model is smoothed: that of another one is infinite with the first n-gram that is new."""
        return self.smoothing != "none"

    def description(self, config: "Config") -> Description:
        """Return order, smoothing and format."""
        smoothing = "Kneser-Ney" if self.smoothing == "kneser_ney" else "unsmoothed"
        shown = decoding_shown(self.decoding)
        return Description(self.kind, f"{self.order}-gram, {smoothing}", title_setting(self.titles), shown)

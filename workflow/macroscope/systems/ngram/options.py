"""Options of systems of kind `ngram`."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from macroscope.systems.options import Description, Seed, SystemOptions, title_setting

if TYPE_CHECKING:
    from macroscope.config.schema import Config


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
    samples: int = Field(1000, ge=1, description="Number of valid samples to draw.")
    max_tokens: int = Field(20000, ge=1, description="Longest sample, in words; a longer one is cut and counted.")
    seed: Seed = 0

    def description(self, config: "Config") -> Description:
        """Return order, smoothing and format."""
        smoothing = "Kneser-Ney" if self.smoothing == "kneser_ney" else "unsmoothed"
        return Description(self.kind, f"{self.order}-gram, {smoothing}", title_setting(self.titles), "ancestral")

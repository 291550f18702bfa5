"""Options of the tendencies critic."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from macroscope.options import Options, require_name

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class TendenciesOptions(Options):
    """Statistical tendencies of text (meister2021)."""

    unit: Literal["document", "section", "line"] = Field(
        "document", description="What one text is, whose length and types are counted (paper: a line of Wikipedia)."
    )
    language: str | None = Field(
        None, description="ISO 639-1 code whose rules and stop words apply; default: the corpus's language."
    )
    tokenizer: Literal["moses"] = Field("moses", description="Tokenizer: the rules of Moses, then lower case.")
    ranks: int = Field(10000, ge=1, description="Ranks over which the rank-frequency distances look (paper: 10,000).")
    min_texts_per_length: int = Field(
        10,
        ge=2,
        description="Fewest texts of a length, on each side, for that length to be looked at (type-token).",
    )
    length_bins_per_decade: int | None = Field(
        10,
        ge=1,
        description="Lengths are grouped into bins of equal ratio; null: every length by itself, as in the paper.",
    )
    simulations: int = Field(100, ge=20, description="Simulated samples of a fitted law behind a Monte Carlo p-value.")
    count_permutations: int = Field(
        1000, ge=99, description="Permutations behind the p-values of distances between vocabularies."
    )
    training_samples: list[str] = Field(
        default=[],
        description="Systems of kind training_texts: the spread over them stands beside the standard errors (paper:"
        " Table 4), and exchanging the texts of the first two gives what chance makes of the unigrams (Figure 9a).",
    )

    def check(self, place: str, config: "Config") -> None:
        """Check that the samples are there."""
        known = {name for name, system in config.systems.items() if system.kind == "training_texts"}
        for number, name in enumerate(self.training_samples):
            require_name(name, known, f"{place}.training_samples[{number}]", "system of kind training_texts")

"""Options of the tendencies critic."""

from typing import Literal

from pydantic import Field

from macroscope.natural_language.languages import LanguageCode
from macroscope.natural_language.spacy_pipeline import TOKENS, PipelineOptions
from macroscope.options import ConfigView, require_name


class TendenciesOptions(PipelineOptions):
    """Statistical tendencies of text (meister2021)."""

    reads_from_pipeline = TOKENS

    unit: Literal["document", "section", "line"] = Field(
        "document", description="Unit of text whose length and types are counted (paper: a line of Wikipedia)."
    )
    language: LanguageCode | None = Field(
        None, description="Language of the tokenization rules and stop words; default: the corpus's language."
    )
    tokenizer: Literal["moses"] = Field(
        "moses",
        description="Tokenizer: the rules of Moses, then lower case; ICU's in languages that Moses has no rules for."
        " `language_pipeline` replaces it.",
    )
    ranks: int = Field(10000, ge=1, description="Number of ranks in the rank-frequency distances (paper: 10,000).")
    min_texts_per_length: int = Field(
        10,
        ge=2,
        description="Smallest number of texts of a length, in each collection, for that length to be compared"
        " (type-token).",
    )
    length_bins_per_decade: int | None = Field(
        10,
        ge=1,
        description="Number of bins of equal ratio per factor of ten in length; null: one bin per length, as in the"
        " paper.",
    )
    simulations: int = Field(
        100, ge=20, description="Number of samples of a fitted law, simulated for a Monte Carlo p-value."
    )
    convention: Literal["definition", "published"] = Field(
        "definition",
        description="Test of differences in means: definition: of studentised differences, which keeps its level with"
        " unequal variances, and with an interval; published: Algorithm 1, whose differences are only centred.",
    )
    count_permutations: int = Field(
        1000, ge=99, description="Number of permutations for the p-values of distances between vocabularies."
    )
    training_samples: list[str] = Field(
        default=[],
        description="Systems of kind training_texts: the spread over them is shown beside the standard errors (paper:"
        " Table 4), and permuting the texts of the first two gives the null distribution of the unigrams (Figure 9a).",
    )

    def check(self, place: str, config: ConfigView) -> None:
        """Check that `training_samples` names systems of kind training_texts."""
        super().check(place, config)
        names = {name for name, system in config.systems.items() if system.kind == "training_texts"}
        for number, name in enumerate(self.training_samples):
            require_name(name, names, f"{place}.training_samples[{number}]", "system of kind training_texts")

"""Steps of a perturbation: one group of options per rule that the config may name."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from macroscope.options import Options


class _Step(Options):
    """Base class of all steps.

    Attributes
    ----------
    reads_stop_words, drops_sections
        Whether the rule reads the list of stop words; whether it may remove a section.
    """

    reads_stop_words: ClassVar[bool] = False
    drops_sections: ClassVar[bool] = False

    rule: str

    @property
    def summary(self) -> str:
        """Return the step as text, without defaults: "drop sections share=0.2"."""
        options = self.model_dump(exclude={"rule"}, exclude_defaults=True)
        parts = (f"{n}={value:g}" if isinstance(value, float) else f"{n}={value}" for n, value in options.items())
        return " ".join([self.rule.replace("_", " "), *parts])


class Truncate(_Step):
    """Keep the beginning of every text (pimentel2022: p_short)."""

    drops_sections = True

    rule: Literal["truncate"]
    share: float = Field(1 / 3, gt=0, lt=1, description="Share of a text's words that are kept (paper: 1/3).")
    words: int | None = Field(
        None, ge=1, description="Number of words that are kept instead of a share (the paper's code: 170)."
    )


class RemoveArticles(_Step):
    """Remove all articles (pimentel2022: p_no art)."""

    drops_sections = True

    rule: Literal["remove_articles"]
    articles: list[str] | None = Field(
        None, min_length=1, description="Words that are articles; default: a, an, the; required unless English."
    )
    match_case: bool = Field(
        False, description="Whether to remove only articles with the case of the list (the paper's code): 'The' stays."
    )


class RemoveStopWords(_Step):
    """Remove the stop words of the corpus's language (pimentel2022: p_no stop)."""

    drops_sections = True
    reads_stop_words = True

    rule: Literal["remove_stop_words"]


class SwapFirstHalves(_Step):
    """Replace the first half of every text by that of another one, cut between sentences (pimentel2022: p_swap)."""

    rule: Literal["swap_first_halves"]


class ShuffleWords(_Step):
    """Put all words of a text in random order (pimentel2022: p_rand)."""

    rule: Literal["shuffle_words"]


class ShuffleSections(_Step):
    """Put the sections of a document in random order."""

    rule: Literal["shuffle_sections"]


class DropSections(_Step):
    """Remove random sections of every document."""

    drops_sections = True

    rule: Literal["drop_sections"]
    share: float = Field(0.5, gt=0, lt=1, description="Share of the sections; at least one is removed, and one stays.")


class ShuffleSentences(_Step):
    """Put the sentences of every section in random order."""

    rule: Literal["shuffle_sentences"]


class RepeatSentences(_Step):
    """Repeat random sentences of every document immediately."""

    rule: Literal["repeat_sentences"]
    share: float = Field(0.25, gt=0, le=1, description="Share of the sentences; at least one.")


class RemoveSentences(_Step):
    """Remove random sentences of every document, not the first or last one nor two adjacent ones (cai2020: MSD)."""

    drops_sections = True

    rule: Literal["remove_sentences"]
    number: int = Field(
        1, ge=1, description="Number of sentences per document; as many as possible if it is too short."
    )


class SwapPronouns(_Step):
    """Swap he and she, him and her, his and her, himself and herself; for English only."""

    reads_stop_words = True

    rule: Literal["swap_pronouns"]
    share: float = Field(
        1.0, gt=0, le=1, description="Share of a document's pronouns, chosen at random (at least one); 1: all of them."
    )


class SwapEntities(_Step):
    """Permute the proper names of a document, from some sentence on."""

    rule: Literal["swap_entities"]
    after: float = Field(
        0.5, ge=0, lt=1, description="Share of the document's sentences that keep their names, from the beginning."
    )


class SpliceDocuments(_Step):
    """Join the first half of every document's sections to the second half of another document's."""

    rule: Literal["splice_documents"]


AnyStep = (
    Truncate
    | RemoveArticles
    | RemoveStopWords
    | SwapFirstHalves
    | ShuffleWords
    | ShuffleSections
    | DropSections
    | ShuffleSentences
    | RepeatSentences
    | RemoveSentences
    | SwapPronouns
    | SwapEntities
    | SpliceDocuments
)

Rule = Literal[
    "truncate",
    "remove_articles",
    "remove_stop_words",
    "swap_first_halves",
    "shuffle_words",
    "shuffle_sections",
    "drop_sections",
    "shuffle_sentences",
    "repeat_sentences",
    "remove_sentences",
    "swap_pronouns",
    "swap_entities",
    "splice_documents",
]


def _by_name(step: Any) -> Any:
    """Convert the name of a rule to the rule with its defaults."""
    return {"rule": step} if isinstance(step, str) else step


Step = Annotated[
    AnyStep,
    Field(discriminator="rule"),
    BeforeValidator(_by_name, json_schema_input_type=Rule | Annotated[AnyStep, Field(discriminator="rule")]),
]

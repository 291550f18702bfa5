"""Steps of a perturbation: the rules that the config may name, a group of options each."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from macroscope.options import Options


class _Step(Options):
    """What all steps have in common.

    Attributes
    ----------
    reads_stop_words, drops_sections
        Whether the rule reads the list of stop words; whether it may leave out a section.
    """

    reads_stop_words: ClassVar[bool] = False
    drops_sections: ClassVar[bool] = False

    rule: str

    @property
    def shown(self) -> str:
        """The step as a person writes it: "drop sections share=0.2"; defaults go without saying."""
        options = self.model_dump(exclude={"rule"}, exclude_defaults=True)
        shown = (f"{n}={value:g}" if isinstance(value, float) else f"{n}={value}" for n, value in options.items())
        return " ".join([self.rule.replace("_", " "), *shown])


class Truncate(_Step):
    """Keep the beginning of every text (pimentel2022: p_short)."""

    drops_sections = True

    rule: Literal["truncate"]
    share: float = Field(1 / 3, gt=0, lt=1, description="Share of a text's words that is kept (paper: 1/3).")
    words: int | None = Field(
        None, ge=1, description="Number of words that are kept, whatever the share (the paper's code: 170)."
    )


class RemoveArticles(_Step):
    """Remove all articles (pimentel2022: p_no art)."""

    drops_sections = True

    rule: Literal["remove_articles"]
    articles: list[str] | None = Field(
        None, min_length=1, description="Which words are articles; default: a, an, the, for English alone."
    )
    match_case: bool = Field(
        False, description="Remove only those spelt as in the list (the paper's code): 'The' stays."
    )


class RemoveStopWords(_Step):
    """Remove the stop words of the corpus's language (pimentel2022: p_no stop)."""

    drops_sections = True
    reads_stop_words = True

    rule: Literal["remove_stop_words"]


class SwapFirstHalves(_Step):
    """Give every text the first half of another one, cut between sentences (pimentel2022: p_swap)."""

    rule: Literal["swap_first_halves"]


class ShuffleWords(_Step):
    """Put all words of a text in random order (pimentel2022: p_rand)."""

    rule: Literal["shuffle_words"]


class ShuffleSections(_Step):
    """Put the sections of a document in random order."""

    rule: Literal["shuffle_sections"]


class DropSections(_Step):
    """Leave out some sections of every document, drawn at random."""

    drops_sections = True

    rule: Literal["drop_sections"]
    share: float = Field(0.5, gt=0, lt=1, description="Share of the sections; at least one goes, and one stays.")


class ShuffleSentences(_Step):
    """Put the sentences of every section in random order."""

    rule: Literal["shuffle_sentences"]


class RepeatSentences(_Step):
    """Say some sentences of every document twice in a row."""

    rule: Literal["repeat_sentences"]
    share: float = Field(0.25, gt=0, le=1, description="Share of the sentences, drawn at random; at least one.")


class RemoveSentences(_Step):
    """Leave out some sentences of every document, never the first or last one nor two side by side (cai2020: MSD)."""

    drops_sections = True

    rule: Literal["remove_sentences"]
    number: int = Field(1, ge=1, description="Sentences that go, of a document; as many as can where it is too short.")


class SwapPronouns(_Step):
    """Exchange he and she, him and her, his and her, himself and herself; for English alone."""

    reads_stop_words = True

    rule: Literal["swap_pronouns"]
    share: float = Field(
        1.0, gt=0, le=1, description="Share of a document's pronouns, drawn at random (at least one); 1: all of them."
    )


class SwapEntities(_Step):
    """Exchange the proper names of a document with one another, from some sentence on."""

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
    """Make a rule's name the rule with its defaults."""
    return {"rule": step} if isinstance(step, str) else step


Step = Annotated[
    AnyStep,
    Field(discriminator="rule"),
    BeforeValidator(_by_name, json_schema_input_type=Rule | Annotated[AnyStep, Field(discriminator="rule")]),
]

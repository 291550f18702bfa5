"""Options of perturbations: the rules that the config may name, one group each."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from macroscope.config.options import Options


class Truncate(Options):
    """Keep the beginning of every text (pimentel2022: p_short)."""

    rule: Literal["truncate"]
    share: float = Field(1 / 3, gt=0, lt=1, description="Share of a text's words that is kept (paper: 1/3).")
    words: int | None = Field(
        None, ge=1, description="Number of words that are kept, whatever the share (the paper's code: 170)."
    )


class RemoveArticles(Options):
    """Remove all articles (pimentel2022: p_no art)."""

    rule: Literal["remove_articles"]
    articles: list[str] | None = Field(
        None, min_length=1, description="Which words are articles; default: a, an, the, for English alone."
    )
    match_case: bool = Field(
        False, description="Remove only those spelt as in the list (the paper's code): 'The' stays."
    )


class RemoveStopWords(Options):
    """Remove the stop words of the corpus's language (pimentel2022: p_no stop)."""

    rule: Literal["remove_stop_words"]


class SwapFirstHalves(Options):
    """Give every text the first half of another one, cut between sentences (pimentel2022: p_swap)."""

    rule: Literal["swap_first_halves"]


class ShuffleWords(Options):
    """Put all words of a text in random order (pimentel2022: p_rand)."""

    rule: Literal["shuffle_words"]


class ShuffleSections(Options):
    """Put the sections of a document in random order."""

    rule: Literal["shuffle_sections"]


class DropSections(Options):
    """Leave out some sections of every document, drawn at random."""

    rule: Literal["drop_sections"]
    share: float = Field(0.5, gt=0, lt=1, description="Share of the sections; at least one goes, and one stays.")


class ShuffleSentences(Options):
    """Put the sentences of every section in random order."""

    rule: Literal["shuffle_sentences"]


class RepeatSentences(Options):
    """Say some sentences of every document twice in a row."""

    rule: Literal["repeat_sentences"]
    share: float = Field(0.25, gt=0, le=1, description="Share of the sentences, drawn at random; at least one.")


class SwapPronouns(Options):
    """Exchange he and she, him and her, his and her, himself and herself; for English alone."""

    rule: Literal["swap_pronouns"]
    share: float = Field(
        1.0, gt=0, le=1, description="Share of a document's pronouns, drawn at random (at least one); 1: all of them."
    )


class SwapEntities(Options):
    """Exchange the proper names of a document with one another, from some sentence on."""

    rule: Literal["swap_entities"]
    after: float = Field(
        0.5, ge=0, lt=1, description="Share of the document's sentences that keep their names, from the beginning."
    )


class SpliceDocuments(Options):
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

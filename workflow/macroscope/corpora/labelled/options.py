"""Options of the source `labelled`."""

from typing import Any, Literal

from pydantic import Field, model_validator

from macroscope.config.options import UserPath
from macroscope.corpora.options import Corpus, TextFilters

LabelledLayout = Literal["yelp_polarity", "news_category", "newsgroups20"]


class LabelledCorpus(Corpus):
    """Short texts whose sentiment, author or topic is known, for probing (pimentel2022 section 6.1, App. C)."""

    source: Literal["labelled"]
    dataset: LabelledLayout | None = Field(
        None, description="Data set of resources/sources.yaml: reviews and sentiment, news and author, posts and group."
    )
    files: list[UserPath] = Field([], description="Local files instead, as the data set comes, each one part.")
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

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.parts import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)

"""Options of the source `timetravel`."""

from typing import Literal

from pydantic import Field

from macroscope.config.options import UserPath
from macroscope.corpora.options import Corpus, TextFilters


class TimeTravelCorpus(Corpus):
    """Stories of five sentences: those of ROCStories, and what people made of their ends after a change."""

    source: Literal["timetravel"]
    dataset: Literal["timetravel"] | None = Field(None, description="The data set of resources/sources.yaml.")
    files: list[UserPath] = Field(
        [], description="Local JSON Lines files (also gz) or zips of them instead, each one part."
    )
    rewritten: bool = Field(
        True, description="Also the stories with a changed second sentence and rewritten ends, each a story (cai2020)."
    )
    official_splits: bool = Field(
        True,
        description="Keep the split in a file's name (train_..., dev_..., test_...); else by id hash.",
    )
    filters: TextFilters = Field(TextFilters(), description="Which stories are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.parts import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)

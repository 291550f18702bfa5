"""Options of the source `stories`."""

from typing import Literal

from pydantic import Field

from macroscope.config.options import UserPath
from macroscope.corpora.options import Corpus, TextFilters


class StoriesCorpus(Corpus):
    """Stories of the web, for training beforehand: CC-Stories (Trinh and Le 2018), or a substitute for it."""

    source: Literal["stories"]
    dataset: Literal["stories"] | None = Field(None, description="The data set of resources/sources.yaml.")
    files: list[UserPath] = Field(
        [],
        description="Local files instead, each one part: plain text (also .gz), or Parquet (.parquet) with a column"
        " `text`, whose rows are the stories.",
    )
    one_per: Literal["blank_line", "line"] = Field(
        "blank_line",
        description="What ends a story in plain text: a blank line, or, where every line is a story, its line.",
    )
    fewest_words: int = Field(1, ge=1, description="Fewest words of a story, between white space.")
    filters: TextFilters = Field(TextFilters(), description="Which stories are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.parts import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)

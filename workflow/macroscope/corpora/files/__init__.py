"""Source `files`: the user's own documents, in common formats."""

from typing import Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import Corpus, Split
from macroscope.options import UserPath

SOURCE = Source(options=":FilesCorpus", read="reading:read_files")

ONE_SECTION = Field(
    False,
    description="Keep a plain text as one section without a title, as in the source webtext; otherwise, split it at its"
    " headings or blank lines.",
)


class FilesCorpus(Corpus):
    """Options of the user's own documents: JSON Lines, Parquet, CSV, or a folder of text files."""

    own_ids = True

    source: Literal["files"]
    files: list[UserPath] = Field(min_length=1, description="Files or folders; each is a part.")
    one_section: bool = ONE_SECTION
    split: Split | None = Field(
        None, description="Split of all documents, overriding their own; default: their own, or by id hash."
    )

    @property
    def splits_filled(self) -> tuple[str, ...]:
        """Return the split of all documents, or all splits."""
        return super().splits_filled if self.split is None else (self.split,)

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Return the files themselves."""
        from macroscope.corpora.raw_files import number_parts

        return number_parts(self.files)

"""Options of the source `files`."""

from typing import Literal

from pydantic import Field

from macroscope.corpora.options import Corpus, Split
from macroscope.options import UserPath

ONE_SECTION = Field(
    False,
    description="A plain text is one section without a title, as in the source webtext; otherwise it is cut at its"
    " headings or blank lines.",
)


class FilesCorpus(Corpus):
    """The user's own documents: JSON Lines, Parquet, CSV, or a folder of text files."""

    own_ids = True

    source: Literal["files"]
    files: list[UserPath] = Field(min_length=1, description="Files or folders, each one part.")
    one_section: bool = ONE_SECTION
    split: Split | None = Field(
        None, description="Split of all documents, whatever they say; default: their own, or by id hash."
    )

    @property
    def splits_filled(self) -> tuple[str, ...]:
        """The one of all documents, or all."""
        return super().splits_filled if self.split is None else (self.split,)

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """The files themselves."""
        from macroscope.corpora.raw_files import named_parts

        return named_parts(self.files)

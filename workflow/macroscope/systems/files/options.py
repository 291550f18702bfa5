"""Options of systems of kind `files`."""

from typing import Literal

from pydantic import Field, model_validator

from macroscope.config.options import UserPath
from macroscope.corpora.files.options import ONE_SECTION
from macroscope.corpora.options import Split
from macroscope.errors import MacroscopeError
from macroscope.systems.options import SystemOptions

LAYOUT = "webtext"
"""Source whose layout the data sets of systems' texts have."""


class FilesSystem(SystemOptions):
    """Texts of the user's own model (JSON Lines, Parquet, CSV, or a folder of text files), or of a published one."""

    kind: Literal["files"]
    files: list[UserPath] = Field([], description="Files or folders.")
    one_section: bool = ONE_SECTION
    dataset: str | None = Field(
        None,
        description="Name of a data set in resources/sources.yaml instead of files, such as gpt2-xl-output; each text"
        " is one section.",
    )
    splits: list[Split] = Field(
        ["test"], min_length=1, description="Which of the data set's files are taken, by the split in their names."
    )

    @model_validator(mode="after")
    def _files_or_dataset(self) -> "FilesSystem":
        if bool(self.files) == (self.dataset is not None):
            raise ValueError("give either 'files' or 'dataset', a data set of resources/sources.yaml")
        return self

    def files_read(self, place: str) -> list[str]:
        """The user's files, or those of the data set."""
        from macroscope.corpora.parts import data_files, source_named

        if self.dataset is None:
            return list(self.files)
        source = source_named(self.dataset, f"{place}.dataset")
        if source.source != LAYOUT:
            raise MacroscopeError(
                f"{place}.dataset: {self.dataset!r} of resources/sources.yaml holds real documents, not a system's"
                " texts; give one such as gpt2-xl-output, or use it as a corpus"
            )
        return data_files(source, self.splits, place)

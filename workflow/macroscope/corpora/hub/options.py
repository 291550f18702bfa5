"""Options of the source `hub`."""

from typing import Literal

from pydantic import Field, model_validator

from macroscope.corpora.files.options import ONE_SECTION
from macroscope.corpora.options import Corpus, TextFilters
from macroscope.options import Options, UserPath

DEFAULT = "default"
"""What the configuration of a data set that has one alone, or one that it calls so, stands under."""
_WORD = r"^\w[\w .+-]*$"
"""What a configuration, or a split, is called; both are folders of the retrieved data set."""


class Columns(Options):
    """Names of the data set's columns; others are not looked at."""

    text: str | None = Field("text", description="Column of the text; none where there is one of sections.")
    sections: str | None = Field(
        None, description="Column of sections instead: lists of strings, or of objects with `text` and `title`."
    )
    title: str | None = Field(None, description="Column of titles.")
    id: str | None = Field(None, description="Column of ids, strings or whole numbers; default: split and row.")
    label: str | None = Field(None, description="Column of labels; numbers of a class become the class's name.")

    @model_validator(mode="after")
    def _text_or_sections(self) -> "Columns":
        if (self.text is None) == (self.sections is None):
            raise ValueError("give either 'text' or 'sections'; with 'sections', 'text: null'")
        return self

    def chosen(self) -> dict[str, str]:
        """Field of a document -> column that it is read from."""
        return {name: column for name, column in self.model_dump().items() if column is not None}


class DataSet(Options):
    """Where the rows of a data set are: in a folder, or on the hub, under a name and a revision."""

    folder: UserPath | None = Field(
        None,
        description="Folder of a Hugging Face data set: a copy of its repository, Parquet or JSON Lines files, or what"
        " `save_to_disk` wrote.",
    )
    name: str | None = Field(
        None,
        pattern=r"^[\w-][\w.-]*(/[\w-][\w.-]*)?$",
        description="Name of a data set on the Hugging Face hub instead, `owner/name`; retrieved when absent.",
    )
    revision: str | None = Field(
        None,
        pattern=r"^[0-9a-f]{40}$",
        description="Commit of the named data set, all 40 digits: what a branch holds changes.",
    )
    configuration: str | None = Field(
        None, pattern=_WORD, description="Configuration of the data set, where it has several ('subset' on the hub)."
    )
    split: str = Field("train", pattern=_WORD, description="Split of the data set that is read.")
    columns: Columns = Field(Columns(), description="Which columns are read.")
    one_section: bool = ONE_SECTION

    @model_validator(mode="after")
    def _folder_or_name(self) -> "DataSet":
        if (self.folder is None) == (self.name is None):
            raise ValueError("give either 'folder', or 'name' with its 'revision'")
        if (self.name is None) != (self.revision is None):
            hint = "a commit of the data set's page, under 'Files', 'History'" if self.name else "a folder has none"
            raise ValueError(f"'name' and 'revision' belong together: {hint}")
        return self

    def place(self) -> str:
        """The folder, or where the named data set is retrieved to."""
        if self.name is None or self.revision is None:
            return str(self.folder)
        parts = (self.name.replace("/", "--"), self.revision, self.configuration or DEFAULT, self.split)
        return "/".join(("data/hub", *parts))


class HubCorpus(DataSet, Corpus):
    """A Hugging Face data set, by its name or in a folder; needs the extra `datasets`."""

    own_ids = True

    source: Literal["hub"]
    filters: TextFilters = Field(TextFilters(), description="Which texts are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """The folder itself, or the one that is retrieved."""
        from macroscope.corpora.raw_files import named_parts

        return named_parts([self.place()])

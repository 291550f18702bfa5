"""Source `hub`: a Hugging Face data set, by its name or in a folder, read through the library `datasets`."""

from typing import Literal

from pydantic import Field, model_validator

from macroscope.corpora.declaration import Source
from macroscope.corpora.files import ONE_SECTION
from macroscope.corpora.options import Corpus, TextFilters
from macroscope.options import Options, UserPath

SOURCE = Source(options=":HubCorpus", read="reading:read_hub", retrieve="retrieval:retrieve_data_set", version=3)

DEFAULT = "default"
"""Folder name of the only configuration of a data set, or of the one called "default"."""
_WORD = r"^\w[\w .+-]*$"
"""Pattern of the names of configurations and splits, which are folders of the retrieved data set."""


class Columns(Options):
    """Names of the columns to read; other columns are ignored."""

    text: str | None = Field("text", description="Column of the text; none if there is a column of sections.")
    sections: str | None = Field(
        None, description="Column of sections instead: lists of strings, or of objects with `text` and `title`."
    )
    title: str | None = Field(None, description="Column of titles.")
    id: str | None = Field(None, description="Column of ids, strings or whole numbers; default: split and row.")
    label: str | None = Field(None, description="Column of labels; class numbers become class names.")

    @model_validator(mode="after")
    def _text_or_sections(self) -> "Columns":
        if (self.text is None) == (self.sections is None):
            raise ValueError("give either 'text' or 'sections'; with 'sections', 'text: null'")
        return self

    def chosen(self) -> dict[str, str]:
        """Return the columns by the fields of a document that they fill."""
        return {name: column for name, column in self.model_dump().items() if column is not None}


class DataSet(Options):
    """Location of a data set, in a folder or on the hub under a name and a revision, and the rows to read."""

    folder: UserPath | None = Field(
        None,
        description="Folder of a Hugging Face data set: a copy of its repository, Parquet or JSON Lines files, or a"
        " folder written by `save_to_disk`.",
    )
    name: str | None = Field(
        None,
        pattern=r"^[\w-][\w.-]*(/[\w-][\w.-]*)?$",
        description="Name of a data set on the Hugging Face hub instead, `owner/name`; retrieved if absent.",
    )
    revision: str | None = Field(
        None,
        pattern=r"^[0-9a-f]{40}$",
        description="Commit of the named data set, all 40 digits, because the content of a branch changes.",
    )
    configuration: str | None = Field(
        None, pattern=_WORD, description="Configuration of the data set, if it has several ('subset' on the hub)."
    )
    split: str = Field("train", pattern=_WORD, description="Split of the data set to read.")
    columns: Columns = Field(Columns(), description="Columns to read.")
    one_section: bool = ONE_SECTION

    @model_validator(mode="after")
    def _folder_or_name(self) -> "DataSet":
        if (self.folder is None) == (self.name is None):
            raise ValueError("give either 'folder', or 'name' with its 'revision'")
        if (self.name is None) != (self.revision is None):
            hint = "a commit of the data set's page, under 'Files', 'History'" if self.name else "a folder has none"
            raise ValueError(f"'name' and 'revision' must be given together: {hint}")
        return self

    def place(self) -> str:
        """Return the folder, or the folder that the named data set is retrieved to."""
        if self.name is None or self.revision is None:
            return str(self.folder)
        parts = (self.name.replace("/", "--"), self.revision, self.configuration or DEFAULT, self.split)
        return "/".join(("data/hub", *parts))


class HubCorpus(DataSet, Corpus):
    """Options of a Hugging Face data set, by its name or in a folder; needs the extra `datasets`."""

    own_ids = True

    source: Literal["hub"]
    filters: TextFilters = Field(TextFilters(), description="Filters that choose the texts.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Return the folder itself, or the retrieved one."""
        from macroscope.corpora.raw_files import number_parts

        return number_parts([self.place()])

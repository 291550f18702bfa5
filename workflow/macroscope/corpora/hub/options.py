"""Options of the source `hub`."""

from typing import Literal

from pydantic import Field, model_validator

from macroscope.config.options import Options, UserPath
from macroscope.corpora.files.options import ONE_SECTION
from macroscope.corpora.options import Corpus, TextFilters

FOLDER = Field(
    description="Folder of a Hugging Face data set: a copy of its repository, Parquet or JSON Lines files, or what"
    " `save_to_disk` wrote."
)
CONFIGURATION = Field(
    None, min_length=1, description="Configuration of the data set, where it has several ('subset' on the hub)."
)
SPLIT = Field("train", min_length=1, description="Split of the data set that is read.")


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


COLUMNS = Field(Columns(), description="Which columns are read.")


class HubCorpus(Corpus):
    """A folder in the layouts of Hugging Face data sets; needs the extra `datasets`."""

    own_ids = True

    source: Literal["hub"]
    folder: UserPath = FOLDER
    configuration: str | None = CONFIGURATION
    split: str = SPLIT
    columns: Columns = COLUMNS
    one_section: bool = ONE_SECTION
    filters: TextFilters = Field(TextFilters(), description="Which texts are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """The folder itself."""
        from macroscope.corpora.parts import named_parts

        return named_parts([self.folder])

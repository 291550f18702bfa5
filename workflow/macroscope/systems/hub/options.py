"""Options of systems of kind `hub`."""

from typing import Literal

from macroscope.config.options import UserPath
from macroscope.corpora.files.options import ONE_SECTION
from macroscope.corpora.hub.options import COLUMNS, CONFIGURATION, FOLDER, SPLIT, Columns
from macroscope.systems.options import SystemOptions


class HubSystem(SystemOptions):
    """A model's texts from a folder in the layouts of Hugging Face data sets; needs the extra `datasets`."""

    kind: Literal["hub"]
    folder: UserPath = FOLDER
    configuration: str | None = CONFIGURATION
    split: str = SPLIT
    columns: Columns = COLUMNS
    one_section: bool = ONE_SECTION

    def files_read(self, place: str) -> list[str]:
        """The folder."""
        return [self.folder]

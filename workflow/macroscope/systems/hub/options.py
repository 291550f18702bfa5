"""Options of systems of kind `hub`."""

from typing import Literal

from macroscope.corpora.hub.options import DataSet
from macroscope.systems.options import SystemOptions


class HubSystem(DataSet, SystemOptions):
    """A model's texts from a Hugging Face data set, by its name or in a folder; needs the extra `datasets`."""

    kind: Literal["hub"]

    def files_read(self, place: str) -> list[str]:
        """The folder."""
        return [self.place()]

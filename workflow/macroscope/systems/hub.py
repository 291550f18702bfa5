"""Kind `hub`: a model's texts from a Hugging Face data set, downloaded by name or read from a folder."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from macroscope.colours import VERMILION
from macroscope.corpora.hub import DataSet
from macroscope.corpora.hub.reading import read_data_set
from macroscope.corpora.provenance import read_origin
from macroscope.documents import Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.readers.parsing import parse_records
from macroscope.readers.selection import Selection
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import SystemOptions

KIND = Kind(
    options=":HubSystem",
    label="texts of a data set",
    colour=VERMILION,
    stages={
        "generate": Stage(
            ":import_data_set",
            inputs="files corpus system",
            options="folder name revision configuration split columns one_section",
            version=3,
        ),
    },
)


class HubSystem(DataSet, SystemOptions):
    """A model's texts from a Hugging Face data set, by its name or in a folder; needs the extra `datasets`."""

    kind: Literal["hub"]

    def files_read(self, place: str) -> list[str]:
        """Return the folder of the data set."""
        return [self.place()]


def import_data_set(files: Sequence[Path], output: Path, options: HubSystem, *, corpus: str, system: str) -> None:
    """Read a split of a data set as samples; drop and count texts without any section.

    Parameters
    ----------
    files
        The folder of the data set, alone. The notes of its retrieval beside it are copied into the metadata.
    """
    (folder,) = files
    source = {"system": system, "folder": folder.name} | read_origin(folder)
    provenance = Provenance(corpus, source, options.model_dump(mode="json"))
    records = read_data_set(folder, options, provenance)
    parsed = parse_records(records, provenance, 0.0, 1.0, True, Selection(one_section=options.one_section))
    if not write_documents(output, (replace(document, split="test") for document, _ in parsed), provenance):
        raise MacroscopeError(
            f"system {system}: {folder}, split {options.split!r}, contains no usable text; give another split"
        )

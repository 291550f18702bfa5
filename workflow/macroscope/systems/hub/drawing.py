"""A model's texts from a Hugging Face data set."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from macroscope.corpora.files.reading import documents_of
from macroscope.corpora.hub.reading import read_data_set
from macroscope.corpora.origin import origin_of
from macroscope.documents import Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.hub.options import HubSystem


def import_data_set(files: Sequence[Path], output: Path, options: HubSystem, *, corpus: str, system: str) -> None:
    """Read a split of a data set as samples; texts without any section are dropped and counted.

    Parameters
    ----------
    files
        The folder alone; what was noted beside it where it was retrieved goes into the metadata.
    """
    (folder,) = files
    source = {"system": system, "folder": folder.name} | origin_of(folder)
    provenance = Provenance(corpus, source, options.model_dump(mode="json"))
    records = read_data_set(folder, options, provenance)
    documents = documents_of(records, provenance, valid_share=0.0, test_share=1.0, one_section=options.one_section)
    if not write_documents(output, (replace(document, split="test") for document in documents), provenance):
        raise MacroscopeError(f"system {system}: {folder}, split {options.split!r}, holds no text that can be judged")

"""Texts of the user's own model, or of a published one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from macroscope.corpora.files.reading import read_user_documents
from macroscope.corpora.origin import origin_of
from macroscope.corpora.webtext.reading import read_texts
from macroscope.documents import Document, Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.files.options import FilesSystem


def import_texts(files: Sequence[Path], output: Path, options: FilesSystem, *, corpus: str, system: str) -> None:
    """Read files as samples; texts without any section are dropped and counted.

    Parameters
    ----------
    files
        The user's files, or those of the data set that the options name; what `retrieve` noted beside them goes into
        the metadata.
    """
    source = {"system": system, "files": [str(path) for path in files]}
    origins = [origin for path in files if (origin := origin_of(path))]
    provenance = Provenance(corpus, source | ({"parts": origins} if origins else {}), options.model_dump(mode="json"))
    if not write_documents(output, _samples(files, options, provenance), provenance):
        raise MacroscopeError(f"system {system}: {', '.join(source['files'])} hold no text that can be judged")


def _samples(paths: Sequence[Path], options: FilesSystem, provenance: Provenance) -> Iterator[Document]:
    if options.dataset is not None:
        return read_texts(paths, provenance)
    documents = read_user_documents(paths, provenance, valid_share=0.0, test_share=1.0, one_section=options.one_section)
    return (replace(document, split="test") for document in documents)

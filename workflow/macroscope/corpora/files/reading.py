"""Reader of the source `files`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from macroscope.corpora.files import FilesCorpus
from macroscope.documents import Document, Provenance
from macroscope.readers.reading import make_file_namer, read_user_documents
from macroscope.readers.selection import selection_of


def read_files(options: FilesCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the documents of one file or folder, as the source `files`; see `read_user_documents`."""
    provenance.source.update(file=path.name)
    names = make_file_namer([Path(file) for file in options.files])
    selection = selection_of(options, "people")
    documents = read_user_documents([path], provenance, options.valid_share, options.test_share, selection, names)
    return documents if options.split is None else (replace(document, split=options.split) for document in documents)

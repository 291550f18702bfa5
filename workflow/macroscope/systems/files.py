"""Texts of the user's own model."""

from dataclasses import replace
from pathlib import Path

from macroscope.corpora.user_files import read_user_documents
from macroscope.documents import Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.options import FilesSystem


def import_texts(output: Path, options: FilesSystem, *, corpus: str, system: str) -> None:
    """Read the user's files as samples; texts without any section are dropped and counted."""
    provenance = Provenance(corpus, {"system": system, "files": list(options.files)}, options.model_dump(mode="json"))
    paths = [Path(file) for file in options.files]
    documents = (
        replace(document, split="test")
        for document in read_user_documents(paths, provenance, valid_share=0.0, test_share=1.0)
    )
    if not write_documents(output, documents, provenance):
        raise MacroscopeError(f"system {system}: {', '.join(options.files)} hold no text that can be judged")

"""The system of kind `other_domain`: the samples that a system has of another corpus."""

from dataclasses import replace
from pathlib import Path

from macroscope.documents import Provenance, read_documents, read_provenance, write_documents
from macroscope.systems.other_domain.options import OtherDomainSystem


def take_over(other_samples: Path, output: Path, options: OtherDomainSystem, *, corpus: str, system: str) -> None:
    """Copy the samples; ids are set apart by the other corpus's name, since nobody there belongs to anybody here.

    Parameters
    ----------
    other_samples
        Samples of the system, of the other corpus.
    """
    parent = read_provenance(other_samples)
    documents = (replace(document, id=f"{options.domain}:{document.id}") for document in read_documents(other_samples))
    source = {"system": system, "domain": options.domain, "of": parent.source}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json"), parent.counts))

"""Source `subset`: documents of another corpus of the config, as that corpus has them."""

from collections.abc import Iterator
from pathlib import Path

from macroscope.corpora.subset.options import SubsetCorpus
from macroscope.documents import Document, Provenance, read_documents, read_provenance


def read_subset(options: SubsetCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the documents of another corpus, with their section types and splits.

    Parameters
    ----------
    provenance
        Receives where the other corpus came from, and its counts: what its filters dropped is not here either.
    workers
        Not used: reading is no faster than the disk.
    """
    other = read_provenance(path)
    provenance.source.update(of=options.of, origin=other.source)
    provenance.counts += other.counts
    yield from read_documents(path)

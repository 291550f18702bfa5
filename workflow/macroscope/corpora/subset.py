"""Source `subset`: documents of another corpus of the config, as that corpus has them."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import Corpus, TextFilters
from macroscope.documents import Document, Provenance, read_documents, read_provenance
from macroscope.options import require_name

if TYPE_CHECKING:
    from macroscope.config.schema import Config


SOURCE = Source(options=":SubsetCorpus", read=":read_subset")


class SubsetCorpus(Corpus):
    """Documents of another corpus that pass further filters; section types and splits stay that corpus's own."""

    source: Literal["subset"]
    of: str = Field(description="Name of the other corpus in this config.")
    filters: TextFilters = Field(TextFilters(), description="Which of its documents are kept.")

    def check(self, place: str, config: "Config") -> None:
        """Refuse a corpus that is not there, a circle of subsets, and another language than the documents have."""
        require_name(self.of, config.corpora, f"{place}.of", "corpus")
        seen = [place.rpartition(".")[2]]
        other: str | None = self.of
        while other is not None:
            if other in seen:
                raise ValueError(f"{place}.of: {' of '.join([*seen, other])} has no documents of its own")
            seen.append(other)
            require_name(other, config.corpora, f"{place}.of", "corpus")
            other = config.corpora[other].derived_from
        language = config.corpora[self.of].language
        if self.language != language:
            raise ValueError(f"{place}.language: the documents of '{self.of}' are in '{language}'; give the same")

    @property
    def derived_from(self) -> str:
        """The other corpus."""
        return self.of

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """The finished documents of the other corpus."""
        return {"documents": str(PurePosixPath(folder).parent / self.of / "documents.parquet")}


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

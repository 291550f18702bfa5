"""Source `subset`: documents of another corpus of the config, unchanged."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import Corpus, TextFilters
from macroscope.documents import Document, Provenance, read_documents, read_provenance
from macroscope.options import ConfigView, require_name

SOURCE = Source(options=":SubsetCorpus", read=":read_subset")


class SubsetCorpus(Corpus):
    """Options of documents of another corpus that pass further filters; section types and splits are unchanged."""

    source: Literal["subset"]
    of: str = Field(description="Name of the other corpus in this config.")
    filters: TextFilters = Field(TextFilters(), description="Filters that choose among its documents.")

    def check(self, place: str, config: ConfigView) -> None:
        """Check that the other corpus exists, that subsets are not circular, and that the languages agree."""
        require_name(self.of, config.corpora, f"{place}.of", "corpus")
        seen = [place.rpartition(".")[2]]
        origin: str | None = self.of
        while origin is not None:
            if origin in seen:
                raise ValueError(f"{place}.of: {' of '.join([*seen, origin])} has no documents of its own")
            seen.append(origin)
            require_name(origin, config.corpora, f"{place}.of", "corpus")
            origin = config.corpora[origin].derived_from
        language = config.corpora[self.of].language
        if self.language != language:
            raise ValueError(f"{place}.language: the documents of '{self.of}' are in '{language}'; give the same")

    @property
    def derived_from(self) -> str:
        return self.of

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Return the finished documents of the other corpus."""
        return {"documents": str(PurePosixPath(folder).parent / self.of / "documents.parquet")}


def read_subset(options: SubsetCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the documents of another corpus, with their section types and splits.

    Parameters
    ----------
    provenance
        Receives the origin of the other corpus and its counts, because its filters apply here, too.
    """
    origin = read_provenance(path)
    provenance.source.update(of=options.of, origin=origin.source)
    provenance.counts += origin.counts
    yield from read_documents(path)

"""Options of the source `cohan`."""

from typing import Literal

from pydantic import Field

from macroscope.config.options import UserPath
from macroscope.corpora.options import Corpus


class CohanCorpus(Corpus):
    """Scientific articles in the layout of Cohan et al. (2018)."""

    source: Literal["cohan"]
    dataset: str | None = Field(None, description="Name of a data set in resources/sources.yaml: pubmed or arxiv.")
    files: list[UserPath] = Field([], description="Local zips or JSON Lines files (also gz) instead, each one part.")
    abstract: bool = Field(False, description="Put the abstract first, as a section of type 'abstract'.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.parts import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)

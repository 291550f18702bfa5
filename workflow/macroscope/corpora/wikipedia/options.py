"""Options of the source `wikipedia`."""

from typing import Literal

from pydantic import Field

from macroscope.corpora.options import Corpus
from macroscope.options import UserPath


class WikipediaCorpus(Corpus):
    """Articles of a MediaWiki pages-articles dump."""

    source: Literal["wikipedia"]
    dump: str | None = Field(None, description="Name of a dump in resources/sources.yaml; retrieved when absent.")
    files: list[UserPath] = Field([], description="Local dump files instead (xml, bz2, gz), each one part.")
    page_seconds: float = Field(10.0, gt=0, description="Time limit for one page; a slower one is dropped and counted.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.raw_files import local_or_retrieved

        return local_or_retrieved(self.files, "dump", self.dump, self.source, place)

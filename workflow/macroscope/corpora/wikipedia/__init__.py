"""Source `wikipedia`: articles of a MediaWiki pages-articles dump."""

from typing import Literal

from pydantic import Field, field_validator

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import RetrievedCorpus
from macroscope.corpora.wikipedia.conventions import WITH_CONVENTIONS
from macroscope.natural_language.languages import name_of
from macroscope.options import UserPath

SOURCE = Source(options=":WikipediaCorpus", read="reading:read_dump", threads=8)


class WikipediaCorpus(RetrievedCorpus):
    """Options of articles of a MediaWiki pages-articles dump."""

    data_set_option = "dump"

    source: Literal["wikipedia"]
    dump: str | None = Field(None, description="Name of a dump in resources/sources.yaml; retrieved if absent.")
    files: list[UserPath] = Field([], description="Local dump files instead (xml, bz2, gz); each is a part.")

    @field_validator("language")
    @classmethod
    def _has_conventions(cls, language: str) -> str:
        if language not in WITH_CONVENTIONS:
            raise ValueError(
                f"the redirects, disambiguation pages and lists of the Wikipedia in {name_of(language)} are not known;"
                f" choose from {', '.join(sorted(WITH_CONVENTIONS))}, or give the articles as source 'files'"
            )
        return language

    keep: list[Literal["years", "disambiguation", "lists"]] = Field(
        [],
        description="Kinds of pages to keep, which are left out otherwise: articles about years, decades and centuries;"
        " disambiguation pages; lists, and pages that are mostly links.",
    )
    page_seconds: float = Field(10.0, gt=0, description="Time limit for one page; a slower one is dropped and counted.")

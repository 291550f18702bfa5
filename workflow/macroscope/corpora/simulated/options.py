"""Options of the source `simulated`."""

from typing import Any, Literal

from pydantic import Field, model_validator

from macroscope.corpora.declaration import Simulation
from macroscope.corpora.options import Corpus, with_text_defaults
from macroscope.corpora.simulated import SOURCE


class SimulatedCorpus(Corpus):
    """Raw files in an upstream format, made from a process that is known exactly."""

    not_extracted = Corpus.not_extracted | {"documents", "clutter"}

    source: Literal["simulated"]
    kind: Literal["wiki", "webtext", "topics", "languages", "people", "scripts"] = Field(
        "wiki",
        description="wiki: articles whose section types follow a Markov chain, as a MediaWiki XML dump in bz2."
        " The others are JSON Lines of texts without titles, whose filters drop nothing by default. webtext: the"
        " same articles; topics: texts whose topics go together in a known way; languages: short texts, each"
        " of one of three languages; people: stories about three persons who are mentioned in a known way;"
        " scripts: short stories of events in their causal order.",
    )
    documents: int = Field(
        1200, ge=1, description="Number of articles or texts that the process makes, before any filter."
    )
    clutter: float = Field(
        0.25,
        ge=0,
        description="Pages that must be dropped (redirects, disambiguation, years, stubs ...; of the other kinds: texts"
        " without words), per article.",
    )
    page_seconds: float = Field(10.0, gt=0, description="Time limit for one page; a slower one is dropped and counted.")

    @model_validator(mode="before")
    @classmethod
    def _fitting_filters(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("kind") in ("webtext", "topics", "languages", "people", "scripts"):
            return given | {"filters": with_text_defaults(given.get("filters"))}
        return given

    @property
    def simulation(self) -> Simulation:
        """What makes the raw file."""
        return SOURCE.simulations[self.kind]

    @property
    def read_by(self) -> str:
        """Name of the real source whose code reads the raw file."""
        return self.simulation.read_by

    @property
    def kind_of_process(self) -> str:
        """Kind of the process, and so of the documents."""
        return self.kind

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """The one file that the simulation writes."""
        return {"simulated": f"{folder}/raw/{self.simulation.raw}"}

"""Source `simulated`: corpora from exactly known processes, in the formats of real sources."""

from typing import Any, Literal

from pydantic import Field, model_validator

from macroscope.corpora.declaration import ORDERS, Simulation, Source
from macroscope.corpora.options import Corpus, add_text_defaults
from macroscope.options import LARGEST_SEED, Options

_SHAPING = "source kind documents clutter seed valid_share test_share"

SOURCE = Source(
    options=":SimulatedCorpus",
    simulations={
        "hsmm": Simulation("hsmm:write_corpus", "webtext.jsonl", "webtext", f"{_SHAPING} hsmm", "hsmm:generate"),
        "languages": Simulation("languages:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "languages:generate"),
        "people": Simulation(
            "people:write_corpus",
            "webtext.jsonl",
            "webtext",
            _SHAPING,
            "people:generate",
            orders=(*ORDERS, "wrong_gender", "no_antecedent", "merged", "split"),
        ),
        "scripts": Simulation("scripts:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "scripts:generate"),
        "topics": Simulation("topics:write_corpus", "webtext.jsonl", "webtext", _SHAPING, "topics:generate"),
        "webtext": Simulation("wiki:write_webtext", "webtext.jsonl", "webtext", _SHAPING, "articles:generate_texts"),
        "wiki": Simulation("wiki:write_corpus", "pages-articles.xml.bz2", "wikipedia", _SHAPING, "articles:generate"),
    },
)


class HsmmSizes(Options):
    """Sizes of the hidden semi-Markov model of kind `hsmm` (deng2022 Appendix D)."""

    states: int = Field(24, ge=1, description="Hidden states (paper: 256).")
    subsequences: int = Field(96, ge=1, description="Distinct sub-sequences, each of one state (paper: 10000).")
    letters: int = Field(26, ge=1, le=52, description="Distinct letters of the sub-sequences (paper: 52).")
    shortest: int = Field(3, ge=1, description="Tokens of the shortest sub-sequence, with its delimiter (paper: 4).")
    longest: int = Field(5, ge=1, description="Tokens of the longest sub-sequence, with its delimiter (paper: 11).")
    segments: int = Field(12, ge=1, description="Sub-sequences per text, M (paper: 50).")
    transition_temperature: float = Field(
        0.5, ge=0.02, description="Divisor of the normal logits of the transitions (paper: 0.5)."
    )
    emission_temperature: float = Field(
        0.3, ge=0.02, description="Divisor of the normal logits of the emissions (paper: 0.3)."
    )

    @model_validator(mode="after")
    def _enough_subsequences(self) -> "HsmmSizes":
        if self.longest < self.shortest:
            raise ValueError(f"longest is {self.longest}, below shortest, {self.shortest}; give a larger one")
        possible = sum(self.letters ** (length - 1) for length in range(self.shortest, self.longest + 1))
        if possible < self.subsequences:
            raise ValueError(
                f"{self.letters} letters make {possible} different sub-sequences of {self.shortest} to {self.longest}"
                f" tokens, fewer than the {self.subsequences} requested; give more letters or a larger 'longest'"
            )
        return self


class SimulatedCorpus(Corpus):
    """Options of raw files in the format of a real source, from an exactly known process."""

    not_extracted = Corpus.not_extracted | {"documents", "clutter", "seed", "hsmm"}

    source: Literal["simulated"]
    kind: Literal["wiki", "webtext", "topics", "languages", "people", "scripts", "hsmm"] = Field(
        "wiki",
        description="wiki: articles whose section types follow a Markov chain, as a MediaWiki XML dump in bz2."
        " The other kinds are JSON Lines of texts without titles; their filters drop nothing by default. webtext: the"
        " same articles; topics: texts whose topics are correlated in a known way; languages: short texts, each in"
        " one of three languages; people: stories about three persons, with a known process of mentions;"
        " scripts: short stories of events in their causal order; hsmm: strings of a hidden semi-Markov model.",
    )
    documents: int = Field(
        1200, ge=1, description="Number of articles or texts that the process generates, before any filter."
    )
    clutter: float = Field(
        0.25,
        ge=0,
        description="Pages per article that the filters must drop (redirects, disambiguation, years, stubs ...; of"
        " other kinds: texts without words).",
    )
    seed: int = Field(
        0,
        ge=0,
        le=LARGEST_SEED,
        description="Added to the run's seed when the texts are generated: another value gives other texts (of kind"
        " hsmm, also another process). Two corpora of one kind and seed have the same texts.",
    )
    hsmm: HsmmSizes = Field(HsmmSizes(), description="Sizes of the process, for kind hsmm only.")
    page_seconds: float = Field(10.0, gt=0, description="Time limit for one page; a slower one is dropped and counted.")

    @model_validator(mode="before")
    @classmethod
    def _fitting_filters(cls, given: Any) -> Any:
        kind = given.get("kind", "wiki") if isinstance(given, dict) else None
        simulation = SOURCE.simulations.get(kind) if isinstance(kind, str) else None
        if simulation is None or simulation.read_by == "wikipedia":
            return given
        return given | {"filters": add_text_defaults(given.get("filters"))}

    @model_validator(mode="after")
    def _sizes_of_its_kind(self) -> "SimulatedCorpus":
        if self.kind != "hsmm" and self.hsmm != HsmmSizes():
            raise ValueError(
                f"'hsmm' applies to kind 'hsmm' only, and this corpus is of kind '{self.kind}'; leave it out"
            )
        return self

    @property
    def simulation(self) -> Simulation:
        return SOURCE.simulations[self.kind]

    @property
    def read_by(self) -> str:
        """Return the name of the real source whose code reads the raw file."""
        return self.simulation.read_by

    @property
    def kind_of_process(self) -> str:
        """Return the kind of the process, and so of the documents."""
        return self.kind

    @property
    def added_seed(self) -> int:
        """Return the corpus's own seed."""
        return self.seed

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Return the file that the simulation writes."""
        return {"simulated": f"{folder}/raw/{self.simulation.raw}"}

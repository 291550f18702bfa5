"""The section process of the simulated encyclopaedia, and the genre that a sequence of section types implies.

Four genres share the abstract and the late types history, reception and legacy. Only late types can be last, and three
sections come before any of them, so that every article has at least four.
"""

from collections.abc import Iterable

from macroscope.corpora.simulated.process import SectionProcess

BEGIN, END = "<begin>", "<end>"
ABSTRACT = "abstract"

TABLE: dict[str, dict[str, float]] = {
    BEGIN: {ABSTRACT: 1.0},
    ABSTRACT: {"early life": 0.3, "geography": 0.25, "plot": 0.25, "description": 0.2},
    # person
    "early life": {"career": 0.75, "personal life": 0.25},
    "career": {"personal life": 0.45, "reception": 0.3, "legacy": 0.25},
    "personal life": {"legacy": 0.6, "reception": 0.4},
    # settlement
    "geography": {"demographic": 0.6, "economy": 0.4},
    "demographic": {"economy": 0.55, "history": 0.45},
    "economy": {"history": 0.7, "legacy": 0.3},
    # film
    "plot": {"cast": 0.6, "production": 0.4},
    "cast": {"production": 0.6, "release": 0.25, "reception": 0.15},
    "production": {"release": 0.6, "reception": 0.4},
    "release": {"reception": 0.7, END: 0.3},
    # species
    "description": {"distribution": 0.6, "behavior": 0.4},
    "distribution": {"behavior": 0.6, "conservation": 0.25, "history": 0.15},
    "behavior": {"conservation": 0.6, "history": 0.4},
    "conservation": {"history": 0.4, END: 0.6},
    # shared
    "history": {"legacy": 0.45, END: 0.55},
    "reception": {"legacy": 0.4, END: 0.6},
    "legacy": {END: 1.0},
}

GENRES = {
    "person": frozenset({"early life", "career", "personal life"}),
    "settlement": frozenset({"geography", "demographic", "economy"}),
    "film": frozenset({"plot", "cast", "production", "release"}),
    "species": frozenset({"description", "distribution", "behavior", "conservation"}),
}


def wiki_process() -> SectionProcess:
    """Section process of the simulated encyclopaedia: 18 section types."""
    return SectionProcess.from_table(TABLE, BEGIN, END)


def genre_of(section_types: Iterable[str]) -> str:
    """Genre that most of the types belong to; the first of equals, and "person" where only shared types occur."""
    types = list(section_types)
    return max(GENRES, key=lambda genre: sum(section in GENRES[genre] for section in types))

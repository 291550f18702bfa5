"""The section process of the simulated encyclopaedia, and the genre that a sequence of section types implies.

Four genres share the abstract and the late types history, reception and legacy. Articles mostly follow their genre's
order, but like real ones they repeat, omit and swap sections, and sometimes have any section anywhere. So every order
is possible, and the latent NLL of an unusual one is known instead of depending on smoothing.
"""

from collections.abc import Iterable

import numpy as np

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


SHORTEST = 4
"""Fewest sections of an article, as in the paper's filter of Wikipedia."""
REPEATED, LEFT_OUT, SWAPPED, ANYWHERE = 0.01, 0.03, 0.02, 0.02
"""Probability of each deviation from the genre's order, per section."""


def wiki_process() -> SectionProcess:
    """Return the section process of the simulated encyclopaedia, with 18 section types."""
    plan = SectionProcess.from_table(TABLE, BEGIN, END)
    size = len(plan.states)
    follows = np.vstack([np.append(plan.begin, 0.0), np.column_stack([plan.transition, plan.end])])  # begin first
    after_next = follows[:, :-1] @ follows[1:]  # if one section is omitted
    after_next[:, -1] += follows[:, -1]
    before = plan.expected_transitions[1:, :-1].T  # back to the preceding section
    back = np.zeros_like(follows)
    back[1:, :-1] = before
    possible = back.sum(axis=1, keepdims=True)
    back = np.divide(back, possible, out=follows.copy(), where=possible > 0)
    again = np.vstack([follows[0], np.eye(size, size + 1)])
    anything = np.full_like(follows, 1 / (size + 1))
    anything[0] = np.append(np.full(size, 1 / size), 0.0)
    after_next[0] = np.append(after_next[0, :-1] / after_next[0, :-1].sum(), 0.0)
    keeps = 1 - REPEATED - LEFT_OUT - SWAPPED - ANYWHERE
    table = keeps * follows + REPEATED * again + LEFT_OUT * after_next + SWAPPED * back + ANYWHERE * anything
    return SectionProcess(plan.states, table[0, :-1], table[1:, :-1], table[1:, -1], SHORTEST)


def infer_genre(section_types: Iterable[str]) -> str:
    """Return the genre of most types; the first of equals, and "person" if only shared types occur."""
    types = list(section_types)
    return max(GENRES, key=lambda genre: sum(section in GENRES[genre] for section in types))

"""Synthetic: whether states follow each other as in the process; which sub-sequence of a state it is, is nothing."""

from dataclasses import replace

import numpy as np

from macroscope.corpora.simulated.hsmm import HsmmProcess, hsmm_process, simulate_texts
from macroscope.corpora.simulated.options import HsmmSizes
from macroscope.critics.synthetic.projection import pieces_of
from macroscope.documents import Section
from tests.contract.case import Case, Texts

SIZES = HsmmSizes(subsequences=480, shortest=5, longest=7, emission_temperature=5)


def case_process() -> HsmmProcess:
    """The process of the case, whose texts seldom begin alike."""
    return hsmm_process(SIZES, 1)


def _drawn(n: int, seed: int, order: str = "process") -> Texts:
    return list(simulate_texts(case_process(), order, n, seed))


def _reworded(texts: Texts) -> Texts:
    """The same states, each with another of its sub-sequences."""
    process, rng, found = case_process(), np.random.default_rng(3), []
    for document in texts:
        pieces = (" ".join(piece) for piece in pieces_of(document.text.split()))
        alike = (np.flatnonzero(process.states == process.states[process.places[piece]]) for piece in pieces)
        text = " ".join(process.subsequences[rng.choice(some)] for some in alike)
        found.append(replace(document, sections=(Section(None, text),)))
    return found


CASE = Case(
    damage=lambda texts: _drawn(len(texts), 5, "shuffled"),
    harmless=_reworded,
    draw=_drawn,
    train=60,
    kind_of_process="hsmm",
)

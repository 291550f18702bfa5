"""Case of `synthetic`: sensitive to the transitions between states, insensitive to the choice of sub-sequences."""

from dataclasses import replace

import numpy as np

from macroscope.corpora.simulated import HsmmSizes
from macroscope.corpora.simulated.hsmm import HsmmProcess, hsmm_process, simulate_texts
from macroscope.critics.synthetic.latents import split_subsequences
from macroscope.documents import Section
from tests.contract.case import Case, Texts

SIZES = HsmmSizes(subsequences=480, shortest=5, longest=7, emission_temperature=5)


def case_process() -> HsmmProcess:
    """Return the process of the case, whose texts seldom share an opening."""
    return hsmm_process(SIZES, 1)


def _generate(n: int, seed: int, order: str = "process") -> Texts:
    return list(simulate_texts(case_process(), order, n, seed))


def _reworded(texts: Texts) -> Texts:
    """Replace every sub-sequence by another of the same state."""
    process, rng, reworded = case_process(), np.random.default_rng(3), []
    for document in texts:
        pieces = (" ".join(piece) for piece in split_subsequences(document.text.split()))
        alike = (np.flatnonzero(process.states == process.states[process.places[piece]]) for piece in pieces)
        text = " ".join(process.subsequences[rng.choice(indices)] for indices in alike)
        reworded.append(replace(document, sections=(Section(None, text),)))
    return reworded


CASE = Case(
    damage=lambda texts: _generate(len(texts), 5, "shuffled"),
    harmless=_reworded,
    generate=_generate,
    train=60,
    kind_of_process="hsmm",
)

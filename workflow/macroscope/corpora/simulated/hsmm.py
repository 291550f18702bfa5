"""Texts of a hidden semi-Markov model whose states can be read off exactly, as WebText (deng2022 §3, Appendix D).

A text is M sub-sequences of letters, each ended by a delimiter. Each sub-sequence belongs to one state; the states
follow a Markov chain. Tokens are set apart by spaces: "q B / x f T /".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.corpora.simulated.options import HsmmSizes, SimulatedCorpus
from macroscope.corpora.simulated.texts import write_texts
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.files import read_json, write_json
from macroscope.tables import write_csv

NAME = "simhsmm"
ORDERS = ("process", "shuffled", "independent")
DELIMITER = "/"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
SOURCE_STATE = 0
"""z_0: a state as any other, that only the first transition begins from."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class HsmmProcess:
    """The process.

    Attributes
    ----------
    transitions
        P(z_m | z_{m-1}): states x states. States without any sub-sequence are never entered.
    subsequences
        Their tokens, the delimiter among them, with spaces between.
    states
        The one state of each.
    emissions
        P(sub-sequence | its state).
    segments
        M: sub-sequences of a text.
    """

    transitions: Floats
    subsequences: tuple[str, ...]
    states: Integers
    emissions: Floats
    segments: int

    @classmethod
    def load(cls, path: Path) -> "HsmmProcess":
        """Read what `to_json` describes from a JSON file."""
        raw = read_json(path)
        return cls(
            np.array(raw["transitions"]),
            tuple(raw["subsequences"]),
            np.array(raw["states"], dtype=np.int64),
            np.array(raw["emissions"]),
            int(raw["segments"]),
        )

    def to_json(self) -> dict[str, object]:
        """Describe the process, for `truth/process.json`."""
        return {
            "segments": self.segments,
            "transitions": self.transitions.tolist(),
            "subsequences": list(self.subsequences),
            "states": self.states.tolist(),
            "emissions": self.emissions.tolist(),
        }

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Every token that the process writes."""
        return frozenset(token for some in self.subsequences for token in some.split())

    @cached_property
    def places(self) -> dict[str, int]:
        """Number of each sub-sequence."""
        return {some: number for number, some in enumerate(self.subsequences)}

    @cached_property
    def marginals(self) -> Floats:
        """P(z_m), segments x states."""
        found = np.empty((self.segments, len(self.transitions)))
        current = self.transitions[SOURCE_STATE]
        for m in range(self.segments):
            found[m] = current
            current = current @ self.transitions
        return found

    def log_probability(self, numbers: Sequence[int]) -> float:
        """Log P(x, z) = log P(x) of a text of M sub-sequences, by their numbers; in nats."""
        chosen = np.asarray(numbers)
        states = self.states[chosen]
        before = np.concatenate([[SOURCE_STATE], states[:-1]])
        return float(np.log(self.transitions[before, states]).sum() + np.log(self.emissions[chosen]).sum())


def hsmm_process(sizes: HsmmSizes, seed: int) -> HsmmProcess:
    """Draw a process (deng2022 Appendix D).

    Sub-sequences are distinct, of uniform lengths and letters; the state of each is uniform. Normal logits, divided by
    the temperatures, give the transitions, and the emissions of each state over its own sub-sequences. A state that no
    sub-sequence has fallen to cannot be entered: the others share its probability.
    """
    rng = np.random.default_rng([seed, 0x45])
    subsequences = _distinct(sizes, rng)
    states = rng.integers(sizes.states, size=len(subsequences))
    transitions = rng.normal(size=(sizes.states, sizes.states)) / sizes.transition_temperature
    empty = np.bincount(states, minlength=sizes.states) == 0
    transitions[:, empty] = -np.inf
    logits = rng.normal(size=len(subsequences)) / sizes.emission_temperature
    highest = np.full(sizes.states, -np.inf)
    np.maximum.at(highest, states, logits)
    weights = np.exp(logits - highest[states])
    emissions = weights / np.bincount(states, weights, sizes.states)[states]
    transitions = np.exp(transitions - transitions.max(axis=1, keepdims=True))
    transitions /= transitions.sum(axis=1, keepdims=True)
    return HsmmProcess(transitions, tuple(subsequences), states, emissions, sizes.segments)


def simulate_segments(process: HsmmProcess, order: str, n: int, seed: int) -> Iterator[Integers]:
    """Draw texts as numbers of their sub-sequences; see `simulate_texts`."""
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}, not one of {', '.join(ORDERS)}")
    chains = np.cumsum(process.transitions, axis=1)
    free = np.cumsum(process.marginals, axis=1)
    by_state = [np.flatnonzero(process.states == state) for state in range(len(process.transitions))]
    of_state = [np.cumsum(process.emissions[numbers]) for numbers in by_state]
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        draws = rng.random((process.segments, 2))
        found, state = np.empty(process.segments, dtype=np.int64), SOURCE_STATE
        for m, (first, second) in enumerate(draws):
            state = _place((free[m] if order == "independent" else chains[state]), first)
            found[m] = by_state[state][_place(of_state[state], second)]
        yield rng.permutation(found) if order == "shuffled" else found


def simulate_texts(process: HsmmProcess, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw texts.

    Parameters
    ----------
    order
        "process": as it is. "shuffled": the sub-sequences of each text in random order. "independent": the state of
        each sub-sequence drawn by itself, from those that stand at its place.
    n
        Number of texts. The first ones are the same whatever `n` is.
    seed
        Same seed, same texts.

    Returns
    -------
    iterator of Document
        Of split "test" with the ids "simulated-<number>".
    """
    for number, chosen in enumerate(simulate_segments(process, order, n, seed)):
        text = " ".join(process.subsequences[some] for some in chosen)
        yield Document(f"simulated-{number:06d}", "test", None, (Section(None, text),))


def draw(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw texts from the process in a file; see `simulate_texts`."""
    return simulate_texts(HsmmProcess.load(process), order, n, seed)


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write the JSON Lines file, and the truth about it. Same options and seed, same bytes.

    Parameters
    ----------
    options
        `documents`: number of texts; `clutter`: texts without words per text; `hsmm`: sizes of the process.
    raw
        JSON Lines file to write; see `corpora.simulated.texts`.
    truth
        Folder: process.json; subsequences.csv (subsequence, state, probability in it); documents.parquet (as extraction
        and the filters should deliver them); states.parquet (id, states of the sub-sequences).
    """
    process = hsmm_process(options.hsmm, seed)
    write_json(truth / "process.json", process.to_json())
    table = pd.DataFrame(
        {"subsequence": process.subsequences, "state": process.states, "probability": process.emissions}
    )
    write_csv(table, truth / "subsequences.csv")
    documents = write_texts(raw, simulate_texts(process, "process", options.documents, seed), options, seed)
    write_documents(truth / "documents.parquet", documents, Provenance(NAME, {"name": "truth", "seed": seed}))
    states = [process.states[some].tolist() for some in simulate_segments(process, "process", options.documents, seed)]
    frame = pd.DataFrame({"id": [document.id for document in documents], "states": states})
    frame.to_parquet(truth / "states.parquet", index=False)


def _distinct(sizes: HsmmSizes, rng: np.random.Generator) -> list[str]:
    """Distinct sub-sequences, each redrawn until it is new."""
    letters = list(LETTERS[: sizes.letters])
    found: dict[str, None] = {}
    while len(found) < sizes.subsequences:
        length = int(rng.integers(sizes.shortest, sizes.longest + 1)) - 1
        chosen = (letters[some] for some in rng.integers(len(letters), size=length))
        found[" ".join([*chosen, DELIMITER])] = None
    return list(found)


def _place(cumulative: Floats, uniform: float) -> int:
    """Number that a uniform draw falls on; sums that end below 1 by rounding are those of the last one."""
    return min(int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right")), len(cumulative) - 1)

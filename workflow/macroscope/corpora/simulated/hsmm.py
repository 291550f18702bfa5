"""Texts of a hidden semi-Markov model whose states the text determines, as WebText (deng2022 §3, Appendix D).

A text is M sub-sequences of letters, each ended by a delimiter. Each sub-sequence belongs to one state; the states
follow a Markov chain. Tokens are separated by spaces: "q B / x f T /".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.corpora.simulated import HsmmSizes, SimulatedCorpus
from macroscope.corpora.simulated.texts import require_order, write_simulation
from macroscope.documents import Document, Section
from macroscope.files import read_json
from macroscope.tables import write_csv

NAME = "simhsmm"
DELIMITER = "/"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
SOURCE_STATE = 0
"""State z_0 before the first transition; it is otherwise a state like any other."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class HsmmProcess:
    """Parameters of a hidden semi-Markov model.

    Attributes
    ----------
    transitions
        P(z_m | z_{m-1}), states x states. States without sub-sequences are never entered.
    subsequences
        Tokens of each sub-sequence, with the delimiter, joined by spaces.
    states
        State of each sub-sequence.
    emissions
        P(sub-sequence | its state).
    segments
        Number of sub-sequences per text, M.
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
        """Return all tokens that the process can emit."""
        return frozenset(token for subsequence in self.subsequences for token in subsequence.split())

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the number of each sub-sequence."""
        return {subsequence: number for number, subsequence in enumerate(self.subsequences)}

    @cached_property
    def marginals(self) -> Floats:
        """Return P(z_m), segments x states."""
        marginals = np.empty((self.segments, len(self.transitions)))
        current = self.transitions[SOURCE_STATE]
        for m in range(self.segments):
            marginals[m] = current
            current = current @ self.transitions
        return marginals

    def log_probability(self, numbers: Sequence[int]) -> float:
        """Compute log P(x, z) = log P(x) of a text of M sub-sequences, given their numbers; in nats."""
        chosen = np.asarray(numbers)
        states = self.states[chosen]
        before = np.concatenate([[SOURCE_STATE], states[:-1]])
        return float(np.log(self.transitions[before, states]).sum() + np.log(self.emissions[chosen]).sum())


def hsmm_process(sizes: HsmmSizes, seed: int) -> HsmmProcess:
    """Sample a process (deng2022 Appendix D).

    Sub-sequences are distinct, with uniform lengths, letters and states. Normal logits, divided by the temperatures,
    give the transitions, and the emissions of each state over its own sub-sequences. A state without sub-sequences
    cannot be entered; the other states share its probability.
    """
    rng = np.random.default_rng([seed, 0x45])
    subsequences = _sample_subsequences(sizes, rng)
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
    """Generate texts as numbers of their sub-sequences; see `simulate_texts`."""
    require_order(order)
    chains = np.cumsum(process.transitions, axis=1)
    independent = np.cumsum(process.marginals, axis=1)
    by_state = [np.flatnonzero(process.states == state) for state in range(len(process.transitions))]
    emissions = [np.cumsum(process.emissions[numbers]) for numbers in by_state]
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        uniforms = rng.random((process.segments, 2))
        segments, state = np.empty(process.segments, dtype=np.int64), SOURCE_STATE
        for m, (first, second) in enumerate(uniforms):
            state = _invert((independent[m] if order == "independent" else chains[state]), first)
            segments[m] = by_state[state][_invert(emissions[state], second)]
        yield rng.permutation(segments) if order == "shuffled" else segments


def simulate_texts(process: HsmmProcess, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate texts.

    Parameters
    ----------
    order
        "process": texts of the process. "shuffled": the sub-sequences of each text in random order. "independent":
        the states of a text sampled independently, each from the marginal distribution at its position.
    n
        Number of texts. The first texts are the same whatever `n` is.
    seed
        Random seed; the same seed gives the same texts.

    Returns
    -------
    iterator of Document
        Texts in the split "test", with ids "simulated-<number>".
    """
    for number, chosen in enumerate(simulate_segments(process, order, n, seed)):
        text = " ".join(process.subsequences[segment] for segment in chosen)
        yield Document(f"simulated-{number:06d}", "test", None, (Section(None, text),))


def generate(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate texts of the process in a file; see `simulate_texts`."""
    return simulate_texts(HsmmProcess.load(process), order, n, seed)


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write texts, and the truth about them; see `texts.write_simulation`.

    The folder of the truth also has subsequences.csv (subsequence, state, probability given the state) and
    states.parquet (id, states of the sub-sequences).
    """
    process = hsmm_process(options.hsmm, seed)
    table = pd.DataFrame(
        {"subsequence": process.subsequences, "state": process.states, "probability": process.emissions}
    )
    texts = simulate_texts(process, "process", options.documents, seed)
    documents = write_simulation(process.to_json(), texts, options, seed, raw, truth, NAME)
    write_csv(table, truth / "subsequences.csv")
    segments = simulate_segments(process, "process", options.documents, seed)
    states = [process.states[text].tolist() for text in segments]
    frame = pd.DataFrame({"id": [document.id for document in documents], "states": states})
    frame.to_parquet(truth / "states.parquet", index=False)


def _sample_subsequences(sizes: HsmmSizes, rng: np.random.Generator) -> list[str]:
    """Sample distinct sub-sequences; repeated ones are rejected."""
    letters = list(LETTERS[: sizes.letters])
    subsequences: dict[str, None] = {}
    while len(subsequences) < sizes.subsequences:
        length = int(rng.integers(sizes.shortest, sizes.longest + 1)) - 1
        chosen = (letters[number] for number in rng.integers(len(letters), size=length))
        subsequences[" ".join([*chosen, DELIMITER])] = None
    return list(subsequences)


def _invert(cumulative: Floats, uniform: float) -> int:
    """Return the outcome at a uniform number, by cumulative probabilities that may end below 1 by rounding."""
    return min(int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right")), len(cumulative) - 1)

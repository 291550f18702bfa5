"""The prior over section types: a bigram Markov chain with begin and end (deng2022 §4).

    P_c(z_1 ... z_M) = P(z_1 | begin) prod_m P(z_m | z_{m-1}) P(end | z_M)

Where its probabilities come from is `smoothing`. The published code takes additive smoothing of 0 or 1, counts begin
and end among the successors of everything, looks at MAP states alone, and divides by M + 1.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macroscope.critics.coherence.smoothing import Additive, Array, BackOff, Sequences, transitions_of

UNKNOWN = -1
"""State of a section whose type is none of the prior's."""


@dataclass(frozen=True)
class SectionPrior:
    """A smoothed bigram chain.

    Attributes
    ----------
    types
        The K section types, in the order of the axes.
    counts
        (K + 1) x (K + 1); row 0 is begin, row 1 + i is type i; column j is type j, column K is the end.
    smoothing
        How counts become probabilities.
    published
        Whether a unit is a transition, M + 1 a document, and not a section.
    """

    types: tuple[str, ...]
    counts: Array
    smoothing: Additive | BackOff
    published: bool = False

    @cached_property
    def log_probabilities(self) -> Array:
        """Log P(column | row) in nats, axes as `counts`; -inf where a transition is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(self.smoothing.probabilities(self.counts))

    def units(self, sections: NDArray[np.int64]) -> Array:
        """Denominator of the latent PPL: M as defined, M + 1 transitions as published."""
        return np.asarray(sections, dtype=float) + (1.0 if self.published else 0.0)

    def nll(self, states: NDArray[np.int64], lengths: NDArray[np.int64]) -> Array:
        """Return -log P_c(z) of state sequences, in nats.

        Parameters
        ----------
        states
            Indices into `types`, all documents one after the other; sum(lengths) of them.
        lengths
            Number of sections of each document, all >= 1.

        Returns
        -------
        array, one value a document; inf where a transition is impossible.
        """
        logs = self.log_probabilities
        starts, ends = _bounds(lengths)
        steps = np.zeros(len(states))
        steps[1:] = -logs[1 + states[:-1], states[1:]]
        steps[starts] = -logs[0, states[starts]]
        return np.add.reduceat(steps, starts) - logs[1 + states[ends], -1]

    def known_nll(self, states: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[Array, Array]:
        """-log P_c of those transitions between states that are known, and their number; one of each a document.

        As the published code does with titles that it never saw: it passes over the transitions to and from them.
        """
        documents = np.split(states, np.cumsum(lengths)[:-1])
        steps = [transitions_of(document, len(self.types)) for document in documents]
        nll = [-self.log_probabilities[rows, columns].sum() for rows, columns in steps]
        return np.array(nll), np.array([len(rows) for rows, _ in steps], dtype=float)

    def marked(
        self, states: NDArray[np.int64], lengths: NDArray[np.int64], mark: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many of the transitions of each document are marked, begin and end included, and repeat a type.

        Parameters
        ----------
        mark
            Axes as `counts`.

        Returns
        -------
        two arrays of counts, one value a document.
        """
        starts, ends = _bounds(lengths)
        found, repetition = np.zeros((2, len(states)), dtype=np.int64)
        found[1:] = mark[1 + states[:-1], states[1:]]
        repetition[1:] = found[1:] & (states[:-1] == states[1:])
        found[starts], repetition[starts] = mark[0, states[starts]], 0
        return np.add.reduceat(found, starts) + mark[1 + states[ends], -1], np.add.reduceat(repetition, starts)

    def expected_nll(self, posterior: Array, lengths: NDArray[np.int64]) -> Array:
        """T(x) = -E log P_c(z) over a posterior that factorises over sections, exactly, in nats.

        Given independent sections, E log P(z_m | z_{m-1}) = q_{m-1}' L q_m: no sampling is needed.

        Parameters
        ----------
        posterior
            Sections x K, rows sum to 1, all documents one after the other.
        lengths
            Number of sections of each document, all >= 1.
        """
        costs = -self.log_probabilities
        starts, ends = _bounds(lengths)
        ones = np.ones((len(starts), 1))
        steps = np.zeros(len(posterior))
        steps[1:] = _expected_cost(posterior[:-1], costs[1:, :-1], posterior[1:])
        steps[starts] = _expected_cost(ones, costs[:1, :-1], posterior[starts])
        return np.add.reduceat(steps, starts) + _expected_cost(posterior[ends], costs[1:, -1:], ones)

    def as_json(self) -> dict[str, Any]:
        """Describe the prior."""
        kind = "back_off" if isinstance(self.smoothing, BackOff) else "additive"
        return {
            "types": list(self.types),
            "smoothing": {"kind": kind, **asdict(self.smoothing)},
            "published": self.published,
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> "SectionPrior":
        """Inverse of `as_json`."""
        weights = {name: value for name, value in raw["smoothing"].items() if name != "kind"}
        smoothing = (BackOff if raw["smoothing"]["kind"] == "back_off" else Additive)(**weights)
        return cls(tuple(raw["types"]), np.array(raw["counts"], dtype=float), smoothing, raw["published"])


def count_transitions(sequences: Sequences, types: int) -> Array:
    """Count begin -> z_1, z_m -> z_{m+1} and z_M -> end; axes as `SectionPrior.counts`."""
    counts = np.zeros((types + 1, types + 1))
    for sequence in sequences:
        np.add.at(counts, transitions_of(sequence, types), 1)
    return counts


def latent_ppl(prior: SectionPrior, sequences: Sequences) -> float:
    """exp(sum T / sum units) over known state sequences; as published, over their transitions between known types."""
    states, lengths = flatten(sequences)
    if prior.published:
        nll, units = prior.known_nll(states, lengths)
        return float(np.exp(nll.sum() / units.sum()))
    return float(np.exp(prior.nll(states, lengths).sum() / prior.units(lengths).sum()))


def step_probabilities(sequence: Sequence[int] | NDArray[np.integer], prior: SectionPrior) -> Array:
    """P_c of each of the M + 1 transitions of one document, begin and end included."""
    return np.exp(prior.log_probabilities)[transitions_of(sequence, len(prior.types))]


def flatten(sequences: Sequences) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concatenate sequences; returns the states and the lengths."""
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    return np.concatenate([np.asarray(sequence, dtype=np.int64) for sequence in sequences]), lengths


def _bounds(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if (np.asarray(lengths) < 1).any():
        raise ValueError("every document must have at least one section")
    ends = np.cumsum(lengths) - 1
    return ends - lengths + 1, ends


def _expected_cost(left: Array, costs: Array, right: Array) -> Array:
    """Row-wise left' costs right, with 0 x inf = 0: a transition without posterior mass costs nothing."""
    possible = np.isfinite(costs)
    cost = np.einsum("mj,mj->m", left @ np.where(possible, costs, 0.0), right)
    if possible.all():
        return cost
    mass_on_impossible = np.einsum("mj,mj->m", left @ (~possible).astype(float), right)
    return np.where(mass_on_impossible > 0, np.inf, cost)

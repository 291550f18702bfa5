"""The prior over section types: a bigram Markov chain with begin and end (deng2022 §4).

    P_c(z_1 ... z_M) = P(z_1 | begin) prod_m P(z_m | z_{m-1}) P(end | z_M),  P(j | i) = (c_ij + delta) / (c_i + delta V)

The definition lets begin be followed by any of the K types and a type by any type or the end, so V is K or K + 1. The
published code counts begin and end among the successors of everything, V = K + 2, and tries delta = 0 and 1 only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json

Array = NDArray[np.float64]

PUBLISHED_SMOOTHING = (0.0, 1.0)


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
        delta, added to each count.
    convention
        "definition" or "published": which successors share the smoothing, and what is counted as a unit.
    """

    types: tuple[str, ...]
    counts: Array
    smoothing: float
    convention: str = "definition"

    @property
    def log_probabilities(self) -> Array:
        """Log P(column | row) in nats, axes as `counts`; -inf where a transition is impossible."""
        k = len(self.types)
        published = self.convention == "published"
        possible = np.full((k + 1, 1), k + 2.0 if published else k + 1.0)
        smoothed = self.counts + self.smoothing
        if not published:
            possible[0] = k
            smoothed[0, k] = 0.0
        totals = self.counts.sum(axis=1, keepdims=True) + self.smoothing * possible
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(smoothed) - np.log(totals)
        # A row that was never seen gives 0/0 without smoothing: all its successors are impossible.
        return np.where(np.isnan(logs), -np.inf, logs)

    def units(self, sections: NDArray[np.int64]) -> Array:
        """Denominator of the latent PPL: M as defined, M + 1 transitions as published."""
        return np.asarray(sections, dtype=float) + (1.0 if self.convention == "published" else 0.0)

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

    def errors(
        self, states: NDArray[np.int64], lengths: NDArray[np.int64], threshold: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Transitions with P_c below `threshold`, begin and end included, and those of them that repeat a type.

        Returns
        -------
        two arrays of counts, one value a document.
        """
        unlikely = np.exp(self.log_probabilities) < threshold
        starts, ends = _bounds(lengths)
        error, repetition = np.zeros((2, len(states)), dtype=np.int64)
        error[1:] = unlikely[1 + states[:-1], states[1:]]
        repetition[1:] = error[1:] & (states[:-1] == states[1:])
        error[starts], repetition[starts] = unlikely[0, states[starts]], 0
        return np.add.reduceat(error, starts) + unlikely[1 + states[ends], -1], np.add.reduceat(repetition, starts)

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

    def save(self, folder: Path) -> None:
        """Write `prior.json`: types, counts, smoothing, convention."""
        write_json(
            folder / "prior.json",
            {
                "convention": self.convention,
                "smoothing": self.smoothing,
                "types": list(self.types),
                "counts": self.counts.astype(int).tolist(),
            },
        )

    @classmethod
    def load(cls, folder: Path) -> "SectionPrior":
        """Inverse of `save`."""
        raw = read_json(folder / "prior.json")
        return cls(tuple(raw["types"]), np.array(raw["counts"], dtype=float), raw["smoothing"], raw["convention"])


def count_transitions(sequences: Sequence[Sequence[int] | NDArray[np.integer]], types: int) -> Array:
    """Count begin -> z_1, z_m -> z_{m+1} and z_M -> end; axes as `SectionPrior.counts`."""
    counts = np.zeros((types + 1, types + 1))
    for sequence in sequences:
        rows = np.concatenate([[0], 1 + np.asarray(sequence)])
        columns = np.concatenate([sequence, [types]])
        np.add.at(counts, (rows.astype(int), columns.astype(int)), 1)
    return counts


def latent_ppl(prior: SectionPrior, sequences: Sequence[Sequence[int]]) -> float:
    """exp(sum T / sum units) over known state sequences."""
    states, lengths = flatten(sequences)
    return float(np.exp(prior.nll(states, lengths).sum() / prior.units(lengths).sum()))


def fit(
    train: Sequence[Sequence[int]],
    valid: Sequence[Sequence[int]],
    types: Sequence[str],
    candidates: Sequence[float],
    convention: str,
) -> tuple[SectionPrior, dict[float, float]]:
    """Count on train, choose the smoothing by the latent PPL of valid.

    Returns
    -------
    prior, {smoothing: validation latent PPL}

    Raises
    ------
    MacroscopeError
        Where no candidate gives the validation documents a positive probability.
    """
    counts = count_transitions(train, len(types))
    priors = [SectionPrior(tuple(types), counts, delta, convention) for delta in candidates]
    scores = {prior.smoothing: latent_ppl(prior, valid) for prior in priors}
    best = min(priors, key=lambda prior: scores[prior.smoothing])
    if not np.isfinite(scores[best.smoothing]):
        raise MacroscopeError(
            f"coherence: no smoothing of {list(candidates)} gives the validation documents a positive probability;"
            " add a positive value to critics.coherence.smoothing"
        )
    return best, scores


def flatten(sequences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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

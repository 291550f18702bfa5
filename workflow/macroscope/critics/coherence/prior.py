"""The priors over section types: bigram Markov chains with begin and end (deng2022 §4), and alternatives to compare.

    P_c(z_1 ... z_M) = P(z_1 | begin) prod_m P(z_m | z_{m-1}) P(end | z_M)

The module `smoothing` estimates the probabilities. The published code uses additive smoothing of 0 or 1, counts begin
and end among the successors of every state, scores MAP states only, and divides by M + 1.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.smoothing import Additive, Array, BackOff, Sequences, fit_back_off, index_transitions
from macroscope.critics.coherence.validation import aggregate_counts
from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json

UNKNOWN = -1
"""State of a section whose type is not among the prior's types."""


@dataclass(frozen=True)
class SectionPrior:
    """A smoothed bigram chain.

    Attributes
    ----------
    types
        The K section types, in the order of the axes.
    counts
        Transition counts, (K + 1) x (K + 1); row 0 is begin, row 1 + i is type i; column j is type j, column K is the
        end.
    smoothing
        Estimator of probabilities from counts.
    published
        Whether latent PPL is per transition (M + 1 per document), as in the published code, or per section.
    """

    types: tuple[str, ...]
    counts: Array
    smoothing: Additive | BackOff
    published: bool = False

    @cached_property
    def log_probabilities(self) -> Array:
        """Return log P(column | row) in nats, axes as in `counts`; -inf if a transition is impossible."""
        with np.errstate(divide="ignore"):
            return np.log(self.smoothing.probabilities(self.counts))

    def units(self, sections: NDArray[np.int64]) -> Array:
        """Return the denominator of the latent PPL: M sections as defined, M + 1 transitions as published."""
        return np.asarray(sections, dtype=float) + (1.0 if self.published else 0.0)

    def nll(self, states: NDArray[np.int64], lengths: NDArray[np.int64]) -> Array:
        """Compute -log P_c(z) of state sequences, in nats.

        Parameters
        ----------
        states
            Indices into `types`, (sum(lengths),), documents concatenated.
        lengths
            Number of sections per document, all >= 1.

        Returns
        -------
        array (documents,); inf if a transition is impossible.
        """
        logs = self.log_probabilities
        starts, ends = _bounds(lengths)
        steps = np.zeros(len(states))
        steps[1:] = -logs[1 + states[:-1], states[1:]]
        steps[starts] = -logs[0, states[starts]]
        return np.add.reduceat(steps, starts) - logs[1 + states[ends], -1]

    def known_nll(self, states: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[Array, Array]:
        """Compute -log P_c of the transitions between known states, and the number of these, per document.

        The published code also skips the transitions to and from titles that it never saw.
        """
        documents = np.split(states, np.cumsum(lengths)[:-1])
        steps = [index_transitions(document, len(self.types)) for document in documents]
        nll = [-self.log_probabilities[rows, columns].sum() for rows, columns in steps]
        return np.array(nll), np.array([len(rows) for rows, _ in steps], dtype=float)

    def count_marked(
        self, states: NDArray[np.int64], lengths: NDArray[np.int64], mark: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count marked transitions per document, begin and end included, and those of them that repeat a type.

        Parameters
        ----------
        mark
            Flags of the transitions to count; axes as in `counts`.

        Returns
        -------
        two arrays of counts (documents,).
        """
        starts, ends = _bounds(lengths)
        is_marked, is_repetition = np.zeros((2, len(states)), dtype=np.int64)
        is_marked[1:] = mark[1 + states[:-1], states[1:]]
        is_repetition[1:] = is_marked[1:] & (states[:-1] == states[1:])
        is_marked[starts], is_repetition[starts] = mark[0, states[starts]], 0
        return np.add.reduceat(is_marked, starts) + mark[1 + states[ends], -1], np.add.reduceat(is_repetition, starts)

    def expected_nll(self, posterior: Array, lengths: NDArray[np.int64]) -> Array:
        """Compute T(x) = -E log P_c(z) in nats, exactly, for a posterior that factorises over sections.

        Since sections are independent under the posterior, E log P(z_m | z_{m-1}) = q_{m-1}' L q_m, without sampling.

        Parameters
        ----------
        posterior
            Array sections x K, rows sum to 1, documents concatenated.
        lengths
            Number of sections per document, all >= 1.
        """
        costs = -self.log_probabilities
        starts, ends = _bounds(lengths)
        ones = np.ones((len(starts), 1))
        steps = np.zeros(len(posterior))
        steps[1:] = _expected_cost(posterior[:-1], costs[1:, :-1], posterior[1:])
        steps[starts] = _expected_cost(ones, costs[:1, :-1], posterior[starts])
        return np.add.reduceat(steps, starts) + _expected_cost(posterior[ends], costs[1:, -1:], ones)

    def as_json(self) -> dict[str, Any]:
        """Return the prior as JSON-serialisable values."""
        kind = "back_off" if isinstance(self.smoothing, BackOff) else "additive"
        return {
            "types": list(self.types),
            "smoothing": {"kind": kind, **asdict(self.smoothing)},
            "published": self.published,
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> "SectionPrior":
        """Build a prior from the output of `as_json`."""
        weights = {name: value for name, value in raw["smoothing"].items() if name != "kind"}
        smoothing = (BackOff if raw["smoothing"]["kind"] == "back_off" else Additive)(**weights)
        return cls(tuple(raw["types"]), np.array(raw["counts"], dtype=float), smoothing, raw["published"])


def count_transitions(sequences: Sequences, types: int) -> Array:
    """Count begin -> z_1, z_m -> z_{m+1} and z_M -> end; axes as in `SectionPrior.counts`."""
    counts = np.zeros((types + 1, types + 1))
    for sequence in sequences:
        np.add.at(counts, index_transitions(sequence, types), 1)
    return counts


def latent_ppl(prior: SectionPrior, sequences: Sequences) -> float:
    """Compute exp(sum T / sum units) of given state sequences; as published, over transitions between known types."""
    states, lengths = flatten(sequences)
    if prior.published:
        nll, units = prior.known_nll(states, lengths)
        return float(np.exp(nll.sum() / units.sum()))
    return float(np.exp(prior.nll(states, lengths).sum() / prior.units(lengths).sum()))


def step_probabilities(sequence: Sequence[int] | NDArray[np.integer], prior: SectionPrior) -> Array:
    """Return P_c of each of the M + 1 transitions of a document, begin and end included."""
    return np.exp(prior.log_probabilities)[index_transitions(sequence, len(prior.types))]


def flatten(sequences: Sequences) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concatenate sequences; return the states and the lengths."""
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    return np.concatenate([np.asarray(sequence, dtype=np.int64) for sequence in sequences]), lengths


def _bounds(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if (np.asarray(lengths) < 1).any():
        raise ValueError("every document must have at least one section")
    ends = np.cumsum(lengths) - 1
    return ends - lengths + 1, ends


def _expected_cost(left: Array, costs: Array, right: Array) -> Array:
    """Compute left' costs right row by row, with 0 x inf = 0: a transition without posterior mass costs nothing."""
    possible = np.isfinite(costs)
    cost = np.einsum("mj,mj->m", left @ np.where(possible, costs, 0.0), right)
    if possible.all():
        return cost
    mass_on_impossible = np.einsum("mj,mj->m", left @ (~possible).astype(float), right)
    return np.where(mass_on_impossible > 0, np.inf, cost)


log = logging.getLogger("macroscope")

PUBLISHED_SMOOTHING = (0.0, 1.0)
FILE = "prior.json"


@dataclass(frozen=True)
class Priors:
    """Priors over the same section types.

    Attributes
    ----------
    default
        Prior behind every statistic that does not name another prior.
    published
        Prior of the published code.
    others
        Name -> alternative prior: `back_off`, `additive_<delta>` and `aggregated` (deng2022 App. B), without the
        default.
    """

    default: SectionPrior
    published: SectionPrior
    others: Mapping[str, SectionPrior]

    def save(self, folder: Path) -> None:
        """Write `prior.json`."""
        others = {name: prior.as_json() for name, prior in self.others.items()}
        write_json(
            folder / FILE,
            {"default": self.default.as_json(), "published": self.published.as_json(), "others": others},
        )

    @classmethod
    def load(cls, folder: Path) -> "Priors":
        """Read priors that `save` wrote."""
        raw = read_json(folder / FILE)
        others = {name: SectionPrior.from_json(raw_prior) for name, raw_prior in raw["others"].items()}
        return cls(SectionPrior.from_json(raw["default"]), SectionPrior.from_json(raw["published"]), others)


@dataclass(frozen=True)
class Choice:
    """Selection of the default prior.

    Attributes
    ----------
    name
        Name of the default prior, as in `Priors.others`.
    at_edge
        Whether a weight or constant is at the edge of the search range: the documents do not identify it.
    validation
        Name of each prior -> latent PPL of the validation documents; None if it is infinite.
    """

    name: str
    at_edge: bool
    validation: dict[str, float | None]


def fit_priors(
    train: Sequences,
    valid: Sequences,
    types: Sequence[str],
    confusion: Array,
    options: CoherenceOptions,
) -> tuple[Priors, Choice]:
    """Fit all priors on the train split and select the default one.

    The constant of additive smoothing minimises the latent PPL of the validation documents. The weights of the back-off
    prior are fitted on the train split alone.

    Parameters
    ----------
    train, valid
        Section types of each document, as indices into `types`; -1 for validation sections of other types.
    confusion
        Confusion matrix of the section classifier; see the module `validation`.
    """
    names, counts = tuple(types), count_transitions(train, len(types))
    fully_typed = [sequence for sequence in valid if min(sequence) >= 0]
    back_off_fit = fit_back_off(train, len(types))
    priors = {"back_off": SectionPrior(names, counts, back_off_fit.smoothing)}
    priors |= {f"additive_{delta:g}": SectionPrior(names, counts, Additive(delta)) for delta in options.smoothing}
    priors["aggregated"] = SectionPrior(names, aggregate_counts(counts, confusion), back_off_fit.smoothing)
    published = _select_best([SectionPrior(names, counts, Additive(d, True), True) for d in PUBLISHED_SMOOTHING], valid)
    validation = {name: _validation_ppl(prior, fully_typed) for name, prior in priors.items()}
    validation["published"] = _validation_ppl(published, valid)
    if options.convention == "published":
        if valid and validation["published"] is None:
            raise MacroscopeError(
                "coherence: a validation document has probability 0 under the published smoothing; set"
                " critics.coherence.convention to 'definition'"
            )
        return Priors(published, published, {}), Choice("published", False, validation)
    name, at_edge = "back_off", back_off_fit.at_edge
    if options.prior == "additive":
        name, at_edge = _select_best_additive(options.smoothing, validation)
    if at_edge:
        log.warning(
            "coherence: the smoothing of the prior is at the edge of its search range: %d documents do not identify it;"
            " compare the latent PPL under other priors in the report",
            len(train),
        )
    others = {key: prior for key, prior in priors.items() if key != name}
    return Priors(priors[name], published, others), Choice(name, at_edge, validation)


def _select_best_additive(candidates: Sequence[float], validation: Mapping[str, float | None]) -> tuple[str, bool]:
    """Return the name of the best additive prior, and whether it is the smallest or largest of several candidates."""
    perplexities = {delta: validation[f"additive_{delta:g}"] for delta in candidates}
    usable = {delta: ppl for delta, ppl in perplexities.items() if ppl is not None}
    if not usable:
        raise MacroscopeError(
            f"coherence: no smoothing of {list(candidates)} can be selected on the validation documents, since none has"
            " only known section types, or each candidate gives one probability 0; give more documents, add a positive"
            " value to critics.coherence.smoothing, or set critics.coherence.prior to 'back_off'"
        )
    best = min(usable, key=lambda delta: usable[delta])
    return f"additive_{best:g}", len(candidates) > 1 and best in (min(candidates), max(candidates))


def _select_best(priors: Sequence[SectionPrior], valid: Sequences) -> SectionPrior:
    """Return the prior with the smallest validation latent PPL; without validation documents, the last."""
    if not valid:
        return priors[-1]
    return min(priors, key=lambda prior: latent_ppl(prior, valid))


def _validation_ppl(prior: SectionPrior, valid: Sequences) -> float | None:
    ppl = latent_ppl(prior, valid) if len(valid) else np.inf
    return ppl if np.isfinite(ppl) else None

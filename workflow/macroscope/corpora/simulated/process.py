"""The process of the simulated encyclopaedia: a Markov chain of section types (deng2022, section 4), and its genres.

A document is a walk from `begin` to `end`; each state on the way is the type of a section. Its total latent NLL under
the chain itself is -log P(z); its mean is computed exactly, with the chain's fundamental matrix. Walks that are too
short to be documents are generated again. This is exact as well: the contributions of short walks are subtracted.

Four genres share the abstract and the late types history, reception and legacy. Articles mostly follow their genre's
order, but like real ones they repeat, omit and swap sections, and sometimes have any section anywhere. So every order
is possible, and the latent NLL of an unusual one is known instead of depending on smoothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError
from macroscope.files import read_json

Floats = NDArray[np.float64]
_TOLERANCE = 1e-9


class SectionProcess:
    """A first-order Markov chain over section types, with a begin and an absorbing end.

    Parameters
    ----------
    states
        Names of the K section types.
    begin
        Probabilities of the first section's type, shape (K,), sum 1: no document is empty.
    transition
        Probabilities of the next section's type, shape (K, K): row = from.
    end
        Probabilities that a section is the last, shape (K,); `transition` and `end` together sum to 1 in each row.
    shortest
        Fewest sections of a document; shorter walks are generated again.

    Raises
    ------
    MacroscopeError
        If shapes or sums are wrong, or a walk need not reach the end.
    """

    def __init__(
        self,
        states: Sequence[str],
        begin: Iterable[float],
        transition: Iterable[Iterable[float]],
        end: Iterable[float],
        shortest: int = 1,
    ) -> None:
        self.states = tuple(states)
        self.begin = np.array(list(begin), dtype=float)
        self.transition = np.array([list(row) for row in transition], dtype=float)
        self.end = np.array(list(end), dtype=float)
        self.shortest = shortest
        self._check()

    @classmethod
    def from_table(cls, table: Mapping[str, Mapping[str, float]], begin: str, end: str) -> "SectionProcess":
        """Make a process from successors by name; the rows are normalised.

        Parameters
        ----------
        table
            Weights of the successors (among them `end`) of each state and of `begin`.
        begin, end
            Names of the two states that are not sections.
        """
        states = [state for state in table if state != begin]
        weights = {state: {to: w / sum(row.values()) for to, w in row.items()} for state, row in table.items()}
        return cls(
            states,
            [weights[begin].get(state, 0.0) for state in states],
            [[weights[state].get(to, 0.0) for to in states] for state in states],
            [weights[state].get(end, 0.0) for state in states],
        )

    @classmethod
    def load(cls, path: Path) -> "SectionProcess":
        """Read what `to_json` describes from a JSON file."""
        raw = read_json(path)
        return cls(raw["states"], raw["begin"], raw["transition"], raw["end"], raw["shortest"])

    def _check(self) -> None:
        size = len(self.states)
        if self.begin.shape != (size,) or self.transition.shape != (size, size) or self.end.shape != (size,):
            raise MacroscopeError(
                f"a section process of {size} states needs begin and end of {size}, and a square matrix"
            )
        everything = np.concatenate([self.begin, self.transition.ravel(), self.end])
        sums = np.append(self.transition.sum(1) + self.end, self.begin.sum())
        if everything.min() < 0 or np.abs(sums - 1).max() > _TOLERANCE:
            raise MacroscopeError("a section process needs probabilities that sum to 1 in each row")
        if size and np.abs(np.linalg.eigvals(self.transition)).max() > 1 - _TOLERANCE:
            raise MacroscopeError("a section process must reach its end from every state")
        if not self.kept > 0:
            raise MacroscopeError(f"a section process never makes {self.shortest} sections")

    @cached_property
    def expected_transitions(self) -> Floats:
        """Return the expected number of each transition in a document, (K + 1) x (K + 1): begin first, end last."""
        size = len(self.states)
        visits = np.linalg.solve((np.eye(size) - self.transition).T, self.begin)  # begin (I - Q)^-1
        every = self._with_ends(self.begin, visits[:, None] * self.transition, visits * self.end)
        short = sum((self._transitions_at_length(length) for length in range(1, self.shortest)), np.zeros_like(every))
        return (every - short) / self.kept

    @cached_property
    def kept(self) -> float:
        """Return the probability that a walk is long enough to be a document."""
        short, forward = 0.0, self.begin
        for _ in range(1, self.shortest):
            short += float(forward @ self.end)
            forward = forward @ self.transition
        return 1.0 - short

    def _transitions_at_length(self, length: int) -> Floats:
        """Return the contribution of walks of `length` sections to the expected transitions."""
        forward, backward = [self.begin], [self.end]
        for _ in range(1, length):
            forward.append(forward[-1] @ self.transition)
            backward.append(self.transition @ backward[-1])
        pairs = [forward[step][:, None] * self.transition * backward[length - step - 2] for step in range(length - 1)]
        return self._with_ends(
            self.begin * backward[-1], sum(pairs, np.zeros_like(self.transition)), forward[-1] * self.end
        )

    def _with_ends(self, first: Floats, between: Floats, last: Floats) -> Floats:
        return np.vstack([np.append(first, 0.0), np.column_stack([between, last])])

    def expected_sections(self) -> float:
        """Return the expected number of sections of a document, E[M]."""
        return float(self.expected_transitions[:, :-1].sum())

    def section_marginal(self) -> Floats:
        """Return the distribution of the type of a random section among all sections of the process, shape (K,)."""
        visits = self.expected_transitions[:, :-1].sum(axis=0)
        return visits / visits.sum()

    def expected_nll(self) -> float:
        """Return the expected latent NLL of a document, E[-log P(z)], in nats.

        It sums over the M+1 transitions, begin and end included, and is the entropy of the process over whole
        documents.
        """
        probabilities = self._with_ends(self.begin, self.transition, self.end)
        happens = self.expected_transitions > 0
        steps = self.expected_transitions[happens] @ np.log(probabilities[happens])
        return float(np.log(self.kept) - steps)

    def latent_ppl(self, published: bool = False) -> float:
        """Return the latent PPL of the process under itself, exp(E[T] / E[M]).

        Parameters
        ----------
        published
            True to divide by the number of transitions, M+1, as in deng2022's code, and not by M, as in its text.
        """
        return float(np.exp(self.expected_nll() / (self.expected_sections() + published)))

    def nll(self, sections: Sequence[str]) -> float:
        """Return the latent NLL of a sequence of section types, in nats; infinite if the process cannot generate it."""
        index = [self.states.index(section) for section in sections]
        steps = [self.begin[index[0]], *(self.transition[a, b] for a, b in pairwise(index))]
        probabilities = np.array([*steps, self.end[index[-1]]])
        if probabilities.min() == 0 or len(sections) < self.shortest:
            return float("inf")
        return float(np.log(self.kept) - np.log(probabilities).sum())

    def sample(self, rng: np.random.Generator) -> tuple[str, ...]:
        """Sample the section types of a document."""
        while len(walk := self._walk(rng)) < self.shortest:
            pass
        return walk

    def _walk(self, rng: np.random.Generator) -> tuple[str, ...]:
        state = int(np.searchsorted(self._cumulative_begin, rng.random(), side="right"))
        visited = []
        while state < len(self.states):
            visited.append(self.states[state])
            state = int(np.searchsorted(self._cumulative_next[state], rng.random(), side="right"))
        return tuple(visited)

    @cached_property
    def _cumulative_begin(self) -> Floats:
        return _cumulative(self.begin)

    @cached_property
    def _cumulative_next(self) -> Floats:
        return _cumulative(np.column_stack([self.transition, self.end]))

    def to_json(self) -> dict[str, object]:
        """Describe the process and its exact statistics, for `truth/process.json`."""
        marginal = self.section_marginal()
        return {
            "states": list(self.states),
            "begin": self.begin.tolist(),
            "transition": self.transition.tolist(),
            "end": self.end.tolist(),
            "shortest": self.shortest,
            "expected_nll": self.expected_nll(),
            "expected_sections": self.expected_sections(),
            "latent_ppl": self.latent_ppl(),
            "latent_ppl_published": self.latent_ppl(published=True),
            "section_marginal": marginal.tolist(),
            "section_marginal_entropy": _entropy(marginal),
        }


def _cumulative(probabilities: Floats) -> Floats:
    """Return cumulative sums along the last axis that are exactly 1 from the last possible outcome on."""
    sums = probabilities.cumsum(axis=-1)
    return np.where(sums >= sums[..., -1:], 1.0, sums)


def _entropy(probabilities: Floats) -> float:
    """Compute the Shannon entropy in nats."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())


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

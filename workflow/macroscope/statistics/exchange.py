"""Exchanging documents between two samples: what a difference would be if it did not matter which one a document is in.

Documents that belong together, such as continuations of one prompt by two systems, are partners: an exchange keeps as
many of a group on either side as there were. Pairs only swap (sign flips); all documents without a partner form one
group. Under the null that partners are exchangeable, a test that compares the observed value with those of all
exchanges keeps its level exactly, whatever the statistic.
"""

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from macroscope.statistics.bootstrap import Array, as_rows
from macroscope.statistics.permutation import subset_sums

Integers = NDArray[np.int64]
_CELLS_AT_ONCE = 1 << 22
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Exchange:
    """The exchanges between a first sample (the reference) and a second (the candidate).

    Attributes
    ----------
    sizes
        Numbers of documents of the two samples.
    groups
        Group of each document of the first sample, then of the second; None: all are in one.
    """

    sizes: tuple[int, int]
    groups: Integers | None = None

    @property
    def units(self) -> int:
        """Number of documents of both samples."""
        return sum(self.sizes)

    @property
    def paired(self) -> bool:
        """Whether some documents have partners."""
        return self.groups is not None

    @cached_property
    def _codes(self) -> Integers:
        """Group of each document, numbered from 0."""
        groups = np.zeros(self.units, dtype=np.int64) if self.groups is None else self.groups
        return np.unique(groups, return_inverse=True)[1]

    @cached_property
    def _quotas(self) -> Integers:
        """Documents of each group in the first sample and in the second: groups x 2."""
        number = int(self._codes.max(initial=-1)) + 1
        n = self.sizes[0]
        return np.stack([np.bincount(some, minlength=number) for some in (self._codes[:n], self._codes[n:])], axis=1)

    @cached_property
    def smallest_p(self) -> float:
        """Smallest p-value that an exchange of these documents can give.

        One over the number of divisions; two, where exchanging the two sides as a whole is one of them.
        """
        symmetric = bool((self._quotas[:, 0] == self._quotas[:, 1]).all())
        return min(1.0, (1 + symmetric) * float(np.exp(-self._log_divisions)))

    @cached_property
    def _log_divisions(self) -> float:
        first, second = self._quotas.T
        return float((gammaln(first + second + 1) - gammaln(first + 1) - gammaln(second + 1)).sum())

    def is_exact(self, draws: int) -> bool:
        """Whether there are no more divisions than draws: then each is taken once."""
        return self._log_divisions <= np.log(draws) + _ROUNDING

    def sums(self, first: ArrayLike, second: ArrayLike, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Column sums of both samples after each exchange: two arrays draws x columns."""
        rows = np.concatenate([as_rows(first), as_rows(second)])
        if self.groups is None and not self.is_exact(draws):
            sums = subset_sums(rows, self.sizes[0], draws, rng)
        else:
            sums = np.concatenate([inside @ rows for inside in self.memberships(draws, rng)])
        return sums, rows.sum(axis=0) - sums

    def memberships(self, draws: int, rng: np.random.Generator, at_once: int | None = None) -> Iterator[Array]:
        """Rows of zeros and ones, a column a document: who is in the first sample after an exchange.

        Yields
        ------
        array, up to `at_once` x documents; every division once where there are no more than `draws`
        """
        at_once = at_once or max(1, _CELLS_AT_ONCE // max(1, self.units))
        if self.is_exact(draws):
            divisions = self._divisions()
            while batch := list(itertools.islice(divisions, at_once)):
                yield np.array(batch, dtype=float)
            return
        # In random order within groups, the first ones of each group go to the first sample.
        members = self._quotas.sum(axis=1)
        rank = np.arange(self.units) - np.repeat(np.cumsum(members) - members, members)
        slots = np.flatnonzero(rank < np.repeat(self._quotas[:, 0], members))
        for start in range(0, draws, at_once):
            keys = self._codes + rng.random((min(at_once, draws - start), self.units))
            inside = np.zeros(keys.shape)
            np.put_along_axis(inside, np.argsort(keys, axis=1)[:, slots], 1.0, axis=1)
            yield inside

    def _divisions(self) -> Iterator[Array]:
        members = [np.flatnonzero(self._codes == code) for code in range(len(self._quotas))]
        ways = [list(itertools.combinations(some, n)) for some, n in zip(members, self._quotas[:, 0], strict=True)]
        for chosen in itertools.product(*ways):
            inside = np.zeros(self.units)
            inside[[unit for some in chosen for unit in some]] = 1.0
            yield inside


def exchange_of(first: Sequence[Hashable], second: Sequence[Hashable]) -> Exchange:
    """Exchange of two samples whose documents are partners where their identifiers are the same."""
    sizes = (len(first), len(second))
    shared = set(first) & set(second)
    if not shared:
        return Exchange(sizes)
    numbers = {name: code for code, name in enumerate(sorted(shared, key=str), start=1)}
    return Exchange(sizes, np.array([numbers.get(name, 0) for name in (*first, *second)], dtype=np.int64))


def partners(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """How many documents of the second sample have a partner in the first."""
    here = set(first)
    return sum(count for name, count in Counter(second).items() if name in here)

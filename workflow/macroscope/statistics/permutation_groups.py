"""Exchanging documents between two samples: what a difference would be if it did not matter which one a document is in.

Documents that belong together, such as continuations of one prompt by two systems, are partners: they have the same id
or, once on either side, the same first words (`documents.opening_of`). An exchange keeps as many of a group on either
side as there were. Pairs only swap (sign flips); all documents without a partner form one group. Under the null that
partners are exchangeable, a test that compares the observed value with those of all exchanges keeps its level exactly,
whatever the statistic.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln

from macroscope.statistics.document_sums import BUNDLES, MANY, Array, as_rows
from macroscope.statistics.pairing_keys import KEYS, OPENING

Integers = NDArray[np.int64]
_CELLS_AT_ONCE = 1 << 22
_LARGE = 16
"""Documents of a group from which on its exchanges are drawn as subsets."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Permutation:
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

    @property
    def partners(self) -> int:
        """How many documents of the second sample have a partner in the first."""
        return 0 if self.groups is None else int(np.count_nonzero(self.groups[self.sizes[0] :]))

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
        from macroscope.statistics.random_subset_sums import coin_sums, subset_sums  # compiled code: slow to import

        rows = np.concatenate([as_rows(first), as_rows(second)])
        if self.units > MANY and not self.is_exact(draws):
            bundles, _ = self.bundles
            if bundles.units < self.units:
                rows = np.asarray(self.dealing @ rows)
                return bundles.sums(rows[: bundles.sizes[0]], rows[bundles.sizes[0] :], draws, rng)
        total = rows.sum(axis=0)
        if self.is_exact(draws):
            sums = np.concatenate([inside @ rows for inside in self.memberships(draws, rng)])
            return sums, total - sums
        # Groups are exchanged by themselves: pairs and the large ones by random subsets, which is fast.
        sums = np.zeros((draws, rows.shape[1]))
        stay, swap = self._pairs
        if len(stay):
            sums += rows[stay].sum(axis=0) + coin_sums(rows[swap] - rows[stay], draws, rng)
        large = np.flatnonzero(self._quotas.sum(axis=1) >= _LARGE)
        for code in large:
            sums += subset_sums(rows[self._codes == code], int(self._quotas[code, 0]), draws, rng)
        left = ~np.isin(self._codes, large)
        left[stay] = left[swap] = False
        if left.any():
            n = int(left[: self.sizes[0]].sum())
            others = Permutation((n, int(left.sum()) - n), self._codes[left])
            parts = others._drawn(draws, rng, max(1, _CELLS_AT_ONCE // others.units))
            sums += np.concatenate([inside @ rows[left] for inside in parts])
        return sums, total - sums

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
        yield from self._drawn(draws, rng, at_once)

    def parts(self) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        """What an exchange does, for code that draws many.

        Returns
        -------
        first, second
            Documents that swap with each other.
        members
            All others, group by group.
        sizes, quotas
            How many documents each of these groups has, and how many of them are in the first sample.
        """
        first, second = self._pairs
        rest = np.setdiff1d(np.arange(self.units), np.concatenate([first, second]))
        members = rest[np.argsort(self._codes[rest], kind="stable")]
        quotas = self._quotas[np.unique(self._codes[rest])]
        return first, second, members, quotas.sum(axis=1), quotas[:, 0]

    @cached_property
    def bundles(self) -> tuple["Permutation", Integers]:
        """Exchange of whole bundles of documents, and the number of the bundle that each document is in.

        What is exchanged of a bundle are all its documents at once: a statistic of sums over a million documents costs
        as much as one over thousands. SubsetPermutations of bundles are exchanges of documents, and any two of them one after
        the other are one again, so that a test by them keeps its level as a test by all exchanges does. Documents are
        dealt at random. Those without a partner are in bundles of one side, of equally many on both; what is left over
        stays where it is. Groups that have as many documents on either side as each other are bundled as they are: the
        first documents of some groups, the second ones, and so on.
        """
        rng = np.random.default_rng(self.units)
        second = np.arange(self.units) >= self.sizes[0]
        slot = _places_in(2 * self._codes + second, rng)
        found = len(self._quotas)
        bundle = np.arange(found)
        _, kind, counts = np.unique(self._quotas, axis=0, return_inverse=True, return_counts=True)
        for number in np.flatnonzero(counts >= 2 * BUNDLES):
            alike = rng.permutation(np.flatnonzero(kind == number))
            bundle[alike] = found + np.arange(len(alike)) % BUNDLES
            found += BUNDLES
        group = bundle[self._codes]
        for code in np.flatnonzero(self._quotas.min(axis=1) >= 2 * BUNDLES):
            size = int(self._quotas[code].min()) // BUNDLES
            whole = self._quotas[code] // size * size
            moves = (self._codes == code) & (slot < whole[second.astype(int)])
            stays = (self._codes == code) & ~moves
            slot[moves] //= size
            slot[stays], group[stays] = 0, found + second[stays]
            found += 2
        width = int(slot.max(initial=0)) + 1
        keys, which = np.unique((second * found + group) * width + slot, return_inverse=True)
        sides, of_group = np.divmod(keys // width, found)
        n = int(np.count_nonzero(sides == 0))
        return Permutation((n, len(keys) - n), of_group), which

    @cached_property
    def dealing(self) -> sparse.csr_matrix:
        """Bundles x documents: which document is in which of `bundles`."""
        permutation, which = self.bundles
        return sparse.csr_matrix(
            (np.ones(self.units), (which, np.arange(self.units))), shape=(permutation.units, self.units)
        )

    def _drawn(self, draws: int, rng: np.random.Generator, at_once: int) -> Iterator[Array]:
        """Random memberships, up to `at_once` at a time."""
        first, second, members, sizes, quotas = self.parts()
        # In random order within groups, the first ones of each group go to the first sample.
        rank = np.arange(len(members)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        slots = np.flatnonzero(rank < np.repeat(quotas, sizes))
        codes = np.repeat(np.arange(len(sizes)), sizes)
        for start in range(0, draws, at_once):
            rows = min(at_once, draws - start)
            inside = np.zeros((rows, self.units))
            stays = rng.integers(0, 2, (rows, len(first)), dtype=np.uint8)
            inside[:, first], inside[:, second] = stays, 1 - stays
            if len(members):
                order = np.argsort(codes + rng.random((rows, len(members))), axis=1)
                np.put_along_axis(inside, members[order[:, slots]], 1.0, axis=1)
            yield inside

    @cached_property
    def _pairs(self) -> tuple[Integers, Integers]:
        """Documents of either sample whose group is only the two of them, in the same order."""
        alone = (self._quotas == 1).all(axis=1)[self._codes]
        members = np.flatnonzero(alone)
        in_order = members[np.argsort(self._codes[members], kind="stable")]
        return in_order[0::2], in_order[1::2]

    def _divisions(self) -> Iterator[Array]:
        members = [np.flatnonzero(self._codes == code) for code in range(len(self._quotas))]
        ways = [list(itertools.combinations(some, n)) for some, n in zip(members, self._quotas[:, 0], strict=True)]
        for chosen in itertools.product(*ways):
            inside = np.zeros(self.units)
            inside[[unit for some in chosen for unit in some]] = 1.0
            yield inside


def _places_in(groups: Integers, rng: np.random.Generator) -> Integers:
    """Place of each document among those of its group, in random order, from 0."""
    shuffled = rng.permutation(len(groups))
    order = shuffled[np.argsort(groups[shuffled], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    places = np.empty(len(groups), dtype=np.int64)
    places[order] = np.arange(len(groups)) - np.repeat(starts, np.diff(starts, append=len(groups)))
    return places


def group_labels(first: pd.DataFrame, second: pd.DataFrame, keys: Sequence[str] = KEYS) -> tuple[Integers, Integers]:
    """Group of each row of either side, numbered from 0: rows are in one where one of these columns says the same.

    Columns that a side does not have say nothing, nor do missing and empty values. An opening counts where it occurs
    once on either side: a text that a system writes again and again, or a heading that all texts have, makes none a
    partner. Rows of one side belong together as those of two do, and so do rows that a third one links.
    """
    rows = np.arange(len(first) + len(second))
    size, links = len(rows), []
    for name in keys:
        if name in first and name in second:
            codes = _codes(first[name], second[name], once=name == OPENING)
            known = codes >= 0
            links.append((rows[known], size + codes[known]))
            size += int(codes.max(initial=-1)) + 1
    ends = np.concatenate(links, axis=1) if links else np.empty((2, 0), dtype=np.int64)
    graph = sparse.coo_matrix((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(size, size))
    groups = np.unique(connected_components(graph, directed=False)[1][: len(rows)], return_inverse=True)[1]
    return groups[: len(first)], groups[len(first) :]


def _codes(first: pd.Series, second: pd.Series, once: bool) -> Integers:
    """Number of each value; -1 where it says nothing: missing, empty, or, if asked, not once on either side."""
    values = pd.concat([first, second])
    codes = pd.factorize(values)[0]
    codes[(values == "").to_numpy()] = -1
    if once:
        known = int(codes.max(initial=-1)) + 1
        sides = codes[: len(first)], codes[len(first) :]
        counts = [np.bincount(side[side >= 0], minlength=known) for side in sides]
        codes[~np.append((counts[0] == 1) & (counts[1] == 1), False)[codes]] = -1
    return codes


def partners(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """Groups, as `group_labels` gives them, that both sides have, numbered from 1; 0 where a row has no partner."""
    number = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    both = np.minimum(*(np.bincount(some, minlength=number) for some in (first, second))) > 0
    codes = np.where(both, np.cumsum(both), 0)
    return codes[first], codes[second]


def permutation_of(first: pd.DataFrame, second: pd.DataFrame, keys: Sequence[str] = KEYS) -> Permutation:
    """Exchange of two samples, rows of tables of which `group_labels` tells who has partners."""
    sizes = (len(first), len(second))
    groups = np.concatenate(partners(*group_labels(first, second, keys)))
    return Permutation(sizes, groups if groups.any() else None)


class SubsetPermutations:
    """SubsetPermutations of those rows of two tables that something is known of: mostly the same ones, so each is made once.

    Parameters
    ----------
    first, second, keys
        As of `permutation_of`.
    """

    def __init__(self, first: pd.DataFrame, second: pd.DataFrame, keys: Sequence[str] = KEYS) -> None:
        self._sides, self._keys = (first, second), keys
        self._made: dict[tuple[bytes, bytes], Permutation] = {}

    def of(self, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Permutation:
        """Exchange of the rows of either side that are flagged."""
        flags = np.packbits(first).tobytes(), np.packbits(second).tobytes()
        if flags not in self._made:
            names = [name for name in self._keys if all(name in side for side in self._sides)]
            one, other = (side.loc[some, names] for side, some in zip(self._sides, (first, second), strict=True))
            self._made[flags] = permutation_of(one, other, names)
        return self._made[flags]

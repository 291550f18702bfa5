"""Permutations of documents between two samples, within groups of paired documents.

Documents of the two samples are paired if they have the same id or, if it occurs once in each sample, the same opening
(their first words, `Document.opening`); continuations of one prompt by two systems are an example. A permutation
keeps the number of documents that each sample has of each group. Pairs therefore only swap (sign flips), and all
unpaired documents form one group. If documents of a group are exchangeable under the null, a test that compares the
observed value with those of all permutations keeps its level exactly, whatever the statistic.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from macroscope.statistics.document_features import BUNDLES, MANY, Array, as_matrix
from macroscope.statistics.document_groups import KEYS, Integers, Units, group_labels, paired_groups

B = TypeVar("B")
Rows: TypeAlias = "Array | sparse.csr_matrix"
"""Numbers per document: documents x columns."""
_CELLS_AT_ONCE = 1 << 22
_LARGE = 16
"""Size of a group from which on its permutations are sampled as random subsets."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Permutation:
    """Permutations of documents between a first sample (the reference) and a second (the candidate).

    Attributes
    ----------
    sizes
        Numbers of documents of the two samples.
    groups
        Group of each document, those of the first sample before those of the second; 0 for unpaired documents. None if
        no document is paired.
    """

    sizes: tuple[int, int]
    groups: Integers | None = None

    @property
    def units(self) -> int:
        """Return the number of documents of both samples."""
        return sum(self.sizes)

    @property
    def is_paired(self) -> bool:
        """Return whether any documents are paired."""
        return self.groups is not None

    @property
    def n_paired(self) -> int:
        """Return the number of documents of the second sample that are paired with documents of the first."""
        return 0 if self.groups is None else int(np.count_nonzero(self.groups[self.sizes[0] :]))

    @property
    def unit_labels(self) -> Integers:
        """Return the unit of each document, numbered from 0; documents of different units are independent.

        The documents of a group are one unit, and so is each unpaired document.
        """
        if self.groups is None:
            return np.arange(self.units)
        alone = self.groups.max(initial=0) + 1 + np.arange(self.units)
        return np.asarray(np.unique(np.where(self.groups > 0, self.groups, alone), return_inverse=True)[1])

    @cached_property
    def _codes(self) -> Integers:
        """Return the group of each document, numbered from 0."""
        groups = np.zeros(self.units, dtype=np.int64) if self.groups is None else self.groups
        return np.unique(groups, return_inverse=True)[1]

    @cached_property
    def _quotas(self) -> Integers:
        """Return the numbers of documents of each group in the first sample and in the second: groups x 2."""
        number = int(self._codes.max(initial=-1)) + 1
        n = self.sizes[0]
        return np.stack([np.bincount(codes, minlength=number) for codes in (self._codes[:n], self._codes[n:])], axis=1)

    @cached_property
    def smallest_p(self) -> float:
        """Return the smallest p-value that a test by these permutations can give.

        It is one over the number of divisions into two samples, or two over it if swapping the samples as a whole is
        one of the permutations.
        """
        symmetric = bool((self._quotas[:, 0] == self._quotas[:, 1]).all())
        return min(1.0, (1 + symmetric) * float(np.exp(-self._log_divisions)))

    @cached_property
    def _log_divisions(self) -> float:
        first, second = self._quotas.T
        return float((gammaln(first + second + 1) - gammaln(first + 1) - gammaln(second + 1)).sum())

    def is_exact(self, draws: int) -> bool:
        """Return whether there are at most `draws` divisions: then each is enumerated once."""
        return self._log_divisions <= np.log(draws) + _ROUNDING

    def permuted_sums(self, first: Rows, second: Rows, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Compute the column sums of both samples after each permutation: two arrays draws x columns.

        Of very many documents, bundles are permuted.
        """
        from macroscope.statistics.compiled_permutations import coin_sums, subset_sums  # compiled code: slow to import

        if self.units > MANY and not self.is_exact(draws):
            bundles, _ = self.bundles
            if bundles.units < self.units:
                n, n_bundles = self.sizes[0], bundles.sizes[0]
                first = self.bundle_matrix[:n_bundles, :n] @ first
                second = self.bundle_matrix[n_bundles:, n:] @ second
                return bundles.permuted_sums(first, second, draws, rng)
        rows = np.concatenate([_as_dense(first), _as_dense(second)])
        total = rows.sum(axis=0)
        if self.is_exact(draws):
            sums = np.concatenate([inside @ rows for inside in self.memberships(draws, rng)])
            return sums, total - sums
        # Groups are permuted separately; for pairs and large groups, sums over random subsets are fast.
        sums = np.zeros((draws, rows.shape[1]))
        stay, swap = self._pairs
        if len(stay):
            sums += rows[stay].sum(axis=0) + coin_sums(rows[swap] - rows[stay], draws, rng)
        large = np.flatnonzero(self._quotas.sum(axis=1) >= _LARGE)
        for code in large:
            sums += subset_sums(rows[self._codes == code], int(self._quotas[code, 0]), draws, rng)
        in_remainder = ~np.isin(self._codes, large)
        in_remainder[stay] = in_remainder[swap] = False
        if in_remainder.any():
            n = int(in_remainder[: self.sizes[0]].sum())
            remainder = Permutation((n, int(in_remainder.sum()) - n), self._codes[in_remainder])
            parts = remainder._random_memberships(draws, rng, max(1, _CELLS_AT_ONCE // remainder.units))
            sums += np.concatenate([inside @ rows[in_remainder] for inside in parts])
        return sums, total - sums

    def memberships(self, draws: int, rng: np.random.Generator, at_once: int | None = None) -> Iterator[Array]:
        """Yield memberships of the first sample after each permutation, in batches.

        Parameters
        ----------
        draws
            Number of random permutations. If there are no more divisions than that, each is enumerated once.
        at_once
            Rows of a batch. Default: as many as fit into a fixed amount of memory.

        Yields
        ------
        array
            Up to `at_once` x documents: 1 if the document is in the first sample, 0 if it is in the second.
        """
        at_once = at_once or max(1, _CELLS_AT_ONCE // max(1, self.units))
        if self.is_exact(draws):
            divisions = self._divisions()
            while batch := list(itertools.islice(divisions, at_once)):
                yield np.array(batch, dtype=float)
            return
        yield from self._random_memberships(draws, rng, at_once)

    def pairs_and_groups(self) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        """Return the structure of the permutations, for compiled code that samples many.

        Returns
        -------
        first, second
            Documents that swap with each other: two arrays, pair by pair.
        members
            All other documents, group by group.
        sizes, quotas
            Number of documents of each of these groups, and how many of them are in the first sample.
        """
        first, second = self._pairs
        rest = np.setdiff1d(np.arange(self.units), np.concatenate([first, second]))
        members = rest[np.argsort(self._codes[rest], kind="stable")]
        quotas = self._quotas[np.unique(self._codes[rest])]
        return first, second, members, quotas.sum(axis=1), quotas[:, 0]

    @cached_property
    def bundles(self) -> tuple["Permutation", Integers]:
        """Return permutations of whole bundles of documents, and the number of the bundle of each document.

        All documents of a bundle are permuted at once, so that a statistic of sums over a million documents costs as
        much as one over thousands. Permutations of bundles are a subgroup of the permutations of documents, so a test
        by them keeps its level as a test by all permutations does. Documents are dealt into bundles at random. A bundle
        of unpaired documents is of one sample, and all such bundles have the same size; the remaining documents stay in
        their sample. Groups with the same numbers of documents in both samples are bundled as they are: the first
        documents of several groups, the second ones, and so on.
        """
        rng = np.random.default_rng(self.units)
        second = np.arange(self.units) >= self.sizes[0]
        slot = _random_places(2 * self._codes + second, rng)
        n_groups = len(self._quotas)
        bundle = np.arange(n_groups)
        _, kind, counts = np.unique(self._quotas, axis=0, return_inverse=True, return_counts=True)
        for number in np.flatnonzero(counts >= 2 * BUNDLES):
            same_quotas = rng.permutation(np.flatnonzero(kind == number))
            bundle[same_quotas] = n_groups + np.arange(len(same_quotas)) % BUNDLES
            n_groups += BUNDLES
        group = bundle[self._codes]
        for code in np.flatnonzero(self._quotas.min(axis=1) >= 2 * BUNDLES):
            size = int(self._quotas[code].min()) // BUNDLES
            whole = self._quotas[code] // size * size
            is_bundled = (self._codes == code) & (slot < whole[second.astype(int)])
            is_fixed = (self._codes == code) & ~is_bundled
            slot[is_bundled] //= size
            slot[is_fixed], group[is_fixed] = 0, n_groups + second[is_fixed]
            n_groups += 2
        width = int(slot.max(initial=0)) + 1
        keys, which = np.unique((second * n_groups + group) * width + slot, return_inverse=True)
        is_second, of_group = np.divmod(keys // width, n_groups)
        n = int(np.count_nonzero(is_second == 0))
        return Permutation((n, len(keys) - n), of_group), which

    @cached_property
    def bundle_matrix(self) -> sparse.csr_matrix:
        """Return the membership of documents in `bundles`: bundles x documents, 0 or 1."""
        permutation, which = self.bundles
        return sparse.csr_matrix(
            (np.ones(self.units), (which, np.arange(self.units))), shape=(permutation.units, self.units)
        )

    def _random_memberships(self, draws: int, rng: np.random.Generator, at_once: int) -> Iterator[Array]:
        """Yield random memberships, up to `at_once` at a time."""
        first, second, members, sizes, quotas = self.pairs_and_groups()
        # Documents are shuffled within groups; the first ones of each group go to the first sample.
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
        """Return the pairs, groups of one document of each sample: documents of the first, then of the second."""
        is_pair = (self._quotas == 1).all(axis=1)[self._codes]
        members = np.flatnonzero(is_pair)
        in_order = members[np.argsort(self._codes[members], kind="stable")]
        return in_order[0::2], in_order[1::2]

    def _divisions(self) -> Iterator[Array]:
        members = [np.flatnonzero(self._codes == code) for code in range(len(self._quotas))]
        combinations = [
            list(itertools.combinations(units, n)) for units, n in zip(members, self._quotas[:, 0], strict=True)
        ]
        for choice in itertools.product(*combinations):
            inside = np.zeros(self.units)
            inside[[unit for units in choice for unit in units]] = 1.0
            yield inside


def _as_dense(rows: Rows) -> Array:
    return as_matrix(rows if isinstance(rows, np.ndarray) else rows.toarray())


def _random_places(groups: Integers, rng: np.random.Generator) -> Integers:
    """Return the place of each document within its group, in random order, from 0."""
    shuffled = rng.permutation(len(groups))
    order = shuffled[np.argsort(groups[shuffled], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    places = np.empty(len(groups), dtype=np.int64)
    places[order] = np.arange(len(groups)) - np.repeat(starts, np.diff(starts, append=len(groups)))
    return places


def build_permutation(first: pd.DataFrame, second: pd.DataFrame, keys: Sequence[str] = KEYS) -> Permutation:
    """Build the permutations of the rows of two tables, paired by `document_groups.group_labels`."""
    return _permutation(paired_groups(*group_labels(first, second, keys)))


def build_units(first: pd.DataFrame, second: pd.DataFrame, keys: Sequence[str] = KEYS) -> tuple[Units, Permutation]:
    """Build the units of sums over the rows of two tables, and the permutations of units."""
    units = Units.from_keys(first, second, keys)
    return units, _permutation(units.groups)


def _permutation(groups: tuple[Integers, Integers]) -> Permutation:
    joined = np.concatenate(groups)
    return Permutation((len(groups[0]), len(groups[1])), joined if joined.any() else None)


class Subsets(Generic[B]):
    """Permutations of subsets of the rows of two tables, each subset's built once.

    Measures are often defined for the same rows, so that their permutations can be reused.

    Parameters
    ----------
    build
        `build_permutation` or `build_units`.
    first, second, keys
        Parameters of `build`.
    """

    def __init__(
        self,
        build: Callable[[pd.DataFrame, pd.DataFrame, Sequence[str]], B],
        first: pd.DataFrame,
        second: pd.DataFrame,
        keys: Sequence[str] = KEYS,
    ) -> None:
        self._build, self._tables, self._keys = build, (first, second), keys
        self._cache: dict[tuple[bytes, bytes], B] = {}

    def get(self, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> B:
        """Return what `build` returns for the flagged rows of both tables."""
        flags = np.packbits(first).tobytes(), np.packbits(second).tobytes()
        if flags not in self._cache:
            names = [name for name in self._keys if all(name in table for table in self._tables)]
            first_keys, second_keys = (
                table.loc[rows, names] for table, rows in zip(self._tables, (first, second), strict=True)
            )
            self._cache[flags] = self._build(first_keys, second_keys, names)
        return self._cache[flags]

"""n-gram models of chains: interpolated Kneser-Ney, and what deng2022's released code has in its place.

Of a window z_1 ... z_n, whose entities are numbered by first appearance, the model gives P(z_n | z_1 ... z_{n-1}).
Shorter histories keep these numbers, and how many entities the whole history has: what can follow is then always
known, which is ".", or any surface with one of these entities or with the next new one. All probabilities of a history
sum to one over these.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from macroscope.critics.coreference.windows import STOP, UNKNOWN, Chains, IntArray, Packing, windows

FloatArray = npt.NDArray[np.float64]
FLOOR = 1e-20
"""Probability of an unseen symbol in the released code (critic.py of deng2022), which does not sum to one with it."""

_AT_ONCE = 1 << 22
"""Symbols whose probabilities are looked up at a time: the same n-grams are looked up once among so many."""
_COUNTS = ("events", "counts", "contexts", "totals", "types")


@dataclass(frozen=True)
class Table:
    """Counts of the n-grams of one length.

    Attributes
    ----------
    events, counts
        Packed n-grams, sorted, and how often each was counted.
    contexts, totals, types
        Packed histories, sorted; the sum of the counts of their n-grams, and how many these are.
    discount
        What is taken from every count, between 0 and 1.
    """

    events: IntArray
    counts: IntArray
    contexts: IntArray
    totals: IntArray
    types: IntArray
    discount: float


@dataclass(frozen=True)
class ChainModel:
    """P(symbol | the n - 1 symbols before it).

    Attributes
    ----------
    packing
        How n-grams are packed; its order is n.
    tables
        Counts of the n-grams of length 1, 2, ... n.
    published
        Whether this is the model of the released code: absolute discounting with raw counts at every length, no
        discount for single symbols, and `FLOOR` for unseen ones.
    """

    packing: Packing
    tables: tuple[Table, ...]
    published: bool

    @classmethod
    def fit(cls, chains: Chains, packing: Packing, published: bool = False) -> "ChainModel":
        """Count the n-grams of chains.

        Discounts are n1 / (n1 + 2 n2) for each length, n1 and n2 being how many n-grams were counted once and twice
        (deng2022 App. G; Ney, Essen and Kneser 1994). Where none was counted once, by which no mass would be left for
        what was not seen, the discount is 1/2; as published 0.
        """
        events, counts = np.unique(_keys(chains, packing, published), return_counts=True)
        tables = []
        for length in range(packing.order, 0, -1):
            if length < packing.order:
                shorter = packing.shorten(events, length + 1)
                # How often an n-gram occurs, or (Kneser-Ney) how many different symbols stand before it.
                events, inverse = np.unique(shorter, return_inverse=True)
                counts = np.bincount(inverse, weights=counts if published else None).astype(np.int64)
            tables.append(_table(events, counts.astype(np.int64), packing, published and length == 1, published))
        return cls(packing, tuple(reversed(tables)), published)

    def log_probabilities(self, chains: Chains) -> FloatArray:
        """Log probability of every symbol of every chain, in nats: (symbols,)."""
        keys = _keys(chains, self.packing, self.published)
        found = np.empty(len(keys))
        for start in range(0, len(keys), _AT_ONCE):
            some, inverse = np.unique(keys[start : start + _AT_ONCE], return_inverse=True)
            found[start : start + _AT_ONCE] = np.log(self.probabilities(some))[inverse]
        return found

    def probabilities(self, keys: IntArray) -> FloatArray:
        """Probability of the last symbol of packed windows, given the others."""
        order = self.packing.order
        shortened = [keys]
        for length in range(order, 1, -1):
            shortened.append(self.packing.shorten(shortened[-1], length))
        found = self._base(shortened[-1])
        for table, some in zip(self.tables, reversed(shortened), strict=True):
            found = self._interpolated(table, some, found)
        # Where no n-gram of some length occurs once, the released code leaves nothing for what was not seen, and fails.
        return np.where(found > 0, found, FLOOR) if self.published else found

    def _interpolated(self, table: Table, events: IntArray, shorter: FloatArray) -> FloatArray:
        """Probability by n-grams of one length, given that by shorter ones."""
        at, seen = _find(table.contexts, self.packing.context(events))
        event, known = _find(table.events, events)
        counts = np.where(known, table.counts[event], 0)
        total = table.totals[at]
        own = np.maximum(counts - table.discount, 0.0) / total
        if self.published and table is self.tables[0]:
            return np.where(known, own, shorter)
        return np.where(seen, own + table.discount * table.types[at] / total * shorter, shorter)

    def _base(self, unigrams: IntArray) -> FloatArray:
        """What single symbols are interpolated with: all that can follow alike; as published `FLOOR`."""
        if self.published:
            return np.full(len(unigrams), FLOOR)
        return 1.0 / self.possible(self.packing.entities(unigrams, 1))

    def possible(self, entities: IntArray) -> FloatArray:
        """How many symbols can follow a history with that many entities: "." and every surface with each entity."""
        return np.asarray(1.0 + (self.packing.surfaces - UNKNOWN) * (entities + 1.0))

    def distribution(self, window: int) -> tuple[list[tuple[int, int]], FloatArray]:
        """All symbols that can stand at the end of a packed window, as (surface, entity), and their probabilities."""
        packing = self.packing
        entities = 0 if self.published else int(packing.entities(np.array([window]), packing.order)[0])
        history = (int(window) >> packing.bits) << packing.bits
        following = [(STOP, 0)] + [
            (surface, label)
            for surface in range(UNKNOWN, packing.surfaces)
            for label in range((packing.order - 1 if self.published else entities) + 1)
        ]
        keys = np.array([history | (surface * packing.order + label) for surface, label in following], np.int64)
        return following, self.probabilities(keys)

    def save(self, path: Path) -> None:
        """Write the counts to a file (npz)."""
        arrays = {
            f"{name}_{length}": getattr(table, name)
            for length, table in enumerate(self.tables, 1)
            for name in (*_COUNTS, "discount")
        }
        about = np.array([self.packing.order, self.packing.surfaces, int(self.published)])
        np.savez_compressed(path, about=about, **arrays)

    @classmethod
    def load(cls, path: Path) -> "ChainModel":
        """Inverse of `save`."""
        with np.load(path) as arrays:
            order, surfaces, published = (int(value) for value in arrays["about"])
            tables = tuple(
                Table(
                    **{name: arrays[f"{name}_{length}"] for name in _COUNTS},
                    discount=arrays[f"discount_{length}"].item(),
                )
                for length in range(1, order + 1)
            )
        return cls(Packing(order, surfaces), tables, bool(published))


def _keys(chains: Chains, packing: Packing, published: bool) -> IntArray:
    """Packed windows; the released code does not look at how many entities a history has."""
    keys = windows(chains, packing)
    return keys & ((1 << (packing.order * packing.bits)) - 1) if published else keys


def _table(events: IntArray, counts: IntArray, packing: Packing, undiscounted: bool, published: bool) -> Table:
    contexts, starts, types = np.unique(packing.context(events), return_index=True, return_counts=True)
    totals = np.add.reduceat(counts, starts) if len(counts) else counts
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    without = 0.0 if published else 0.5
    discount = 0.0 if undiscounted else once / (once + 2 * twice) if once else without
    return Table(events, counts, contexts, totals, types.astype(np.int64), discount)


def _find(keys: IntArray, wanted: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Place of each wanted key among sorted ones (0 where it is not there), and whether it is there."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[at] == wanted
    return np.where(found, at, 0), found

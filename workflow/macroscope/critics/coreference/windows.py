"""Windows of n symbols over chains: entities relabelled within each, and packed into whole numbers.

A chain is a list of symbols: "." where a sentence starts, and a mention's surface with the number of its entity. What
the number of an entity is means nothing; within a window of n symbols entities are numbered anew, by first appearance
(deng2022 §5), so that the same constellation is the same n-gram wherever it occurs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

STOP, PAD, UNKNOWN = 0, 1, 2
"""Surfaces that every model knows: the beginning of a sentence ("."), what stands before the chain, any unknown one."""
NO_ENTITY = -1


@dataclass(frozen=True)
class Chains:
    """The chains of some documents, one after the other.

    Attributes
    ----------
    surfaces
        (symbols,) int32, number of each symbol's surface.
    entities
        (symbols,) int32, number of its entity in the document, `NO_ENTITY` for a sentence's beginning.
    lengths
        (documents,) symbols of each chain.
    """

    surfaces: npt.NDArray[np.int32]
    entities: npt.NDArray[np.int32]
    lengths: IntArray


@dataclass(frozen=True)
class Packing:
    """How n-grams become whole numbers.

    From the highest bits to the lowest: how many entities the history of a window has, then its last symbols, each
    n * surface + entity.

    Attributes
    ----------
    order
        n, symbols of a window.
    surfaces
        How many surfaces there are.
    """

    order: int
    surfaces: int

    @property
    def bits(self) -> int:
        """Bits of a symbol."""
        return bits_of(self.order, self.surfaces)

    def entities(self, keys: IntArray, length: int) -> IntArray:
        """How many entities the histories of n-grams of some length have."""
        return keys >> (length * self.bits)

    def shorten(self, keys: IntArray, length: int) -> IntArray:
        """Drop the first symbol of n-grams of some length."""
        low = keys & ((1 << ((length - 1) * self.bits)) - 1)
        return (self.entities(keys, length) << ((length - 1) * self.bits)) | low

    def context(self, keys: IntArray) -> IntArray:
        """Drop the last symbol of n-grams."""
        return keys >> self.bits

    def symbols(self, key: int, length: int) -> list[tuple[int, int]]:
        """(surface, entity) of the symbols of one n-gram."""
        mask = (1 << self.bits) - 1
        codes = [(key >> (place * self.bits)) & mask for place in reversed(range(length))]
        return [divmod(code, self.order) for code in codes]


def bits_of(order: int, surfaces: int) -> int:
    """Bits that a symbol takes."""
    return int(surfaces * order - 1).bit_length()


def most_surfaces(order: int) -> int:
    """How many surfaces there may be for windows of `order` symbols to fit into 63 bits."""
    free = 63 - int(order - 1).bit_length()
    return int((1 << (free // order)) // order)


def windows(chains: Chains, packing: Packing) -> IntArray:
    """Pack the window that ends at every symbol of every chain.

    Returns
    -------
    array
        (symbols,), as `Packing` says. Before the first symbol of a chain stands `PAD`.
    """
    return _windows(chains.surfaces, chains.entities, chains.lengths, packing.order, packing.bits)


@numba.njit(cache=True)
def _windows(
    surfaces: npt.NDArray[np.int32], entities: npt.NDArray[np.int32], lengths: IntArray, order: int, bits: int
) -> IntArray:
    found = np.empty(len(surfaces), np.int64)
    labels = np.empty(order, np.int64)
    start = 0
    for length in lengths:
        for end in range(start, start + length):
            key, known = np.int64(0), 0
            for place in range(order):
                at = end - order + 1 + place
                if place == order - 1:
                    in_history = known
                if at < start:
                    code = np.int64(PAD * order)
                elif entities[at] < 0:
                    code = np.int64(surfaces[at]) * order
                else:
                    label = -1
                    for earlier in range(place):
                        before = end - order + 1 + earlier
                        if before >= start and entities[before] == entities[at]:
                            label = labels[earlier]
                            break
                    if label < 0:
                        label = known
                        known += 1
                    labels[place] = label
                    code = np.int64(surfaces[at]) * order + label
                key = (key << bits) | code
            found[end] = (np.int64(in_history) << (order * bits)) | key
        start += length
    return found


def flatten(chains: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Chains:
    """Join chains, each a list of surfaces and one of entities."""
    lengths = np.array([len(surfaces) for surfaces, _ in chains], dtype=np.int64)
    joined = [
        np.concatenate([np.asarray(chain[side], np.int32) for chain in chains]) if chains else np.empty(0, np.int32)
        for side in (0, 1)
    ]
    return Chains(joined[0], joined[1], lengths)

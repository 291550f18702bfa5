"""Windows of n symbols over chains, with entities renumbered within each, packed into integers.

A chain is a sequence of symbols: "." at the start of a sentence, and a mention's surface with the number of its entity.
Entity numbers are arbitrary, so the entities of a window of n symbols are renumbered by first appearance (deng2022 §5):
the same pattern of mentions is then the same n-gram wherever it occurs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

STOP, PAD, UNKNOWN = 0, 1, 2
"""Reserved surfaces: sentence start ("."), padding before the chain, and unknown surfaces."""
NO_ENTITY = -1


@dataclass(frozen=True)
class Chains:
    """Chains of documents, concatenated.

    Attributes
    ----------
    surfaces
        Array (symbols,) int32: index of each symbol's surface.
    entities
        Array (symbols,) int32: number of the symbol's entity in the document, `NO_ENTITY` for a sentence start.
    lengths
        Array (documents,): number of symbols of each chain.
    """

    surfaces: npt.NDArray[np.int32]
    entities: npt.NDArray[np.int32]
    lengths: IntArray


@dataclass(frozen=True)
class Packing:
    """Encoding of n-grams as integers.

    From the highest bits to the lowest: number of entities in the window's history, then its symbols, each
    n * surface + entity.

    Attributes
    ----------
    order
        Number n of symbols of a window.
    surfaces
        Number of surfaces.
    """

    order: int
    surfaces: int

    @property
    def bits(self) -> int:
        """Return the number of bits per symbol."""
        return count_bits(self.order, self.surfaces)

    def entities(self, keys: IntArray, length: int) -> IntArray:
        """Return the number of entities in the history of n-grams of the given length."""
        return keys >> (length * self.bits)

    def shorten(self, keys: IntArray, length: int) -> IntArray:
        """Drop the first symbol of n-grams of the given length."""
        low = keys & ((1 << ((length - 1) * self.bits)) - 1)
        return (self.entities(keys, length) << ((length - 1) * self.bits)) | low

    def context(self, keys: IntArray) -> IntArray:
        return keys >> self.bits

    def symbols(self, key: int, length: int) -> list[tuple[int, int]]:
        """Return (surface, entity) of each symbol of an n-gram."""
        mask = (1 << self.bits) - 1
        codes = [(key >> (place * self.bits)) & mask for place in reversed(range(length))]
        return [divmod(code, self.order) for code in codes]


def count_bits(order: int, surfaces: int) -> int:
    return int(surfaces * order - 1).bit_length()


def max_surfaces(order: int) -> int:
    """Return the largest number of surfaces for which windows of `order` symbols fit into 63 bits."""
    free = 63 - int(order - 1).bit_length()
    return int((1 << (free // order)) // order)


def pack_windows(chains: Chains, packing: Packing) -> IntArray:
    """Pack the window that ends at every symbol of every chain.

    Returns
    -------
    array
        Array (symbols,), encoded by `Packing`. Chains are padded with `PAD` before their first symbol.
    """
    return _pack_windows(chains.surfaces, chains.entities, chains.lengths, packing.order, packing.bits)


@numba.njit(cache=True)
def _pack_windows(
    surfaces: npt.NDArray[np.int32], entities: npt.NDArray[np.int32], lengths: IntArray, order: int, bits: int
) -> IntArray:
    keys = np.empty(len(surfaces), np.int64)
    labels = np.empty(order, np.int64)
    start = 0
    for length in lengths:
        for end in range(start, start + length):
            key, entities_so_far = np.int64(0), 0
            for place in range(order):
                at = end - order + 1 + place
                if place == order - 1:
                    in_history = entities_so_far
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
                        label = entities_so_far
                        entities_so_far += 1
                    labels[place] = label
                    code = np.int64(surfaces[at]) * order + label
                key = (key << bits) | code
            keys[end] = (np.int64(in_history) << (order * bits)) | key
        start += length
    return keys


def flatten(chains: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Chains:
    """Concatenate chains, each a pair of a list of surfaces and a list of entities."""
    lengths = np.array([len(surfaces) for surfaces, _ in chains], dtype=np.int64)
    joined = [
        np.concatenate([np.asarray(chain[part], np.int32) for chain in chains]) if chains else np.empty(0, np.int32)
        for part in (0, 1)
    ]
    return Chains(joined[0], joined[1], lengths)

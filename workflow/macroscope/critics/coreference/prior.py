"""Prior: n-gram models of the chains of the train split, by Kneser-Ney smoothing or that of deng2022's released code.

For a window z_1 ... z_n, with entities numbered by first appearance, the model gives P(z_n | z_1 ... z_{n-1}). Shorter
histories keep these numbers, and the number of entities in the whole history. Hence the set of possible next symbols is
known: ".", or any surface with one of these entities or with the next new one. The probabilities of a history sum to
one over this set.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from macroscope.critics.coreference.latents import LATENTS, build_vocabulary, read_chains
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.windows import STOP, UNKNOWN, Chains, IntArray, Packing, max_surfaces, pack_windows
from macroscope.critics.latents import stream_latents
from macroscope.files import atomic, read_json, write_json

FloatArray = npt.NDArray[np.float64]
FLOOR = 1e-20
"""Probability of an unseen symbol in the released code (critic.py of deng2022); it makes sums exceed one."""

_AT_ONCE = 1 << 22
"""Symbols per batch of look-ups; each distinct n-gram of a batch is looked up once."""
_COUNTS = ("events", "counts", "contexts", "totals", "types")


@dataclass(frozen=True)
class Table:
    """Counts of the n-grams of one length.

    Attributes
    ----------
    events, counts
        Packed n-grams, sorted, and their counts.
    contexts, totals, types
        Packed histories, sorted; sum of the counts of their n-grams, and number of distinct ones.
    discount
        Discount of every count, between 0 and 1.
    """

    events: IntArray
    counts: IntArray
    contexts: IntArray
    totals: IntArray
    types: IntArray
    discount: float


@dataclass(frozen=True)
class ChainModel:
    """n-gram model P(symbol | the n - 1 symbols before it).

    Attributes
    ----------
    packing
        Encoding of n-grams as integers; its order is n.
    tables
        Counts of the n-grams of length 1, 2, ... n.
    published
        Whether this is the model of the released code: absolute discounting with raw counts at every length, no
        discount for unigrams, and `FLOOR` for unseen symbols.
    """

    packing: Packing
    tables: tuple[Table, ...]
    published: bool

    @classmethod
    def fit(cls, chains: Chains, packing: Packing, published: bool = False) -> "ChainModel":
        """Fit a model to chains.

        Discounts are n1 / (n1 + 2 n2) for each length, where n1 and n2 are the numbers of n-grams that occur once and
        twice (deng2022 App. G; Ney, Essen and Kneser 1994). If none occurs once, this discount would leave no mass for
        unseen n-grams, and 1/2 is used instead; as published 0.
        """
        events, counts = np.unique(_window_keys(chains, packing, published), return_counts=True)
        tables = []
        for length in range(packing.order, 0, -1):
            if length < packing.order:
                shorter = packing.shorten(events, length + 1)
                # Number of occurrences, or (Kneser-Ney) number of distinct preceding symbols.
                events, inverse = np.unique(shorter, return_inverse=True)
                counts = np.bincount(inverse, weights=counts if published else None).astype(np.int64)
            tables.append(_build_table(events, counts.astype(np.int64), packing, published and length == 1, published))
        return cls(packing, tuple(reversed(tables)), published)

    def log_probabilities(self, chains: Chains) -> FloatArray:
        """Compute the log probability of every symbol of every chain, in nats: (symbols,)."""
        keys = pack_windows(chains, self.packing)
        logs = np.empty(len(keys))
        for start in range(0, len(keys), _AT_ONCE):
            distinct, inverse = np.unique(keys[start : start + _AT_ONCE], return_inverse=True)
            logs[start : start + _AT_ONCE] = np.log(self.probabilities(distinct))[inverse]
        return logs

    def probabilities(self, keys: IntArray) -> FloatArray:
        """Compute the probability of the last symbol of packed windows, given the others."""
        order = self.packing.order
        shortened = [_published_keys(keys, self.packing) if self.published else keys]
        for length in range(order, 1, -1):
            shortened.append(self.packing.shorten(shortened[-1], length))
        probabilities = self._base_probability(shortened[-1])
        for table, events in zip(self.tables, reversed(shortened), strict=True):
            probabilities = self._interpolate(table, events, probabilities)
        # If no n-gram of some length occurs once, the released code leaves no mass for unseen n-grams, and fails.
        return np.where(probabilities > 0, probabilities, FLOOR) if self.published else probabilities

    def _interpolate(self, table: Table, events: IntArray, shorter: FloatArray) -> FloatArray:
        """Interpolate the probability by n-grams of one length with that by shorter ones."""
        at, seen = _find(table.contexts, self.packing.context(events))
        event, is_known = _find(table.events, events)
        counts = np.where(is_known, table.counts[event], 0)
        total = table.totals[at]
        discounted = np.maximum(counts - table.discount, 0.0) / total
        if self.published and table is self.tables[0]:
            return np.where(is_known, discounted, shorter)
        return np.where(seen, discounted + table.discount * table.types[at] / total * shorter, shorter)

    def _base_probability(self, unigrams: IntArray) -> FloatArray:
        """Return the distribution below unigrams: uniform over possible symbols; as published `FLOOR`."""
        if self.published:
            return np.full(len(unigrams), FLOOR)
        return 1.0 / self.count_possible(self.packing.entities(unigrams, 1))

    def count_possible(self, entities: IntArray) -> FloatArray:
        """Count the symbols that can follow a history with N entities: ".", and every surface with each entity."""
        return np.asarray(1.0 + (self.packing.surfaces - UNKNOWN) * (entities + 1.0))

    def distribution(self, window: int) -> tuple[list[tuple[int, int]], FloatArray]:
        """Return all possible last symbols of a packed window, as (surface, entity), and their probabilities."""
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
        """Write the model to a file (npz)."""
        arrays = {
            f"{name}_{length}": getattr(table, name)
            for length, table in enumerate(self.tables, 1)
            for name in (*_COUNTS, "discount")
        }
        about = np.array([self.packing.order, self.packing.surfaces, int(self.published)])
        np.savez_compressed(path, about=about, **arrays)

    @classmethod
    def load(cls, path: Path) -> "ChainModel":
        """Read a model that `save` wrote."""
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


def _window_keys(chains: Chains, packing: Packing, published: bool) -> IntArray:
    keys = pack_windows(chains, packing)
    return _published_keys(keys, packing) if published else keys


def _published_keys(keys: IntArray, packing: Packing) -> IntArray:
    """Return packed windows without the number of entities of the history, which the released code ignores."""
    return keys & ((1 << (packing.order * packing.bits)) - 1)


def _build_table(events: IntArray, counts: IntArray, packing: Packing, undiscounted: bool, published: bool) -> Table:
    contexts, starts, types = np.unique(packing.context(events), return_index=True, return_counts=True)
    totals = np.add.reduceat(counts, starts) if len(counts) else counts
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    without = 0.0 if published else 0.5
    discount = 0.0 if undiscounted else once / (once + 2 * twice) if once else without
    return Table(events, counts, contexts, totals, types.astype(np.int64), discount)


def _find(keys: IntArray, wanted: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return the index of each wanted key among sorted keys (0 if absent), and whether it is present."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_found = keys[at] == wanted
    return np.where(is_found, at, 0), is_found


@dataclass(frozen=True)
class ChainPrior:
    """Chain models: the default one and that of the released code.

    Attributes
    ----------
    surfaces
        Vocabulary of the models, the reserved surfaces first.
    default, published
        Models with interpolated Kneser-Ney smoothing, and with the smoothing of the released code.
    convention
        Model behind the scores: "default" or "published".
    """

    surfaces: list[str]
    default: ChainModel
    published: ChainModel
    convention: str

    @property
    def model(self) -> ChainModel:
        return self.published if self.convention == "published" else self.default

    @property
    def index(self) -> dict[str, int]:
        return {surface: number for number, surface in enumerate(self.surfaces)}

    @classmethod
    def load(cls, folder: Path) -> "ChainPrior":
        """Read a prior that `fit_prior` wrote."""
        about = read_json(folder / "prior.json")
        default, published = (ChainModel.load(folder / f"{name}.npz") for name in ("default", "published"))
        return cls(about["surfaces"], default, published, about["convention"])


def fit_prior(inference: Path, *, options: CoreferenceOptions, output: Path) -> None:
    """Fit the models; write default.npz, published.npz, prior.json (surfaces, convention, symbols, discounts)."""
    chains_file = inference / "chains.parquet"
    counts: Counter[str] = Counter()
    for table in stream_latents(chains_file, LATENTS, ["surfaces"]):
        for surfaces in table["surfaces"].to_pylist():
            counts.update(surfaces)
    surfaces = build_vocabulary(counts, max_surfaces(options.order))
    chains = read_chains(chains_file, {surface: number for number, surface in enumerate(surfaces)})
    packing = Packing(options.order, len(surfaces))
    models = {
        "default": ChainModel.fit(chains, packing),
        "published": ChainModel.fit(chains, packing, published=True),
    }
    with atomic(output) as folder:
        folder.mkdir()
        for name, model in models.items():
            model.save(folder / f"{name}.npz")
        about = {
            "surfaces": surfaces,
            "convention": options.convention,
            "symbols": len(chains.surfaces),
            "unknown_surfaces": len(counts) - len(set(counts) & set(surfaces)),
            "discounts": {name: [table.discount for table in model.tables] for name, model in models.items()},
        }
        write_json(folder / "prior.json", about)

"""Latents of the coreference critic on disk: the chain of every document, a row each.

Columns: `id`; `opening` (`documents.opening_of`); `in_domain`, whether the document is looked at; `error`, why the
resolver failed on it, or null; `invalid`, mentions that were left out because they are empty or not within the text;
and of the chain `surfaces`, `entities`, `starts`, `ends`, as `chains.Chain` has them (empty where there is none).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from macroscope.critics.coreference.chains import LABELS
from macroscope.critics.coreference.windows import NO_ENTITY, PAD, STOP, UNKNOWN, Chains, flatten
from macroscope.critics.latents import read_batches
from macroscope.statistics.pairing_keys import KEYS

_LISTS = ("surfaces", "entities", "starts", "ends")
LATENTS = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in KEYS),
        pa.field("in_domain", pa.bool_(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("invalid", pa.int32(), nullable=False),
        pa.field("surfaces", pa.list_(pa.string()), nullable=False),
        *(pa.field(name, pa.list_(pa.int32()), nullable=False) for name in _LISTS[1:]),
    ]
)
RESERVED = {STOP: ".", PAD: "<pad>", UNKNOWN: "<unknown>"}
"""Surfaces that every vocabulary begins with."""


def read_latents(path: Path, columns: Sequence[str] | None = None, at_once: int = 10_000) -> Iterator[pd.DataFrame]:
    """Read latents, some documents at a time."""
    return read_batches(path, "chains", columns, at_once)


def vocabulary_of(counts: Mapping[str, int], most: int) -> list[str]:
    """Surfaces that a model knows: the reserved ones, the genders, and the most frequent of the others.

    Parameters
    ----------
    counts
        Surface -> how often the train split has it.
    most
        How many there may be.
    """
    known = [*RESERVED.values(), *LABELS]
    others = sorted((-count, surface) for surface, count in counts.items() if surface not in known)
    return [*known, *(surface for _, surface in others[: most - len(known)])]


def chains_in(table: pd.DataFrame, index: dict[str, int]) -> Chains:
    """Chains of some latents, with the numbers of their surfaces in a vocabulary."""
    numbers = {surface: _number(surface, index) for surfaces in table["surfaces"] for surface in surfaces}
    rows: list[tuple[Any, Any]] = [
        ([numbers[surface] for surface in surfaces], entities)
        for surfaces, entities in zip(table["surfaces"], table["entities"], strict=True)
    ]
    chains = flatten(rows)
    # A pronoun that is written like a reserved surface is none of these.
    odd = (chains.entities != NO_ENTITY) & (chains.surfaces < len(RESERVED))
    return replace(chains, surfaces=np.where(odd, np.int32(UNKNOWN), chains.surfaces))


def _number(surface: str, index: dict[str, int]) -> int:
    """Number of a surface; where it is not known, as in a text in capitals, that of the same word in small letters."""
    forms = (surface, surface.lower(), surface.capitalize())
    return next((index[form] for form in forms if form in index), UNKNOWN)


def name_of(symbols: Sequence[tuple[int, int]], surfaces: Sequence[str]) -> str:
    """Write symbols (surface, entity) as people read them, without what stands before the chain: ". Male:0 his:0"."""
    shown = [(surface, entity) for surface, entity in symbols if surface != PAD]
    return " ".join("." if surface == STOP else f"{surfaces[surface]}:{entity}" for surface, entity in shown)


def encoded_chains(path: Path, index: dict[str, int]) -> Chains:
    """Chains of a file of latents, with the numbers of their surfaces: eight bytes a symbol, and no text."""
    parts = [chains_in(table, index) for table in read_latents(path, ["surfaces", "entities"])]
    if not parts:
        return flatten([])
    names = ("surfaces", "entities", "lengths")
    return Chains(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

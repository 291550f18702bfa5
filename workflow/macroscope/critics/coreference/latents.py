"""Latents of the coreference critic on disk: the chain of every document, one per row.

Columns: `id`; `opening` (`Document.opening`); `in_domain`, whether the document is in the domain; `error`, message
of the resolver's failure, or null; `invalid`, number of mentions that were left out because they are empty or outside
the text; `name_mismatch`, the log odds that names of the text have changed places (`name_use`; NaN outside the domain
and for few names); `surfaces`, `entities`, `starts` and `ends` of the chain, as in `chains.Chain` (empty without a
chain).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from macroscope.critics.coreference.chains import LABELS
from macroscope.critics.coreference.windows import NO_ENTITY, PAD, STOP, UNKNOWN, Chains, flatten
from macroscope.critics.latents import latents_schema, stream_latents

LATENTS = latents_schema(
    pa.field("in_domain", pa.bool_(), nullable=False),
    pa.field("error", pa.string()),
    pa.field("invalid", pa.int32(), nullable=False),
    pa.field("name_mismatch", pa.float64(), nullable=False),
    pa.field("surfaces", pa.list_(pa.string()), nullable=False),
    *(pa.field(name, pa.list_(pa.int32()), nullable=False) for name in ("entities", "starts", "ends")),
)
RESERVED = {STOP: ".", PAD: "<pad>", UNKNOWN: "<unknown>"}
"""Reserved surfaces, at the beginning of every vocabulary."""


def build_vocabulary(counts: Mapping[str, int], most: int) -> list[str]:
    """Build a model's vocabulary: reserved surfaces, genders, and the most frequent of the other surfaces.

    Parameters
    ----------
    counts
        Surface -> number of occurrences in the train split.
    most
        Largest size of the vocabulary.
    """
    fixed = [*RESERVED.values(), *LABELS]
    others = sorted((-count, surface) for surface, count in counts.items() if surface not in fixed)
    return [*fixed, *(surface for _, surface in others[: most - len(fixed)])]


def encode_chains(table: pd.DataFrame, index: dict[str, int]) -> Chains:
    """Encode the chains of a batch of latents by the indices of their surfaces in a vocabulary."""
    numbers = {surface: _look_up(surface, index) for surfaces in table["surfaces"] for surface in surfaces}
    rows: list[tuple[Any, Any]] = [
        ([numbers[surface] for surface in surfaces], entities)
        for surfaces, entities in zip(table["surfaces"], table["entities"], strict=True)
    ]
    chains = flatten(rows)
    # A mention that is spelt like a reserved surface must not be taken for it.
    odd = (chains.entities != NO_ENTITY) & (chains.surfaces < len(RESERVED))
    return replace(chains, surfaces=np.where(odd, np.int32(UNKNOWN), chains.surfaces))


def _look_up(surface: str, index: dict[str, int]) -> int:
    """Look up a surface; fall back to other capitalisations of it, as for texts in capitals, then to `UNKNOWN`."""
    forms = (surface, surface.lower(), surface.capitalize())
    return next((index[form] for form in forms if form in index), UNKNOWN)


def format_symbols(symbols: Sequence[tuple[int, int]], surfaces: Sequence[str]) -> str:
    """Format symbols (surface, entity) for readers, without padding: ". Male:0 his:0"."""
    shown = [(surface, entity) for surface, entity in symbols if surface != PAD]
    return " ".join("." if surface == STOP else f"{surfaces[surface]}:{entity}" for surface, entity in shown)


def read_chains(path: Path, index: dict[str, int]) -> Chains:
    """Read and encode the chains of a file of latents; takes eight bytes per symbol in memory."""
    tables = stream_latents(path, LATENTS, ["surfaces", "entities"])
    parts = [encode_chains(table.to_pandas(), index) for table in tables]
    if not parts:
        return flatten([])
    names = ("surfaces", "entities", "lengths")
    return Chains(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

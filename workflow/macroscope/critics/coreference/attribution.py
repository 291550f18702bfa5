"""The mentions of a document that are unlikely where they stand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from macroscope.critics.attributions import (
    Attribution,
    Place,
    attribution_weight,
    places_within,
    rates,
    section_starts,
    write_attributions,
)
from macroscope.critics.coreference.chains import SAID
from macroscope.critics.coreference.latents import chains_in, read_latents
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.critics.coreference.windows import NO_ENTITY
from macroscope.documents import Document, read_documents


def attribute(
    texts: Path, latents: Path, scores: Path, prior: Path, *, options: CoreferenceOptions, output: Path
) -> None:
    """Blame documents for T(x) a symbol, and the mentions that cost more than `unlikely`; see `critics.attributions`."""
    nats = rates(scores)
    rows = (
        Attribution(chain["id"], nats[chain["id"]], list(marks(document, chain, costs, options.unlikely)))
        for document, (chain, costs) in zip(
            read_documents(texts), _chains(latents, ChainPrior.load(prior)), strict=True
        )
    )
    write_attributions(rows, output)


def marks(
    document: Document, chain: dict[str, Any], costs: np.ndarray, threshold: float
) -> Iterator[tuple[Place, float, str]]:
    """Mentions with a cost above the threshold.

    Parameters
    ----------
    chain
        Row of the latents.
    costs
        Of its symbols, in nats.
    """
    starts = section_starts(document)
    symbols = zip(*(chain[name] for name in ("surfaces", "entities", "starts", "ends")), costs, strict=True)
    for surface, entity, start, end, cost in symbols:
        if entity != NO_ENTITY and cost > threshold:
            note = f"{SAID.get(surface, surface)}, entity {entity}: {cost:.1f} nats"
            for place in places_within(starts, int(start), int(end)):
                yield place, attribution_weight(cost, threshold), note


def _chains(latents: Path, prior: ChainPrior) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Row of the latents and costs of the symbols of every document."""
    for table in read_latents(latents):
        chains = chains_in(table, prior.index)
        costs = np.split(-prior.model.log_probabilities(chains), np.cumsum(chains.lengths)[:-1])
        yield from zip(table.to_dict("records"), costs, strict=True)

"""Attribution of a document's latent NLL to mentions that are unlikely in their context."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from macroscope.critics.attributions import (
    Attribution,
    Span,
    attribution_weight,
    find_section_starts,
    locate_in_sections,
    read_nll_rates,
    write_attributions,
)
from macroscope.critics.coreference.chains import DESCRIPTIONS
from macroscope.critics.coreference.latents import LATENTS, encode_chains
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.critics.coreference.windows import NO_ENTITY
from macroscope.critics.latents import stream_latents
from macroscope.documents import Collection, Document


def attribute(
    texts: Collection, latents: Path, scores: Path, prior: Path, *, options: CoreferenceOptions, output: Path
) -> None:
    """Write the latent NLL per symbol of each document, and its unlikely mentions; see `critics.attributions`."""
    nats = read_nll_rates(scores)
    rows = (
        Attribution(chain["id"], nats[chain["id"]], list(mark_mentions(document, chain, costs, options.unlikely)))
        for document, (chain, costs) in zip(texts, _read_chains_and_costs(latents, ChainPrior.load(prior)), strict=True)
    )
    write_attributions(rows, output)


def mark_mentions(
    document: Document, chain: dict[str, Any], costs: np.ndarray, threshold: float
) -> Iterator[tuple[Span, float, str]]:
    """Yield (place, weight, note) of mentions with a cost above the threshold.

    Parameters
    ----------
    chain
        Row of the latents.
    costs
        Cost of each symbol of the chain, in nats.
    threshold
        Cost in nats above which a mention is unlikely.
    """
    starts = find_section_starts(document)
    symbols = zip(*(chain[name] for name in ("surfaces", "entities", "starts", "ends")), costs, strict=True)
    for surface, entity, start, end, cost in symbols:
        if entity != NO_ENTITY and cost > threshold:
            note = f"{DESCRIPTIONS.get(surface, surface)}, entity {entity}: {cost:.1f} nats"
            for place in locate_in_sections(starts, int(start), int(end)):
                yield place, attribution_weight(cost, threshold), note


def _read_chains_and_costs(latents: Path, prior: ChainPrior) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Yield the row of the latents and the costs of the symbols of every document."""
    for table in (rows.to_pandas() for rows in stream_latents(latents, LATENTS)):
        chains = encode_chains(table, prior.index)
        costs = np.split(-prior.model.log_probabilities(chains), np.cumsum(chains.lengths)[:-1])
        yield from zip(table.to_dict("records"), costs, strict=True)

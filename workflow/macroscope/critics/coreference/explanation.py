"""Evidence on a system's chains: n-grams, unlikely mentions, and the passages around them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.critics.coreference.chains import DESCRIPTIONS
from macroscope.critics.coreference.latents import LATENTS, read_chains
from macroscope.critics.coreference.ngram_tables import rank_contributions, rank_differences, tabulate_unlikely
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.critics.coreference.windows import NO_ENTITY, STOP, Chains, pack_windows
from macroscope.critics.latents import read_latents, stream_latents
from macroscope.documents import Collection
from macroscope.files import atomic, write_json
from macroscope.tables import write_csv

UNLIKELY_SHOWN = 30
RANDOM_SHOWN = 50
PASSAGES = 6
_AROUND = 110
"""Characters of an excerpt on each side of its mention."""
BEFORE, AFTER = 600, 300
"""Characters of a passage before and after its least likely mention."""


def explain(
    texts: Collection,
    latents: Path,
    control_latents: Path,
    prior: Path,
    *,
    options: CoreferenceOptions,
    seed: int,
    output: Path,
) -> None:
    """Write the evidence of a system into a folder.

    Files: contributions.csv (deng2022 Table 6), differences.csv (Tables 16 and 17), unlikely.csv (the least likely
    mentions, one per document, with id and excerpt), unlikely_random.csv (Table 15: a random subset of all unlikely
    mentions), passages.json (Figures 10 to 13), failed.csv (documents on which the resolver failed, with the error).
    """
    model = ChainPrior.load(prior)
    candidate, reference = read_chains(latents, model.index), read_chains(control_latents, model.index)
    costs = -model.model.log_probabilities(candidate)
    worst = find_least_likely(candidate, costs, UNLIKELY_SHOWN)
    unlikely = sample_unlikely(candidate, costs, options.unlikely, RANDOM_SHOWN, seed)
    chosen = np.concatenate([worst, unlikely])
    starts = np.cumsum(candidate.lengths) - candidate.lengths
    rows = np.searchsorted(starts, chosen, side="right") - 1
    documents = _read_rows(latents, rows)
    text_by_id = _read_texts(texts, [document["id"] for document in documents])
    shown: list[dict[str, Any]] = []
    excerpts: list[str] = []
    for number, (document, row, at) in enumerate(zip(documents, rows, chosen, strict=True)):
        text, place = text_by_id[document["id"]], int(at - starts[row])
        excerpts.append(_cut_excerpt(text, int(document["starts"][place]), int(document["ends"][place])))
        if number < min(PASSAGES, len(worst)):
            document_costs = costs[starts[row] : starts[row] + candidate.lengths[row]]
            shown.append(build_passage(text, document, document_costs, place, options.unlikely))
    table = tabulate_unlikely(model, pack_windows(candidate, model.model.packing)[chosen], costs[chosen])
    mentions = table.assign(id=[document["id"] for document in documents], text=excerpts)
    with atomic(output) as folder:
        folder.mkdir()
        write_csv(rank_contributions(model, reference, candidate), folder / "contributions.csv")
        write_csv(rank_differences(model, reference, candidate, options.least_count), folder / "differences.csv")
        write_csv(mentions[: len(worst)], folder / "unlikely.csv")
        write_csv(mentions[len(worst) :], folder / "unlikely_random.csv")
        write_csv(_list_failed(latents), folder / "failed.csv")
        write_json(folder / "passages.json", shown)


def find_least_likely(chains: Chains, costs: np.ndarray, most: int) -> np.ndarray:
    """Return the index of the least likely mention of each document, the least likely first, at most `most`."""
    ends = np.cumsum(chains.lengths)
    marked = np.where(chains.surfaces == STOP, -np.inf, costs)
    worst = [
        start + int(np.argmax(marked[start:end]))
        for start, end in zip(ends - chains.lengths, ends, strict=True)
        if end > start and np.isfinite(marked[start:end]).any()
    ]
    places = np.array(worst, dtype=np.int64)
    return places[np.argsort(-costs[places], kind="stable")][:most]


def sample_unlikely(chains: Chains, costs: np.ndarray, threshold: float, most: int, seed: int) -> np.ndarray:
    """Return the indices of a random subset, at most `most`, of the mentions that cost more than `threshold` nats."""
    unlikely = np.flatnonzero((chains.surfaces != STOP) & (costs > threshold))
    rng = np.random.default_rng(seed)
    return np.asarray(rng.permutation(unlikely)[:most], dtype=np.int64)


def build_passage(
    text: str, document: dict[str, Any], costs: np.ndarray, place: int, threshold: float
) -> dict[str, Any]:
    """Build a passage of a text with its mentions, for the report.

    Parameters
    ----------
    document
        Row of the latents.
    costs
        Costs of the document's symbols, in nats.
    place
        Index of the symbol at the centre of the passage.
    threshold
        Cost in nats above which a mention is marked.

    Returns
    -------
    dict
        title; pieces, each {text, group (entity, None for text between mentions), note, marked}.
    """
    starts, ends, entities = document["starts"], document["ends"], document["entities"]
    first, last = _whole_words(text, int(starts[place]) - BEFORE, int(ends[place]) + AFTER)
    pieces: list[dict[str, Any]] = []
    at = first

    def between(end: int) -> None:
        words = ("… " if at == first > 0 else "") + text[at:end] + (" …" if end == last < len(text) else "")
        if words:
            pieces.append({"text": words, "group": None, "note": "", "marked": False})

    for surface, entity, start, end, cost in zip(document["surfaces"], entities, starts, ends, costs, strict=True):
        if entity == NO_ENTITY or start < first or end > last:
            continue
        between(start)
        note = f"{DESCRIPTIONS.get(surface, surface)}, {cost:.1f} nats"
        pieces.append({"text": text[start:end], "group": int(entity), "note": note, "marked": bool(cost > threshold)})
        at = end
    between(last)
    surface = document["surfaces"][place]
    title = f"{document['id']}: {DESCRIPTIONS.get(surface, surface)}, {costs[place]:.1f} nats"
    return {"title": title, "pieces": pieces}


def _whole_words(text: str, first: int, last: int) -> tuple[int, int]:
    """Move the ends of a span to word boundaries, if there are any within 40 characters."""
    if first > 0:
        space = text.find(" ", first, first + 40)
        first = first if space < 0 else space + 1
    if last < len(text):
        space = text.rfind(" ", last - 40, last)
        last = last if space < 0 else space
    return max(0, first), min(len(text), last)


def _read_rows(latents: Path, rows: np.ndarray) -> list[dict[str, Any]]:
    """Read rows of the latents by their indices, in the given order."""
    wanted, row_by_number, first = set(rows.tolist()), {}, 0
    for table in (rows.to_pandas() for rows in stream_latents(latents, LATENTS)):
        for row in sorted(wanted & set(range(first, first + len(table)))):
            row_by_number[row] = table.iloc[row - first].to_dict()
        first += len(table)
    return [row_by_number[row] for row in rows.tolist()]


def _list_failed(latents: Path) -> pd.DataFrame:
    """List the documents on which the resolver failed: id, error."""
    table = read_latents(latents, LATENTS, ["id", "error"]).to_pandas()
    return table[table["error"].notna()]


def _read_texts(texts: Collection, ids: Iterable[str]) -> dict[str, str]:
    wanted = set(ids)
    return {document.id: document.text for document in texts if document.id in wanted}


def _cut_excerpt(text: str, start: int, end: int) -> str:
    """Return the words around a mention, with the mention in brackets."""
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    before = before if start <= _AROUND else "… " + before.partition(" ")[2]
    after = after if end + _AROUND >= len(text) else after.rpartition(" ")[0] + " …"
    return " ".join(f"{before}[{text[start:end]}]{after}".split())

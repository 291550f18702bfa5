"""Evidence on a system's chains: n-grams, unlikely mentions, and the passages around them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.coreference.chains import DESCRIPTIONS
from macroscope.critics.coreference.latents import LATENTS, format_symbols, read_chains
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainModel, ChainPrior
from macroscope.critics.coreference.windows import NO_ENTITY, PAD, STOP, Chains, IntArray, pack_windows
from macroscope.critics.latents import read_latents, stream_latents
from macroscope.documents import Collection
from macroscope.files import atomic, write_json
from macroscope.tables import write_csv

BEGIN = "⊢"
"""Padding before a chain, in tables."""
ROWS = 50
"""Largest number of rows of a table of n-grams."""


def rank_contributions(prior: ChainPrior, reference: Chains, candidate: Chains) -> pd.DataFrame:
    """Rank n-grams by their contribution to the difference in latent NLL per symbol (Table 6), the largest first.

    The difference of the two means is the sum over n-grams of (share in the system - share in real text) x cost.

    Returns
    -------
    data frame
        z_1 ... z_n, reference_share, candidate_share, cost (nats), contribution (nats per symbol).
    """
    model = prior.model
    keys, (reference_counts, candidate_counts) = _count_windows(model, reference, candidate)
    shares = reference_counts / max(1, reference_counts.sum()), candidate_counts / max(1, candidate_counts.sum())
    costs = -np.log(model.probabilities(keys))
    contribution = (shares[1] - shares[0]) * costs
    order = np.argsort(-contribution, kind="stable")[:ROWS]
    table = _symbol_columns(prior, keys[order]).assign(
        reference_share=shares[0][order], candidate_share=shares[1][order]
    )
    return table.assign(cost=costs[order], contribution=contribution[order])


def rank_differences(prior: ChainPrior, reference: Chains, candidate: Chains, least: int) -> pd.DataFrame:
    """Rank n-grams whose last symbol is more, or less, probable in the system than in real text (Tables 16 and 17).

    The probabilities are those of two models, one fitted to each collection. The first half of the rows has the largest
    log ratios, the second half the smallest. The first symbol of a chain is left out: it is always ".".

    Parameters
    ----------
    least
        Smallest number of occurrences of an n-gram in each collection.

    Returns
    -------
    data frame
        z_1 ... z_n, reference_probability, candidate_probability, log_ratio (nats), reference_count, candidate_count.
    """
    packing, published = prior.model.packing, prior.model.published
    keys, counts = _count_windows(prior.model, reference, candidate)
    before = packing.context(keys) & ((1 << packing.bits) - 1)
    often = (counts >= least).all(axis=0) & (before // packing.order != PAD)
    keys, counts = keys[often], counts[:, often]
    if len(keys):
        models = (ChainModel.fit(chains, packing, published) for chains in (reference, candidate))
        logs = [np.log(model.probabilities(keys)) for model in models]
    else:  # a collection may have no chains
        logs = [np.zeros(0), np.zeros(0)]
    ratio = logs[1] - logs[0]
    order = np.argsort(-ratio, kind="stable")
    most = min(ROWS // 2, int((ratio > 0).sum())), min(ROWS // 2, int((ratio < 0).sum()))
    chosen = np.concatenate([order[: most[0]], order[::-1][: most[1]]])
    table = _symbol_columns(prior, keys[chosen]).assign(
        reference_probability=np.exp(logs[0][chosen]), candidate_probability=np.exp(logs[1][chosen])
    )
    return table.assign(log_ratio=ratio[chosen], reference_count=counts[0, chosen], candidate_count=counts[1, chosen])


def tabulate_unlikely(prior: ChainPrior, keys: IntArray, costs: npt.NDArray[np.float64]) -> pd.DataFrame:
    """Tabulate windows, each with the most likely mention at its end (Table 15).

    Parameters
    ----------
    keys, costs
        Packed windows, and the costs of their last symbols in nats.

    Returns
    -------
    data frame
        z_1 ... z_n, cost, likely (most probable mention), likely_cost; one row per window, in their order.
    """
    best = [_most_likely_mention(prior, int(key)) for key in keys]
    table = _symbol_columns(prior, keys).assign(cost=costs)
    return table.assign(likely=[symbol for symbol, _ in best], likely_cost=[cost for _, cost in best])


def _most_likely_mention(prior: ChainPrior, key: int) -> tuple[str, float]:
    following, probabilities = prior.model.distribution(key)
    most = int(np.argmax(probabilities[1:])) + 1  # the first is the sentence start
    return format_symbols([following[most]], prior.surfaces), float(-np.log(probabilities[most]))


def _count_windows(model: ChainModel, reference: Chains, candidate: Chains) -> tuple[IntArray, IntArray]:
    """Return the distinct windows of both collections, and their counts: (windows,), (2, windows)."""
    # Each collection separately, to save memory: there are many windows, but few distinct ones.
    distinct = [np.unique(pack_windows(chains, model.packing), return_counts=True) for chains in (reference, candidate)]
    keys = np.union1d(*(windows_of_side for windows_of_side, _ in distinct))
    counts = np.zeros((2, len(keys)), np.int64)
    for row, (windows_of_side, numbers) in zip(counts, distinct, strict=True):
        row[np.searchsorted(keys, windows_of_side)] = numbers
    return keys, counts


def _symbol_columns(prior: ChainPrior, keys: IntArray) -> pd.DataFrame:
    order, packing = prior.model.packing.order, prior.model.packing
    rows = [
        [format_symbols([symbol], prior.surfaces) or BEGIN for symbol in packing.symbols(int(key), order)]
        for key in keys
    ]
    return pd.DataFrame(rows, columns=[f"z_{place}" for place in range(1, order + 1)])


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
    table = tabulate_unlikely(model, pack_windows(candidate, model.model.packing)[chosen], costs[chosen])
    for number, (document, row, at) in enumerate(zip(documents, rows, chosen, strict=True)):
        text, place = text_by_id[document["id"]], int(at - starts[row])
        excerpts.append(_cut_excerpt(text, int(document["starts"][place]), int(document["ends"][place])))
        if number < min(PASSAGES, len(worst)):
            document_costs = costs[starts[row] : starts[row] + candidate.lengths[row]]
            passage = build_passage(text, document, document_costs, place, options.unlikely)
            likely = _describe_likely(document, place, model.model.packing.order, table["likely"][number])
            title = f"{passage['title']}; most likely: {likely}, {table['likely_cost'][number]:.1f} nats"
            shown.append({**passage, "title": title})
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
    mention = _describe(document["surfaces"][place], int(entities[place]))
    return {"title": f"{document['id']}: {mention}, {costs[place]:.1f} nats", "pieces": pieces}


def _describe(surface: str, entity: int | str) -> str:
    return f"{DESCRIPTIONS.get(surface, surface)} ({entity})"


def _describe_likely(document: dict[str, Any], place: int, order: int, likely: str) -> str:
    """Describe the most likely mention, whose entity has a number of the window, by the number of the document."""
    window = [int(entity) for entity in document["entities"][max(0, place - order + 1) : place] if entity != NO_ENTITY]
    surface, _, number = likely.rpartition(":")
    return _describe(surface, dict(enumerate(dict.fromkeys(window))).get(int(number), "a new person"))


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

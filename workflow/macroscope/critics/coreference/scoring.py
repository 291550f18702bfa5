"""Scores of the chain of each document under the prior, their attribution to mentions, and their known truth."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.corpora.simulated.people import PeopleProcess, Story, simulate_stories
from macroscope.critics.attributions import (
    Attribution,
    Span,
    attribution_weight,
    find_section_starts,
    locate_in_sections,
    read_nll_rates,
    write_attributions,
)
from macroscope.critics.coreference.chains import (
    DESCRIPTIONS,
    FEMALE,
    GENDERS,
    LABELS,
    MALE,
    NONE,
    PLURAL,
    Chain,
    build_chain,
)
from macroscope.critics.coreference.latents import LATENTS, encode_chains, format_symbols
from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.critics.coreference.windows import NO_ENTITY, STOP, UNKNOWN, Chains, Packing, pack_windows
from macroscope.critics.course import CourseInputs, Follow
from macroscope.critics.latents import stream_latents, write_scores
from macroscope.documents import Collection, Document
from macroscope.files import write_json
from macroscope.statistics.columns import NUMBERS
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array

PAIR = 2
"""Length of the n-grams whose frequencies the divergences compare."""


def score(latents: Path, prior: Path, *, options: CoreferenceOptions, output: Path) -> None:
    """Score latents under the prior.

    Writes id, opening, and the following columns, which are NaN for a document that is not scored (outside the domain,
    a failure of the resolver, an empty text):
    nll, units
        T(x) = -log P_c of the chain, in nats; number of its symbols, as published including sentence starts.
    nll_mentions, units_mentions
        The same over mentions only.
    nll_published
        NLL under the released code's model.
    entropy
        NaN: the projection is a single chain, not a distribution over chains.
    count_<name>, of_<name>
        Numerators and denominators of shares. Of all documents: those in the domain (in_domain). Of these: those on
        which the resolver failed (resolver_failed), and those without mentions of persons (without_mentions). Of the
        mentions: those whose cost is above `unlikely` (unlikely_mention), those whose surface never occurs in the train
        split (unknown_surface), pronouns (pronoun), and those of each gender (male_mention, female_mention,
        plural_mention). Of all mentions from the resolver: those that are left out because they are empty, outside the
        text, or cut a word (invalid_mention).
    number_name_mismatch
        Log odds that names of the document have changed places (`name_use`); NaN outside the domain and for documents
        with too few mentions of names, which count_few_names counts among those in the domain.
    categories
        Pairs of adjacent symbols, with entities numbered by first appearance, for the divergences. Null for a document
        that is not scored.
    """
    model = ChainPrior.load(prior)
    batches = (table.to_pandas() for table in stream_latents(latents, LATENTS))
    write_scores((_score_table(batch, model, options) for batch in batches), output, latents)


def _score_table(table: pd.DataFrame, prior: ChainPrior, options: CoreferenceOptions) -> pd.DataFrame:
    chains = encode_chains(table, prior.index)
    costs = {"": -prior.model.log_probabilities(chains), "_published": -prior.published.log_probabilities(chains)}
    mention = chains.surfaces != STOP
    gender = np.array([_infer_gender(surface) for surface in prior.surfaces])[chains.surfaces]
    # Mentions that are not pronouns are represented by genders.
    pronoun = mention & ~np.isin(chains.surfaces, [prior.index[label] for label in LABELS])

    def total(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return sum_by_document(values, chains.lengths)

    is_scored = table["in_domain"].to_numpy(bool) & table["error"].isna().to_numpy() & (chains.lengths > 0)
    mentions = total(mention)
    counts = {
        "unlikely_mention": mention & (costs[""] > options.unlikely),
        "unknown_surface": chains.surfaces == UNKNOWN,
        "pronoun": pronoun,
        "male_mention": gender == MALE,
        "female_mention": gender == FEMALE,
        "plural_mention": gender == PLURAL,
    }
    columns: dict[str, Any] = {"id": table["id"], "opening": table["opening"]}
    columns |= {f"nll{name}": _mask(is_scored, total(cost)) for name, cost in costs.items()}
    columns |= {"units": _mask(is_scored, chains.lengths.astype(float)), "entropy": np.nan}
    has_mentions = is_scored & (mentions > 0)
    columns |= {
        "nll_mentions": _mask(has_mentions, total(costs[""] * mention)),
        "units_mentions": _mask(has_mentions, mentions),
    }
    for name, marked in counts.items():
        columns |= {f"count_{name}": _mask(has_mentions, total(marked)), f"of_{name}": _mask(has_mentions, mentions)}
    in_domain = table["in_domain"].to_numpy(bool)
    columns |= _share_counts("in_domain", in_domain, np.ones(len(table), bool))
    columns |= _share_counts("resolver_failed", table["error"].notna().to_numpy(), in_domain)
    columns |= _share_counts("without_mentions", mentions == 0, is_scored)
    columns |= {"number_name_mismatch": table["name_mismatch"]}
    columns |= _share_counts("few_names", table["name_mismatch"].isna().to_numpy(), in_domain)
    invalid = table["invalid"].to_numpy(float)
    has_resolved_mentions = is_scored & (mentions + invalid > 0)
    columns |= {
        "count_invalid_mention": _mask(has_resolved_mentions, invalid),
        "of_invalid_mention": _mask(has_resolved_mentions, mentions + invalid),
    }
    names = name_pairs(chains, prior.surfaces)
    columns["categories"] = [pairs if scored else None for pairs, scored in zip(names, is_scored, strict=True)]
    return pd.DataFrame(columns)


def name_pairs(chains: Chains, surfaces: list[str]) -> list[list[str]]:
    """Name the pairs of adjacent symbols of each chain: ". He:0", "He:0 his:0", "Male:0 Female:1"."""
    packing = Packing(PAIR, len(surfaces))
    keys, inverse = np.unique(pack_windows(chains, packing), return_inverse=True)
    names = np.array([format_symbols(packing.symbols(int(key), PAIR), surfaces) for key in keys], dtype=object)[inverse]
    # The first symbol of a chain has no predecessor.
    return [chain_names.tolist()[1:] for chain_names in np.split(names, np.cumsum(chains.lengths)[:-1])]


def sum_by_document(values: npt.NDArray[Any], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Sum values over the symbols of each chain; 0 for an empty chain."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=float)])
    ends = np.cumsum(lengths)
    return np.asarray(sums[ends] - sums[ends - lengths])


def _infer_gender(surface: str) -> str:
    return surface if surface in LABELS else GENDERS.get(surface.lower(), NONE)


def _mask(keep: npt.NDArray[np.bool_], values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.where(keep, values, np.nan)


def _share_counts(name: str, marked: npt.NDArray[np.bool_], population: npt.NDArray[np.bool_]) -> dict[str, Any]:
    return {f"count_{name}": np.where(population, marked, np.nan), f"of_{name}": np.where(population, 1.0, np.nan)}


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
    for table in (rows.to_pandas() for rows in stream_latents(latents, LATENTS)):
        chains = encode_chains(table, prior.index)
        costs = np.split(-prior.model.log_probabilities(chains), np.cumsum(chains.lengths)[:-1])
        yield from zip(table.to_dict("records"), costs, strict=True)


STORIES = 5000


def write_known_truth(
    process: Path, prior: Path, *, order: str, seed: int, options: CoreferenceOptions, output: Path
) -> None:
    """Write the theoretical latent PPL of a system of this order.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        Order or defect of the stories; see `macroscope.corpora.simulated.people`.
    output
        JSON file to write. latent_ppl: from the expected cost of the true chains under the fitted prior (over 5,000
        stories, whose Monte Carlo error is far below any interval here); basis: how it is computed; for the process
        itself also process_latent_ppl: exact value under its own probabilities.
    """
    truth, model = PeopleProcess.load(process), ChainPrior.load(prior)
    chains = [
        build_true_chain(story, options.single) for story in simulate_stories(truth, order, STORIES, seed + (1 << 31))
    ]
    table = pd.DataFrame({"surfaces": [c.surfaces for c in chains], "entities": [c.entities for c in chains]})
    costs = -model.model.log_probabilities(encode_chains(table, model.index))
    result = {
        "latent_ppl": math.exp(float(costs.mean())),
        "basis": "expected cost of the true chains under the fitted prior",
    }
    if order == "process":
        result["process_latent_ppl"] = truth.latent_ppl()
    write_json(output, result)


def build_true_chain(story: Story, single: str) -> Chain:
    return build_chain(get_true_mentions(story, ""), story.text, single)


def get_true_mentions(story: Story, name: str) -> Resolved:
    """Return the true mentions of a story in the format of resolvers."""
    mentions = tuple(Mention(m.start, m.end, m.start, m.end, m.entity, m.pronoun, True) for m in story.mentions)
    return Resolved(name, story.sentence_starts, mentions)


_EQUAL_SHARE = "the same share"
STATISTICS = (
    Statistic("in_domain_share", "share of the system's texts in the domain", _EQUAL_SHARE, difference=False),
    Statistic("resolver_failed_share", "share of texts on which the resolver fails", _EQUAL_SHARE, difference=False),
    Statistic("without_mentions_share", "share of texts without mentions of persons", _EQUAL_SHARE, difference=False),
    Statistic("few_names_share", "share of texts with too few mentions of names", _EQUAL_SHARE, difference=False),
    Statistic("invalid_mention_share", "share of invalid mentions, which are left out", _EQUAL_SHARE, difference=False),
    Statistic("unknown_surface_share", "share of mentions with an unknown surface", _EQUAL_SHARE, difference=False),
    *(replace(statistic, pattern=f"name_mismatch_{statistic.pattern}") for statistic in NUMBERS),
)
"""Statistics of coverage, which do not measure how persons are mentioned, and of the use of names."""


def follow(inputs: CourseInputs) -> Follow:
    """Return the function that marks the mentions of persons not mentioned before; see `critics.course`."""

    def values(documents: Iterable[Document], latents: Path) -> Iterator[Array]:
        for table in stream_latents(latents, LATENTS, ["entities"]):
            for entities in table["entities"].to_pylist():
                mentions = pd.Series([entity for entity in entities if entity != NO_ENTITY], dtype=np.int64)
                yield (~mentions.duplicated()).to_numpy(float)[np.newaxis]

    return values

"""Scores of the chain of each document under the prior."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.coreference.chains import FEMALE, GENDERS, LABELS, MALE, NONE, PLURAL
from macroscope.critics.coreference.latents import LATENTS, encode_chains, format_symbols
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.critics.coreference.windows import STOP, UNKNOWN, Chains, Packing, pack_windows
from macroscope.critics.latents import stream_latents, write_scores

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

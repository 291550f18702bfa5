"""Scores: how likely the chain of each document is under the prior."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.coreference.chains import FEMALE, GENDERS, LABELS, MALE, NONE, PLURAL
from macroscope.critics.coreference.latents import chains_in, name_of, read_latents
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.prior import ChainPrior
from macroscope.critics.coreference.windows import STOP, UNKNOWN, Chains, Packing, windows
from macroscope.critics.latents import write_scores
from macroscope.statistics.declaration import Statistic

PAIR = 2
"""Symbols of the n-grams between whose frequencies the divergences are."""
_WHATEVER = "the same share"
STATISTICS = (
    Statistic("in_domain_share", "share of the system's texts that are of the domain", _WHATEVER, difference=False),
    Statistic("resolver_failed_share", "share on which the resolver fails", _WHATEVER, difference=False),
    Statistic("without_mentions_share", "share with nobody in them", _WHATEVER, difference=False),
    Statistic("invalid_mention_share", "share of mentions that are left out", _WHATEVER, difference=False),
    Statistic("unknown_surface_share", "share of mentions with an unknown surface", _WHATEVER, difference=False),
)
"""Of what was looked at: these shares say nothing of how persons are mentioned."""


def score(latents: Path, prior: Path, *, options: CoreferenceOptions, output: Path) -> None:
    """Score latents under the prior.

    Writes id, opening, and, NaN for a document that is not looked at (another domain, a failure, an empty text):
    nll, units
        T(x) = -log P_c of the chain, in nats; its symbols, as published with those of the beginnings of sentences.
    nll_mentions, units_mentions
        The same of mentions alone.
    nll_published
        Under the released code's model.
    entropy
        NaN: the chain is one, and not a distribution over chains.
    count_<name>, of_<name>
        Of all documents those of the domain (in_domain), and of these those on which the resolver failed
        (resolver_failed) and those with nobody in them (without_mentions); of the mentions those whose cost is above
        `unlikely` (unlikely_mention), whose surface the train split does not have (unknown_surface), which are pronouns
        (pronoun), and which are of each gender (male_mention, female_mention, plural_mention); of all that the resolver
        gave those that are left out, for they are empty, outside of the text, or cut a word (invalid_mention).
    categories
        Pairs of symbols that follow each other, entities numbered by first appearance: the divergences are of these.
        Null for a document that is not looked at.
    """
    model = ChainPrior.load(prior)
    write_scores((_scored(table, model, options) for table in read_latents(latents)), output, latents)


def _scored(table: pd.DataFrame, prior: ChainPrior, options: CoreferenceOptions) -> pd.DataFrame:
    chains = chains_in(table, prior.index)
    costs = {"": -prior.model.log_probabilities(chains), "_published": -prior.published.log_probabilities(chains)}
    mention = chains.surfaces != STOP
    gender = np.array([_gender(surface) for surface in prior.surfaces])[chains.surfaces]
    # All that is no pronoun has become a gender.
    pronoun = mention & ~np.isin(chains.surfaces, [prior.index[label] for label in LABELS])

    def total(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return by_document(values, chains.lengths)

    known = table["in_domain"].to_numpy(bool) & table["error"].isna().to_numpy() & (chains.lengths > 0)
    mentions = total(mention)
    counts = {
        "unlikely_mention": mention & (costs[""] > options.unlikely),
        "unknown_surface": chains.surfaces == UNKNOWN,
        "pronoun": pronoun,
        "male_mention": gender == MALE,
        "female_mention": gender == FEMALE,
        "plural_mention": gender == PLURAL,
    }
    found: dict[str, Any] = {"id": table["id"], "opening": table["opening"]}
    found |= {f"nll{name}": _where(known, total(cost)) for name, cost in costs.items()}
    found |= {"units": _where(known, chains.lengths.astype(float)), "entropy": np.nan}
    spoken = known & (mentions > 0)
    found |= {"nll_mentions": _where(spoken, total(costs[""] * mention)), "units_mentions": _where(spoken, mentions)}
    for name, marked in counts.items():
        found |= {f"count_{name}": _where(spoken, total(marked)), f"of_{name}": _where(spoken, mentions)}
    looked_at = table["in_domain"].to_numpy(bool)
    found |= _share("in_domain", looked_at, np.ones(len(table), bool))
    found |= _share("resolver_failed", table["error"].notna().to_numpy(), looked_at)
    found |= _share("without_mentions", mentions == 0, known)
    invalid = table["invalid"].to_numpy(float)
    read = known & (mentions + invalid > 0)
    found |= {"count_invalid_mention": _where(read, invalid), "of_invalid_mention": _where(read, mentions + invalid)}
    named = pairs(chains, prior.surfaces)
    found["categories"] = [some if judged else None for some, judged in zip(named, known, strict=True)]
    return pd.DataFrame(found)


def pairs(chains: Chains, surfaces: list[str]) -> list[list[str]]:
    """Name the pairs of symbols of each chain that follow each other: ". He:0", "He:0 his:0", "Male:0 Female:1"."""
    packing = Packing(PAIR, len(surfaces))
    keys, inverse = np.unique(windows(chains, packing), return_inverse=True)
    names = np.array([name_of(packing.symbols(int(key), PAIR), surfaces) for key in keys], dtype=object)[inverse]
    # The first symbol of a chain follows nothing.
    return [some.tolist()[1:] for some in np.split(names, np.cumsum(chains.lengths)[:-1])]


def by_document(values: npt.NDArray[Any], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Sums over the symbols of each chain; 0 of an empty one."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=float)])
    ends = np.cumsum(lengths)
    return np.asarray(sums[ends] - sums[ends - lengths])


def _gender(surface: str) -> str:
    return surface if surface in LABELS else GENDERS.get(surface.lower(), NONE)


def _where(known: npt.NDArray[np.bool_], values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.where(known, values, np.nan)


def _share(name: str, marked: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> dict[str, Any]:
    return {f"count_{name}": np.where(of, marked, np.nan), f"of_{name}": np.where(of, 1.0, np.nan)}

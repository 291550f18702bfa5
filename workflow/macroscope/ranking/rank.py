"""`macroscope rank`: the monotony of each system's texts, from passages of equal length, in order."""

import logging
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.learned_parts import LearnedPart, Settings
from macroscope.criticize.reading import read_sides
from macroscope.documents import Document
from macroscope.errors import MacroscopeError, UsageError
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.words import count_words, locate_words, lower_case_words
from macroscope.phrases import list_names
from macroscope.statistics.document_groups import find_repeats
from macroscope.statistics.monotony import COMPONENTS, FEWEST_TEXTS, TextNumbers, is_defined, limit_ranks, rank_systems

WORDS = 100
"""Number of words of a passage."""
Components = Mapping[str, NDArray[np.float64]]
"""Name of a component -> its value of each text."""


def split_passages(text: str) -> list[str]:
    """Split a text into passages of `WORDS` words; what is left at its end is dropped."""
    starts = [start for start, _, _ in locate_words(text)]
    ends = [*starts[::WORDS], len(text)] if len(starts) % WORDS == 0 else starts[::WORDS]
    return [text[start:end].strip() for start, end in pairwise(ends)]


def compute_text_numbers(texts: Sequence[Sequence[str]], language: str) -> TextNumbers:
    """Compute the numbers of texts from their passages; every text has at least one."""
    compression, rhythm = (
        np.array([np.mean([measure(passage) for passage in passages]) for passages in texts])
        for measure in (log_compression, lambda passage: sentence_rhythm(passage, language))
    )
    shares, own_shares = _shared_pairs(texts)
    sizes = np.array([len(passages) for passages in texts], dtype=float)
    between = shares / np.outer(sizes, sizes)
    pairs = np.where(sizes > 1, sizes * (sizes - 1), np.nan)
    return TextNumbers(compression, rhythm, (np.diag(shares) - own_shares) / pairs, between)


def log_compression(passage: str) -> float:
    """Return the logarithm of the bytes of a passage over its bytes after DEFLATE."""
    raw = passage.encode("utf-8", "surrogatepass")
    return float(np.log(len(raw) / len(zlib.compress(raw, 6))))


def sentence_rhythm(passage: str, language: str) -> float:
    """Return the standard deviation of the logarithms of the lengths of the sentences in words; 0 for a single one."""
    counts = [count_words(s) for line in passage.splitlines() for s in split_sentences(line, language)]
    lengths = np.array([count for count in counts if count], dtype=float)
    return float(np.log(lengths).std()) if len(lengths) else 0.0


def _shared_pairs(texts: Sequence[Sequence[str]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums over pairs of passages of the pairs of words that they share, over the mean number that they have.

    Returns
    -------
    Sums over the passages of two texts (texts x texts), and of each passage with itself (per text).
    """
    numbers: dict[tuple[str, str], int] = {}
    rows: list[int] = []
    columns: list[int] = []
    owners: list[int] = []
    for owner, passages in enumerate(texts):
        for passage in passages:
            for pair in set(pairwise(lower_case_words(passage))):
                rows.append(len(owners))
                columns.append(numbers.setdefault(pair, len(numbers)))
            owners.append(owner)
    shape = (len(owners), max(1, len(numbers)))
    has_pair = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    sizes = np.maximum(1.0, np.asarray(has_pair.sum(axis=1)).ravel())
    scaled = sparse.diags(1 / np.sqrt(sizes)) @ has_pair
    by_text = sparse.csr_matrix((np.ones(len(owners)), (owners, range(len(owners)))), shape=(len(texts), len(owners)))
    summed = by_text @ scaled
    own_shares = by_text @ np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel()
    return (summed @ summed.T).toarray(), np.asarray(own_shares)


log = logging.getLogger("macroscope")

CONFIDENCE = 0.95
MOST_TEXTS = 1000
"""Largest number of texts of a collection that are compared with each other; the first ones are used."""


def rank(
    reference: Sequence[Path], candidates: Sequence[Path], given: GivenFields, language: str | None
) -> pd.DataFrame:
    """Rank systems by their monotony, the least monotonous first.

    Parameters
    ----------
    reference
        Files of real texts; empty: the systems are compared with each other alone.
    language
        Code of the language of the texts; None: it is recognized.

    Returns
    -------
    One row per system: rank, system, given_away_by (what gives it away beside its monotony, as control tokens do), best
    and worst (ranks that chance allows, see `limit_ranks`), monotony, ci_low, ci_high, the components, texts (used),
    short (texts left out because they have fewer words than a passage).

    Raises
    ------
    MacroscopeError
        If a collection has too few texts of a passage or more.
    """
    sides = read_sides(reference, candidates, given, language, is_reference_required=False, takes_kept=True)
    texts, language = sides.texts, sides.language
    if not sides.has_real and len(texts) < 2:
        raise UsageError("⟨reference⟩: give real texts, or several systems to compare with each other")
    real = PART.obtain(sides.real, sides.kept, Settings(language)) if sides.has_real else None
    systems = [_compute_numbers(name, documents, language) for name, documents in texts.items()]
    numbers, z = [numbers for numbers, _ in systems], NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    measured, sizes = rank_systems(real, numbers, z), [len(each.compression) for each in numbers]
    of_systems = {name: each.values() for name, each in zip(texts, numbers, strict=True)}
    _warn_of_missing({**({"the real texts": real} if real else {}), **of_systems})
    limits = limit_ranks(measured, sizes, z)
    table = pd.DataFrame(
        {
            "system": list(texts),
            "given_away_by": [sides.given_away_by.get(name, "") for name in texts],
            "best": [best for best, _ in limits],
            "worst": [worst for _, worst in limits],
            "monotony": [each.value for each in measured],
            "ci_low": [each.low for each in measured],
            "ci_high": [each.high for each in measured],
            **{name: [each.components.get(name, np.nan) for each in measured] for name in COMPONENTS},
            "texts": sizes,
            "short": [short for _, short in systems],
        }
    ).sort_values("monotony", kind="stable")
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table.reset_index(drop=True)


def _warn_of_missing(collections: Mapping[str, Components]) -> None:
    """Warn of components that a collection lacks, so that they count for no system."""
    for component in COMPONENTS:
        lacking = [name for name, each in collections.items() if not is_defined(each[component])]
        if lacking:
            why = f": too few texts have two passages of {WORDS} words" if component == "within" else ""
            log.warning(
                "without the component '%s', which %s lack%s%s. Short texts rank badly: on stories of 160 words, GPT-4"
                " was more monotonous than GPT-2 XL",
                component,
                list_names(lacking),
                "s" if len(lacking) == 1 else "",
                why,
            )


def _compute_numbers(name: str, documents: Sequence[Document], language: str) -> tuple[TextNumbers, int]:
    """Compute the numbers of the first text of each prompt, and count the texts that are too short."""
    keys = pd.DataFrame({"id": [d.id for d in documents], "opening": [d.opening for d in documents]})
    first = [document for document, again in zip(documents, find_repeats(keys), strict=True) if not again]
    texts = [split_passages(document.text) for document in first]
    usable = [passages for passages in texts if passages][:MOST_TEXTS]
    if len(usable) < FEWEST_TEXTS:
        raise MacroscopeError(
            f"{name}: too few texts of {WORDS} words or more ({len(usable)}); give at least {FEWEST_TEXTS} of them"
        )
    return compute_text_numbers(usable, language), sum(not passages for passages in texts)


def _learn(real: Sequence[Document], settings: Settings) -> Components:
    return _compute_numbers("the real texts", real, settings.language)[0].values()


def _save(components: Components, folder: Path) -> None:
    np.save(folder / _FILE, np.stack([components[name] for name in COMPONENTS]))


def _load(folder: Path) -> Components:
    return dict(zip(COMPONENTS, np.load(folder / _FILE), strict=True))


_FILE = "components.npy"
PART = LearnedPart("rank", 1, lambda settings: ["--language", settings.language], _learn, _save, _load)
"""The components of each real text: four numbers."""

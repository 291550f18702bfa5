"""`macroscope rank`: the monotony of each system's texts, in order."""

from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.reading import read_sides, recognize_language
from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.ranking.passages import WORDS, compute_text_numbers, split_passages
from macroscope.statistics.document_groups import find_repeats
from macroscope.statistics.monotony import COMPONENTS, FEWEST_TEXTS, TextNumbers, rank_systems

CONFIDENCE = 0.95
MOST_TEXTS = 1000
"""Largest number of texts of a collection that are compared with each other; the first ones are used."""


def rank(
    reference: Sequence[Path], candidates: Sequence[Path], given: GivenFields, language: str | None
) -> pd.DataFrame:
    """Rank systems by their monotony, the least monotonous first.

    Parameters
    ----------
    language
        Code of the language of the texts; None: it is recognized.

    Returns
    -------
    One row per system: rank, system, monotony, ci_low, ci_high, the components, texts (used), short (texts left out
    because they have fewer words than a passage).

    Raises
    ------
    MacroscopeError
        If a collection has too few texts of a passage or more.
    """
    real_texts, texts = read_sides(reference, candidates, given)
    language = recognize_language(real_texts, texts, language)
    real, _ = _compute_numbers("the real texts", real_texts, language)
    systems = [_compute_numbers(name, documents, language) for name, documents in texts.items()]
    measured = rank_systems(real, [numbers for numbers, _ in systems], NormalDist().inv_cdf((1 + CONFIDENCE) / 2))
    table = pd.DataFrame(
        {
            "system": list(texts),
            "monotony": [each.value for each in measured],
            "ci_low": [each.low for each in measured],
            "ci_high": [each.high for each in measured],
            **{name: [each.components.get(name, np.nan) for each in measured] for name in COMPONENTS},
            "texts": [len(numbers.compression) for numbers, _ in systems],
            "short": [short for _, short in systems],
        }
    ).sort_values("monotony", kind="stable")
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    return table.reset_index(drop=True)


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

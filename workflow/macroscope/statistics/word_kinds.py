"""Detectability by kind of words: by function words alone, and by all other words alone.

Texts on other subjects than the reference differ in content words, and are as real as the reference. Texts of a model
that writes in another way differ in function words as well. The values are those of `classifier_two_sample_test` on
the words of one kind; function words are the stop words of the language.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np
import pandas as pd

from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS, LEVEL, two_sample_test
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.tidy import UNDEFINED, Estimate, rows_table

FUNCTION_WORDS: str = "function_words_c2st_auc"
CONTENT_WORDS: str = "content_words_c2st_auc"
STATISTICS = tuple(
    Statistic(
        f"{kind}_words_c2st_auc",
        f"AUC of classifiers of single documents by their {kind} words, trained on this number of documents",
        f"classifiers by {kind} words detect single documents of the system no better than by chance",
        difference=False,  # `c2st_auc` and the critic's other tests see all words
        sized=True,
    )
    for kind in ("function", "content")
)
Words = Sequence[Sequence[str]]
"""Words of each document."""


def compare_by_word_kinds(
    keys: tuple[pd.DataFrame, pd.DataFrame],
    words: tuple[Words, Words],
    function_words: Set[str],
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Compute `function_words_c2st_auc` and `content_words_c2st_auc` of the second sample against the first.

    Parameters
    ----------
    keys
        `document_groups.KEYS` of the documents, as far as they have them.
    words
        Words of the documents, in lower case.
    function_words
        Function words of the language; without any, both values are undefined.

    Returns
    -------
    data frame
        Columns `statistics.tidy.ROWS`.
    """
    estimates = []
    for name in (FUNCTION_WORDS, CONTENT_WORDS):
        features = [
            _select(*sample, function_words, name == FUNCTION_WORDS) for sample in zip(keys, words, strict=True)
        ]
        estimate = two_sample_test(features[0], features[1], confidence, seed)[0] if function_words else None
        estimates.append(Estimate(name, UNDEFINED) if estimate is None else replace(estimate, statistic=name))
    few = f"fewer than {FEWEST_DOCUMENTS} documents in a collection, or all of them in one group"
    reason = few if function_words else "no list of stop words for the language of the texts"
    return rows_table(estimates, (len(keys[0]), len(keys[1])), lambda _: reason)


def _select(keys: pd.DataFrame, words: Words, function_words: Set[str], wanted: bool) -> DocumentFeatures:
    bags = [[word for word in document if (word in function_words) == wanted] for document in words]
    return DocumentFeatures(keys, np.zeros((len(keys), 0)), (bags,))


def is_only_content(function: Mapping[str, float], content: Mapping[str, float]) -> bool:
    """Return whether content words tell the samples apart, and function words do not.

    Parameters
    ----------
    function, content
        Rows of the two statistics: value, ci_high, p_value.
    """
    is_content_above_chance = content["p_value"] < LEVEL
    return bool(is_content_above_chance and function["p_value"] >= LEVEL and function["ci_high"] < content["value"])

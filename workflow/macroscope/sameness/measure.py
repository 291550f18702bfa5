"""`macroscope sameness`: similarities by view, and repeated phrases, as tables."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope import __version__
from macroscope.criticize.inputs import CORPUS, GivenFields
from macroscope.criticize.reading import read_sides
from macroscope.natural_language.words import lower_case_words
from macroscope.sameness.diversity import (
    CONFIDENCE,
    ENCODER,
    Diversity,
    choose_threshold,
    embed_texts,
    find_good_texts,
    measure_diversity,
)
from macroscope.sameness.phrases import COLUMNS as PHRASE_COLUMNS
from macroscope.sameness.phrases import PROMPT, REAL, SYSTEM, Integers, find_phrases, join_words, take_words
from macroscope.sameness.texts import MOST_WORDS, Texts, choose_texts, choose_words
from macroscope.sameness.views import MEANING, View, as_features, choose_views, make_vectors
from macroscope.statistics.p_values import holm
from macroscope.statistics.similarity import (
    Similarities,
    estimate_excess,
    estimate_pair,
    make_collection,
    measure_similarities,
)
from macroscope.statistics.tidy import Estimate

log = logging.getLogger("macroscope")
REFERENCE = CORPUS
"""Name of the real texts in tables."""


@dataclass(frozen=True)
class Sameness:
    """Sameness of systems.

    Attributes
    ----------
    systems
        Names of the systems; the real texts, if any, are the last.
    views
        Views of the language.
    similarities
        Mean similarities by view, in the order of the systems.
    table
        A row per view, statistic and pair: system, other, view, statistic, value, ci_low, ci_high, p_value, p_adjusted
        (Holm, over all rows), prompts, shared, signature. Rows within a system have it as the other, those of an excess
        have none.
    phrases
        Columns system, and those of `phrases.find_phrases`, signature.
    tests
        Number of tested phrases of each system.
    texts
        Texts of each system.
    words
        Number of first words that are compared.
    given_away_by
        As in `criticize.reading.Sides`.
    diversity
        Diversity of k texts.
    """

    systems: Sequence[str]
    views: Sequence[View]
    similarities: Mapping[str, Similarities]
    table: pd.DataFrame
    phrases: pd.DataFrame
    tests: Mapping[str, int]
    texts: Sequence[Texts]
    words: int
    given_away_by: Mapping[str, str]
    diversity: Diversity

    @property
    def has_real(self) -> bool:
        """Return whether there are real texts."""
        return self.systems[-1] == REFERENCE


def measure_sameness(
    reference: Sequence[Path],
    candidates: Sequence[Path],
    given: GivenFields,
    language: str | None,
    words: int | None,
    seed: int,
    encoder: str = ENCODER,
    given_threshold: float | None = None,
    ratings: str | None = None,
    quality: float | None = None,
) -> Sameness:
    """Measure how similar and how diverse the texts of systems are, and which phrases they repeat.

    Parameters
    ----------
    reference
        Files of real texts; empty for none.
    language
        Code of the language of the texts; None: it is recognized.
    words
        Number of words at the beginning of a text that are compared; shorter texts are left out. None: that of
        `choose_words`.
    seed
        Seed of the choice of prompts, if there are too many, and of sets of texts.
    encoder
        Encoder of the meaning of texts.
    given_threshold
        Cosine above which two texts are not different; None: see `choose_threshold`.
    ratings, quality
        Table of scores of texts, and the smallest score of a good one; see `find_good_texts`. None: no ratings.

    Raises
    ------
    MacroscopeError
        If a collection has too few texts of this length.
    """
    sides = read_sides(reference, candidates, given, language, is_reference_required=False)
    language, has_real = sides.language, bool(sides.real)
    read = {**sides.texts, **({REFERENCE: sides.real} if has_real else {})}
    if words is None:
        words = choose_words(read)
        if words < MOST_WORDS:
            log.warning("the first %d words of each text are compared, not %d: texts are short", words, MOST_WORDS)
    texts = choose_texts(read, words, seed)
    views = choose_views(language)
    number = 1 + max(int(each.prompts.max()) for each in texts)
    vectors = make_vectors(texts, views, words, language)
    embedded = embed_texts(texts, encoder, words, language)
    if embedded is not None:
        views = [*views, MEANING]
        vectors[MEANING.name] = [as_features(each) for each in embedded]
    similarities = {
        name: measure_similarities(
            [make_collection(matrix, each.prompts, number) for matrix, each in zip(matrices, texts, strict=True)]
        )
        for name, matrices in vectors.items()
    }
    systems = list(read)
    real = systems[-1] if has_real else None
    threshold = None
    if embedded is not None:
        calibrating = (embedded[-1], texts[-1].prompts) if has_real else None
        threshold = choose_threshold(calibrating, encoder) if given_threshold is None else (given_threshold, "as given")
    good = None if ratings is None else find_good_texts(texts, real, ratings, quality)
    diversity = measure_diversity(texts, embedded, real, threshold, good, words, language, seed)
    signature = (
        f"macroscope:{__version__}|sameness:3|words:{words}|language:{language}|seed:{seed}"
        f"|encoder:{encoder if embedded else None}|threshold:{diversity.threshold}"
    )
    phrases, tests = _find_all_phrases(texts, words, has_real)
    return Sameness(
        systems,
        views,
        similarities,
        _make_table(systems, similarities, has_real).assign(signature=signature),
        phrases.assign(signature=signature),
        tests,
        texts,
        words,
        sides.given_away_by,
        replace(diversity, table=diversity.table.assign(signature=signature)),
    )


def _make_table(systems: Sequence[str], by_view: Mapping[str, Similarities], has_real: bool) -> pd.DataFrame:
    rows = []
    real = len(systems) - 1
    for view, similarities in by_view.items():
        pairs = [(i, j) for i in range(len(systems)) for j in range(i, len(systems))]
        for i, j in pairs:
            sizes = int(similarities.prompts[[i, j]].min()), int(similarities.shared[i, j])
            estimates = estimate_pair(similarities, i, j, CONFIDENCE)
            rows += [_row(systems[i], systems[j], view, estimate, sizes) for estimate in estimates]
        for i in range(real if has_real else 0):
            sizes = int(similarities.prompts[[i, real]].min()), int(similarities.shared[i, real])
            estimates = estimate_excess(similarities, i, real, CONFIDENCE)
            rows += [_row(systems[i], "", view, estimate, sizes) for estimate in estimates]
    table = pd.DataFrame(rows)
    table = table[table["value"].notna()].reset_index(drop=True)
    table.insert(table.columns.get_loc("p_value") + 1, "p_adjusted", holm(table["p_value"]))
    return table


def _row(system: str, second: str, view: str, estimate: Estimate, sizes: tuple[int, int]) -> dict[str, object]:
    return {
        "system": system,
        "other": second,
        "view": view,
        "statistic": estimate.statistic,
        "value": estimate.value,
        "ci_low": estimate.ci_low,
        "ci_high": estimate.ci_high,
        "p_value": estimate.p_value,
        "prompts": sizes[0],
        "shared": sizes[1],
    }


def _find_all_phrases(texts: Sequence[Texts], words: int, has_real: bool) -> tuple[pd.DataFrame, dict[str, int]]:
    """Find the repeated phrases of each system."""
    numbers: dict[str, int] = {}
    encoded = [[_encode(document.text, numbers) for document in each.documents] for each in texts]
    tables, tests = [], {}
    for at, each in enumerate(texts[: len(texts) - has_real]):
        parts = [take_words(encoded[at], each.prompts.tolist(), SYSTEM, words, 0)]
        if has_real:
            parts.append(take_words(encoded[-1], texts[-1].prompts.tolist(), REAL, words, len(encoded[at])))
        prompts = {int(n): d.prompt for n, d in zip(each.prompts, each.documents, strict=True) if d.prompt}
        if prompts:
            codes = [_encode(prompt, numbers) for prompt in prompts.values()]
            parts.append(take_words(codes, list(prompts), PROMPT, words, 0))
        table, tests[each.name] = find_phrases(join_words(parts), list(numbers))
        tables.append(table.assign(system=each.name))
    return pd.concat(tables, ignore_index=True)[["system", *PHRASE_COLUMNS]], tests


def _encode(text: str, numbers: dict[str, int]) -> Integers:
    return np.array([numbers.setdefault(word, len(numbers)) for word in lower_case_words(text)], dtype=np.int64)

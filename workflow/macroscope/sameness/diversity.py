"""Diversity of the texts of systems on a prompt and across prompts: different texts, Vendi score, self-BLEU."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.errors import MacroscopeError, UsageError
from macroscope.extras import is_installed, name_command
from macroscope.models import languages_of, require_encoder
from macroscope.natural_language.languages import LANGUAGES, name_of
from macroscope.natural_language.words import cut_after_words
from macroscope.phrases import format_count, list_names
from macroscope.sameness.texts import Texts
from macroscope.statistics.diversity import (
    DIFFERENCE,
    SELF_BLEU,
    Integers,
    calibrate_threshold,
    jackknife_sets,
    make_sets,
    measure_sets,
)
from macroscope.statistics.document_groups import FEWEST_PROMPTS
from macroscope.statistics.document_ratings import read_ratings
from macroscope.statistics.jackknife import Jackknifed, estimate_difference, estimate_jackknifed
from macroscope.statistics.p_values import holm
from macroscope.statistics.similarity import OTHER_PROMPTS, SAME_PROMPT
from macroscope.statistics.tidy import Estimate

log = logging.getLogger("macroscope")
CONFIDENCE = 0.95
ENCODER, THRESHOLD = "minilm", 0.73
"""The default encoder, and the cosine that 5 % of the pairs of people's texts on a subject exceed: 688 pairs of
messages of different authors in a thread of 20 Newsgroups, without quotations; 0.73 at 50 words and at 150."""
MOST_TEXTS = 10
"""Largest k, that of NoveltyBench."""
SETS_PER_UNIT = 20
"""Number of random sets per prompt: they add a twentieth to the variance at most."""
MOST_BLEU_SETS = 50
"""Largest number of sets of a system whose self-BLEU is computed: a set of ten texts takes a fifth of a second."""
ALL_SYSTEMS, ACROSS_SYSTEMS = "all systems", "across_systems"
COLUMNS = ["scope", "system", "other", "k", *(each.name for each in fields(Estimate))]
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Diversity:
    """Diversity of collections.

    Attributes
    ----------
    table
        A row per quality (smallest score of the texts; NaN for all texts), scope, statistic, k, and collection or pair.
        Differences are at the largest k that all collections of a scope have; p-values are adjusted (Holm) in each
        scope, for pairs with real text and without.
    threshold
        Cosine above which two texts are not different; None without vectors of the texts.
    calibration
        Source of the threshold, as a clause; "" without one.
    """

    table: pd.DataFrame
    threshold: float | None
    calibration: str


def embed_texts(texts: Sequence[Texts], encoder: str, words: int, language: str) -> list[Vectors] | None:
    """Embed the beginnings of texts, as vectors of length 1; None, with a warning, if that is not possible."""
    require_encoder(encoder)
    languages = languages_of(encoder)
    if not is_installed("models"):
        log.warning("no numbers of the meaning of texts: an encoder needs `%s`", name_command("models"))
        return None
    if languages and language not in languages:
        log.warning("no numbers of the meaning of texts: the encoder %s does not read %s", encoder, name_of(language))
        return None
    from macroscope.critics.text_encoder import TextEncoder

    beginnings = [cut_after_words(document.text, words) for each in texts for document in each.documents]
    vectors = TextEncoder(encoder, "mean").embed(beginnings)[0]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return np.split(vectors, np.cumsum([len(each.documents) for each in texts])[:-1])


def choose_threshold(real: tuple[Vectors, Integers] | None, encoder: str) -> tuple[float, str]:
    """Choose the cosine above which two texts are not different: by real texts if several are on each prompt."""
    calibrated = None if real is None else calibrate_threshold(*real)
    if calibrated is not None:
        return calibrated, "5 % of the pairs of real texts on a prompt are above it"
    if encoder != ENCODER:
        raise UsageError(
            f"the encoder {encoder!r}: no threshold of its cosines is known; give --threshold, or real texts with"
            f" several on each of {FEWEST_PROMPTS} prompts"
        )
    return THRESHOLD, "5 % of the pairs of people's messages on a subject are above it"


def find_good_texts(
    texts: Sequence[Texts], real: str | None, table: str, quality: float | None
) -> tuple[NDArray[np.bool_], float]:
    """Find the texts whose mean score reaches a quality; texts without a score do not.

    Parameters
    ----------
    quality
        Smallest score of a good text; None: the median of the real texts or, if they are not rated, of all.

    Returns
    -------
    is_good
        Whether each text does, of one collection after another.
    quality
        Smallest score of a good text.
    """
    ratings = read_ratings(table)
    if ratings["question"].nunique() > 1 or (ratings["against"] != "").any():
        raise MacroscopeError(f"{table}: ratings of several questions, or of pairs of texts; keep the scores of one")
    scores = ratings.groupby(["system", "document"])["score"].mean().to_dict()
    score_of_texts = np.array([scores.get((each.name, d.id), np.nan) for each in texts for d in each.documents])
    is_real = np.repeat([each.name == real for each in texts], [len(each.documents) for each in texts])
    is_rated = ~np.isnan(score_of_texts)
    if not is_rated.any():
        names = list_names([each.name for each in texts])
        raise MacroscopeError(
            f"{table}: no score of these texts; 'system' has one of {names}, 'document' the text's id"
        )
    if not is_rated.all():
        missing = format_count(int((~is_rated).sum()), "text")
        log.warning("%s: %s without a score, which do not count as good", table, missing)
    if quality is None:
        decisive = is_rated & is_real if (is_rated & is_real).any() else is_rated
        quality = float(np.median(score_of_texts[decisive]))
    return score_of_texts >= quality, quality


def measure_diversity(
    texts: Sequence[Texts],
    vectors: Sequence[Vectors] | None,
    real: str | None,
    threshold: tuple[float, str] | None,
    good: tuple[NDArray[np.bool_], float] | None,
    words: int,
    language: str,
    seed: int,
) -> Diversity:
    """Measure the diversity of collections, of all texts and of good ones.

    Parameters
    ----------
    real
        Name of the real texts; None if there are none.
    threshold, good
        Results of `choose_threshold` and `find_good_texts`; None without vectors, or ratings.
    """
    rows = [
        (each.name, prompt, cut_after_words(document.text, words))
        for each in texts
        for document, prompt in zip(each.documents, each.prompts.tolist(), strict=True)
    ]
    pool = pd.DataFrame(rows, columns=["system", "prompt", "text"])
    if threshold is not None and vectors is not None:
        pool["vector"] = [*np.concatenate(vectors)]
    limit, calibration = threshold or (None, "")
    tables = [_measure_pool(pool, real, limit, language, seed).assign(quality=np.nan)]
    if good is not None:
        tables.append(_measure_pool(pool[good[0]], real, limit, language, seed).assign(quality=good[1]))
    return Diversity(pd.concat(tables, ignore_index=True), limit, calibration)


def _measure_pool(
    pool: pd.DataFrame, real: str | None, threshold: float | None, language: str, seed: int
) -> pd.DataFrame:
    rows = []
    groups = [*_list_groups(pool, real)]
    for scope in dict.fromkeys(scope for scope, _, _ in groups):
        of_scope = {system: texts for each, system, texts in groups if each == scope}
        k = min(map(_largest_size, of_scope.values()))
        terms = {name: _measure(texts, scope, k, threshold, language, seed) for name, texts in of_scope.items()}
        for system, measured in terms.items():
            for (name, size), term in measured.items():
                rows.append((scope, system, system, size, estimate_jackknifed(name, term, CONFIDENCE)))
        for first, second in combinations(terms, 2):
            for (name, size), term in terms[first].items():
                if size == k:
                    subtracted = terms[second][name, k]
                    difference = estimate_difference(f"{name}{DIFFERENCE}", term, subtracted, CONFIDENCE)
                    rows.append((scope, first, second, k, difference))
    table = pd.DataFrame([(*row[:4], *asdict(row[4]).values()) for row in rows], columns=COLUMNS)
    family = table["scope"] + table[["system", "other"]].eq(real).any(axis=1).astype(str)
    table["p_adjusted"] = table.groupby(family)["p_value"].transform(holm)
    return table[table["value"].notna()].reset_index(drop=True)


def _list_groups(pool: pd.DataFrame, real: str | None) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield scope, name and texts that have two to compare, with the arguments of `make_sets` as columns."""
    for system, texts in pool.groupby("system", sort=False):
        several = texts[texts.groupby("prompt")["text"].transform("size") > 1]
        if len(several):
            is_few = several["prompt"].nunique() < FEWEST_PROMPTS
            units = pool["prompt"].max() + 1 + several.index if is_few else several["prompt"]
            yield SAME_PROMPT, str(system), several.assign(stratum=several["prompt"], part=several.index, unit=units)
        if texts["prompt"].nunique() > 1:
            yield OTHER_PROMPTS, str(system), texts.assign(stratum=0, part=texts["prompt"], unit=texts["prompt"])
    judged = pool[pool["system"] != real]
    judged = judged[judged.groupby("prompt")["system"].transform("nunique") > 1]
    if len(judged):
        parts = pd.factorize(judged["system"])[0]
        yield ACROSS_SYSTEMS, ALL_SYSTEMS, judged.assign(stratum=judged["prompt"], part=parts, unit=judged["prompt"])


def _largest_size(texts: pd.DataFrame) -> int:
    """Return the largest k: half of the strata or more have as many parts, and for a jackknife over them twice k."""
    sizes = texts.groupby("stratum")["part"].nunique().sort_values(ascending=False)
    size = int(sizes.iloc[(len(sizes) - 1) // 2])
    is_over_parts = texts["unit"].nunique() > len(sizes) and sizes.iloc[-1] >= FEWEST_PROMPTS
    return min(MOST_TEXTS, size // 2 if is_over_parts else size)


def _measure(
    texts: pd.DataFrame, scope: str, k: int, threshold: float | None, language: str, seed: int
) -> dict[tuple[str, int], Jackknifed]:
    """Measure (statistic, size) of a group: self-BLEU at one size, others up to the largest."""
    terms = {}
    rng = np.random.default_rng(seed)
    strata, parts, units = (texts[name].to_numpy() for name in ("stratum", "part", "unit"))
    if threshold is not None:
        most = _largest_size(texts)
        orders, of_sets = make_sets(strata, parts, units, most, SETS_PER_UNIT, rng)
        for name, values in measure_sets(np.stack([*texts["vector"]]), orders, threshold).items():
            for size in range(2, most + 1):
                bounds = (1.0, float(size))
                terms[name, size] = jackknife_sets(values[:, size - 1], orders[:, :size], of_sets, units, bounds)
    if is_installed("models"):
        if scope == OTHER_PROMPTS:  # disjoint sets of prompts, the same ones in all collections that have these prompts
            prompts, numbers = np.unique(parts, return_inverse=True)
            blocks = np.random.default_rng(seed).permutation(len(prompts)) // k
            first = np.array([prompts[blocks == block].min() for block in range(blocks.max() + 1)])
            strata = first[blocks][numbers]
        orders, of_sets = make_sets(strata, parts, strata, k, 1, rng)
        is_whole = (orders >= 0).all(axis=1)
        orders, of_sets = orders[is_whole][:MOST_BLEU_SETS], of_sets[is_whole][:MOST_BLEU_SETS]
        values = _self_bleu(texts["text"].to_numpy()[orders].tolist(), language)
        terms[SELF_BLEU, k] = jackknife_sets(values, orders, of_sets, strata, (0.0, 100.0))
    return terms


def _self_bleu(sets: Sequence[list[str]], language: str) -> NDArray[np.float64]:
    """Compute self-BLEU (Zhu et al. 2018) of sets of texts by sacreBLEU's score of sentences."""
    from sacrebleu import BLEU

    has_spaces = language not in LANGUAGES or LANGUAGES[language].has_spaces
    bleu = BLEU(effective_order=True, tokenize="13a" if has_spaces else "char")
    scores = [[bleu.sentence_score(t, [*s[:at], *s[at + 1 :]]).score for at, t in enumerate(s)] for s in sets]
    return np.round([np.mean(each) for each in scores], 9)  # that of equal texts is 100, and not more

"""Phrases and openings that a system's texts repeat on more prompts than real texts do.

Every text counts with three passages of equal length, its beginning, middle and end, so that long texts do not repeat
more by length alone. Phrases are counted level by level: those of n + 1 words are those of n words that are frequent
enough, with the next word. Time and memory grow with the number of words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from macroscope.statistics.p_values import benjamini_hochberg

Integers = NDArray[np.int64]
SHORTEST, LONGEST = 3, 8
"""Numbers of words of the shortest and the longest phrase."""
LONGEST_OPENING = 6
PLACES = ("beginning", "middle", "end")
ANYWHERE = "anywhere"
MOST_IN_PLACE = 2 / 3
"""Share of a phrase's occurrences from which a passage is its place."""
FEWEST_REPEATS = 3
"""Number of prompts below which a phrase is not repeated."""
LEAST_SHARE = 0.05
"""Share of a system's prompts from which a phrase is listed if there are no real texts."""
MOST_EVIDENCE = 0.001
"""Phrases whose smallest possible p-value is larger are not tested. It depends on the sum of both counts alone, so that
the tests of the others stay valid (Tarone 1990)."""
SIGNIFICANT = 0.05
SYSTEM, REAL, PROMPT = range(3)
COLUMNS = [
    *("kind", "phrase", "words", "prompts", "share", "texts", "real_prompts", "real_share"),
    *("p_value", "p_adjusted", "place", "position"),
]


@dataclass(frozen=True)
class Words:
    """Words of the passages of texts, one after the other.

    Attributes
    ----------
    codes
        Number of each word; -1 between passages.
    text
        Number of the text of each word.
    prompt
        Number of the prompt of each word.
    group
        `SYSTEM`, `REAL`, or `PROMPT` for the words of the prompts themselves.
    place
        Index in `PLACES` of the passage of each word.
    position
        Place of each word in its whole text, in [0, 1].
    is_first
        Whether a word is the first of its text.
    """

    codes: Integers
    text: Integers
    prompt: Integers
    group: Integers
    place: Integers
    position: NDArray[np.float64]
    is_first: NDArray[np.bool_]


def take_words(texts: Sequence[Integers], prompts: Sequence[int], group: int, words: int, first_text: int) -> Words:
    """Take three passages of `words` // 3 words of each text: beginning, middle and end; prompts as a whole."""
    parts: list[tuple[NDArray[Any], ...]] = []
    for number, (codes, prompt) in enumerate(zip(texts, prompts, strict=True)):
        length = len(codes) if group == PROMPT else words // len(PLACES)
        starts = [0] if group == PROMPT else [0, max(0, (len(codes) - length) // 2), max(0, len(codes) - length)]
        for place, start in enumerate(starts):
            indices = np.arange(start, min(start + length, len(codes)))
            taken = np.append(codes[indices], -1)
            size = len(taken)
            parts.append(
                (
                    taken,
                    np.full(size, first_text + number),
                    np.full(size, prompt),
                    np.full(size, place),
                    np.append(indices, len(codes)) / max(1, len(codes) - 1),
                    np.arange(start, start + size),
                )
            )
    codes, text, prompt_of, place_of, position, index = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Words(codes, text, prompt_of, np.full(len(codes), group), place_of, position, index == 0)


def join_words(parts: Sequence[Words]) -> Words:
    """Join the words of several groups."""
    names = Words.__dataclass_fields__
    return Words(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def find_phrases(words: Words, vocabulary: Sequence[str]) -> tuple[pd.DataFrame, int]:
    """Find the phrases and the openings that a system repeats, the longest of nested ones.

    Parameters
    ----------
    words
        Words of a system's texts, of real texts if there are any, and of prompts. A phrase that a prompt has does not
        count for it.
    vocabulary
        Word of each number.

    Returns
    -------
    table
        Columns `COLUMNS`: the most prompts first. With real texts, those with an adjusted p-value of at most
        `SIGNIFICANT` (Fisher's exact test of one side; Benjamini and Hochberg, for phrases and openings each); without,
        those on `LEAST_SHARE` of the prompts.
    tests
        Number of phrases and openings that were tested.
    """
    tables, tests = [], 0
    for kind, shortest, longest, begins in (
        ("opening", 1, LONGEST_OPENING, words.is_first),
        ("phrase", SHORTEST, LONGEST, np.ones(len(words.codes), dtype=bool)),
    ):
        counted = _count_phrases(words, begins, shortest, longest)
        tests += int(counted["p_value"].notna().sum())
        chosen = _drop_nested(_choose(counted), words.codes)
        tables.append(_describe(chosen, words, vocabulary, begins).assign(kind=kind))
    table = pd.concat(tables, ignore_index=True)
    return table.sort_values(["kind", "prompts", "words"], ascending=[True, False, False], kind="stable")[
        COLUMNS
    ], tests


def _count_phrases(words: Words, begins: NDArray[np.bool_], shortest: int, longest: int) -> pd.DataFrame:
    """Count the prompts of all phrases that begin at certain words, if there may be evidence for them.

    Returns
    -------
    Columns words, at (index of an occurrence in a text), prompts, real_prompts, share, real_share, p_value, p_adjusted.
    """
    sizes = [len(np.unique(words.prompt[words.group == group])) for group in (SYSTEM, REAL)]
    fewest = _find_fewest(*sizes)
    labels = np.where(begins | (words.group == PROMPT), words.codes, -1)
    rows: list[pd.DataFrame] = []
    for number in range(1, longest + 1):
        if number > 1:
            labels = _add_word(labels, words.codes, number - 1)
        counts, at = _count_prompts(words, labels)
        is_frequent = counts.sum(axis=1) >= fewest
        if number >= shortest:
            columns = {"words": number, "at": at, "prompts": counts[:, 0], "real_prompts": counts[:, 1]}
            rows.append(pd.DataFrame(columns)[is_frequent])
        labels = np.where(np.append(is_frequent, False)[labels], labels, -1)  # -1 is the last one
    table = pd.concat(rows, ignore_index=True)
    table["share"] = table["prompts"] / sizes[0]
    table["real_share"] = table["real_prompts"] / sizes[1] if sizes[1] else np.nan
    table["p_value"] = _test(table["prompts"], table["real_prompts"], *sizes) if sizes[1] else np.nan
    table["p_adjusted"] = benjamini_hochberg(table["p_value"])
    return table


def _add_word(labels: Integers, codes: Integers, words: int) -> Integers:
    """Number the phrases with one more word; -1 if there is none in the passage."""
    following = np.append(codes[words:], np.full(words, -1))
    is_phrase = (labels >= 0) & (following >= 0)
    longer = np.full(len(labels), -1)
    width = int(codes.max(initial=0)) + 1
    longer[is_phrase] = np.unique(labels[is_phrase] * width + following[is_phrase], return_inverse=True)[1]
    return longer


def _count_prompts(words: Words, labels: Integers) -> tuple[Integers, Integers]:
    """Count the system's and the real texts' prompts of each phrase, and return an occurrence of each in a text.

    A phrase does not count for a prompt that has it.
    """
    number, width = int(labels.max(initial=-1)) + 1, int(words.prompt.max(initial=0)) + 1
    in_texts = np.flatnonzero((labels >= 0) & (words.group != PROMPT))
    pairs = labels * width + words.prompt
    of_prompts = np.unique(pairs[(labels >= 0) & (words.group == PROMPT)])
    counted = in_texts[~np.isin(pairs[in_texts], of_prompts)]
    counts = np.zeros((number, 2), dtype=np.int64)
    for group in (SYSTEM, REAL):
        distinct = np.unique(pairs[counted[words.group[counted] == group]])
        counts[:, group] = np.bincount(distinct // width, minlength=number)
    at = np.zeros(number, dtype=np.int64)
    at[labels[in_texts[::-1]]] = in_texts[::-1]
    return counts, at


def _find_fewest(prompts: int, real_prompts: int) -> int:
    """Return the smallest sum of both counts with which a phrase of the system alone is evidence enough."""
    if not real_prompts:
        return max(FEWEST_REPEATS, int(np.ceil(LEAST_SHARE * prompts)))
    sums = np.arange(FEWEST_REPEATS, prompts + 1)
    is_enough = _test(sums, 0 * sums, prompts, real_prompts) <= MOST_EVIDENCE
    return int(sums[is_enough][0]) if is_enough.any() else prompts + 1


def _test(counts: ArrayLike, real_counts: ArrayLike, prompts: int, real_prompts: int) -> NDArray[np.float64]:
    """Return p-values of Fisher's exact test: that the system has a phrase on no larger share of prompts."""
    from scipy.stats import hypergeom  # slow to import

    k, m = np.asarray(counts), np.asarray(real_counts)
    return np.asarray(hypergeom.sf(k - 1, prompts + real_prompts, k + m, prompts))


def _choose(counted: pd.DataFrame) -> pd.DataFrame:
    is_chosen = counted["prompts"] >= FEWEST_REPEATS
    if counted["p_adjusted"].notna().any():
        is_chosen &= counted["p_adjusted"] <= SIGNIFICANT
    return counted[is_chosen].reset_index(drop=True)


def _drop_nested(chosen: pd.DataFrame, codes: Integers) -> pd.DataFrame:
    """Drop one of each two nested phrases: the shorter one if most of its prompts have the longer, else the longer."""
    places = zip(chosen["at"], chosen["words"], strict=True)
    prompts = {tuple(codes[at : at + n]): count for (at, n), count in zip(places, chosen["prompts"], strict=True)}
    dropped: set[tuple[int, ...]] = set()
    for phrase, count in prompts.items():
        for n in range(1, len(phrase)):
            for start in range(len(phrase) - n + 1):
                part = phrase[start : start + n]
                if part in prompts:
                    dropped.add(part if 2 * count > prompts[part] else phrase)
    is_kept = np.array([phrase not in dropped for phrase in prompts], dtype=bool)
    return chosen[is_kept].reset_index(drop=True)


def _describe(chosen: pd.DataFrame, words: Words, vocabulary: Sequence[str], begins: NDArray[np.bool_]) -> pd.DataFrame:
    """Add the words of phrases, the number of the system's texts with them, and their place in these texts."""
    codes, may_begin = words.codes, begins & (words.group == SYSTEM)
    rows = []
    for at, number in zip(chosen["at"], chosen["words"], strict=True):
        phrase = codes[at : at + number]
        starts = np.flatnonzero(may_begin & (codes == phrase[0]))
        starts = starts[starts + number <= len(codes)]
        for offset in range(1, number):
            starts = starts[codes[starts + offset] == phrase[offset]]
        shares = np.bincount(words.place[starts], minlength=len(PLACES)) / len(starts)
        place = PLACES[int(shares.argmax())] if shares.max() >= MOST_IN_PLACE else ANYWHERE
        text = " ".join(vocabulary[code] for code in phrase)
        rows.append((text, len(np.unique(words.text[starts])), place, float(np.median(words.position[starts]))))
    described = pd.DataFrame(rows, columns=["phrase", "texts", "place", "position"]).astype(
        {"texts": int, "position": float}
    )
    return pd.concat([chosen, described], axis=1)

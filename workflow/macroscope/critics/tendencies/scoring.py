"""Attribution of `tendencies`: distance of a text's numbers from those of real text, and its repeated passages."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.attributions import Array, Attribution, Span, write_attributions
from macroscope.critics.course import CourseInputs, Follow
from macroscope.critics.latents import read_latents
from macroscope.critics.tendencies.features import number_pairs
from macroscope.critics.tendencies.latents import FEATURES, LATENTS, PER_TEXT, compute_text_numbers
from macroscope.documents import Collection, Document, in_batches
from macroscope.natural_language.tokens import Batch, make_tokenizer
from macroscope.statistics.document_groups import Integers

REPEATED = "duplicate_4grams"
LENGTH = 4
"""Smallest number of consecutive words in a marked repetition."""
MIN_PERCENTILE = 0.95
"""Share of real documents that a document must exceed in repetition for its repetitions to be marked."""
_TOKEN = re.compile(r"\w+")


def attribute(texts: Collection, latents: Path, control_latents: Path, *, output: Path) -> None:
    """Score documents by the distance of their numbers, and mark their repetitions; see `critics.attributions`."""
    numbers, real = _read_numbers(latents), _read_numbers(control_latents)
    scores = distances(numbers, real).groupby(level=0).mean()
    repeated, real_repeated = (table[REPEATED].groupby(level=0).mean() for table in (numbers, real))
    repeated = repeated.dropna()  # NaN: too short to repeat anything
    ranks = np.searchsorted(np.sort(real_repeated.dropna()), repeated)
    percentiles = pd.Series(ranks / max(1, real_repeated.count()), repeated.index)
    rows = (
        Attribution(document.id, scores.get(document.id, np.nan), _mark(document, percentiles.get(document.id, 0.0)))
        for document in texts
    )
    write_attributions(rows, output)


def distances(numbers: pd.DataFrame, real: pd.DataFrame) -> pd.Series:
    """Compute the mean over a text's numbers of |2 F - 1|, with F the mid-rank of each number among real texts.

    F is the share of real texts below the number, plus half of those equal to it. The mean is 0 if all numbers are
    medians of real text, and 1 if all are beyond any real text. NaN for a text without numbers.

    A text is not compared with the real document of its own id, be it itself or its damaged copy's original. A text
    among those that it is compared with would have smaller distances than a new one.

    Parameters
    ----------
    numbers, real
        Columns `PER_TEXT`, indexed by the id of the text's document.
    """
    ids = pd.Index(real.index.unique())
    groups, real_groups = ids.get_indexer(numbers.index), ids.get_indexer(real.index)
    by_name = {}
    for name in PER_TEXT:
        values, real_values = numbers[name].to_numpy(float), real[name].to_numpy(float)
        is_defined = np.isfinite(real_values)
        real_values, groups_of_values = real_values[is_defined], real_groups[is_defined]
        among_all = _count(values, 0 * groups, real_values, 0 * groups_of_values)
        below, within, others = among_all - _count(values, groups, real_values, groups_of_values)
        share = (below + within) / (2 * np.maximum(1, others))
        by_name[name] = np.where(np.isnan(values) | (others <= 0), np.nan, np.abs(2 * share - 1))
    return pd.DataFrame(by_name, numbers.index).mean(axis=1)


def _count(values: Array, groups: Integers, real_values: Array, real_groups: Integers) -> Integers:
    """Count, for each value, the real values of its group that are below it, up to it, and in all (3 x values)."""
    levels = np.unique(real_values)
    width = len(levels) + 1
    keys = np.sort(real_groups * width + np.searchsorted(levels, real_values))
    below, within = (np.searchsorted(levels, values, side=edge) for edge in ("left", "right"))
    places = np.stack([below, within, np.full_like(below, width)])
    return np.searchsorted(keys, groups * width + places) - np.searchsorted(keys, groups * width)


def find_repetitions(document: Document) -> Iterator[tuple[Span, int]]:
    """Yield spans of words in sequences of `LENGTH` words that occurred before, and their lengths in words.

    A repetition across sections has one span per section; the length is that of the whole repetition.
    """
    tokens = [
        (number, match.start(), match.end(), match.group().lower())
        for number, section in enumerate(document.sections)
        for match in _TOKEN.finditer(section.text)
    ]
    again, seen = np.zeros(len(tokens) + 1, dtype=bool), set()
    for start in range(len(tokens) - LENGTH + 1):
        words = tuple(token[3] for token in tokens[start : start + LENGTH])
        again[start : start + LENGTH] |= words in seen
        seen.add(words)
    edges = np.flatnonzero(np.diff(again.astype(np.int8), prepend=0))
    for first, end in edges.reshape(-1, 2).tolist():
        for section in sorted({token[0] for token in tokens[first:end]}):
            inside = [token for token in tokens[first:end] if token[0] == section]
            yield (section, inside[0][1], inside[-1][2]), end - first


def _mark(document: Document, percentile: float) -> list[tuple[Span, float, str]]:
    if not percentile > MIN_PERCENTILE:
        return []
    note = "{} consecutive words that occur earlier in the text"
    return [(span, percentile, note.format(words)) for span, words in find_repetitions(document)]


def _read_numbers(latents: Path) -> pd.DataFrame:
    """Read the numbers of every text, indexed by the id of its document."""
    table = read_latents(latents, LATENTS, ["id", *FEATURES]).to_pandas()
    return compute_text_numbers(table).set_index(table["id"])


# ---- course ----------------------------------------------------------------------------------------------------------

_AT_ONCE = 256


def follow(inputs: CourseInputs) -> Follow:
    """Return the function that marks repeated sequences of words, and new words; see `critics.course`."""
    options = inputs.options
    tokenize = make_tokenizer(options.language_pipeline or options.language or inputs.language)

    def values(documents: Iterable[Document], latents: Path) -> Iterator[Array]:
        for part in in_batches(documents, _AT_ONCE):
            batch = tokenize([document.text for document in part])
            yield from np.split(mark_words(batch), np.cumsum(batch.lengths)[:-1], axis=1)

    return values


def mark_words(batch: Batch) -> Array:
    """Return whether each token ends a sequence of four that its text has had before, and whether it is new there.

    Returns
    -------
    array
        2 x tokens of all texts: 1 or 0.
    """
    tokens = number_pairs(batch.texts, batch.ids)  # those of different texts have different numbers
    pairs = number_pairs(tokens[:-1], tokens[1:])
    sequences = number_pairs(pairs[:-2], pairs[2:])
    marks = np.zeros((2, len(tokens)))
    marks[0, len(tokens) - len(sequences) :] = pd.Series(sequences).duplicated()
    marks[1] = ~pd.Series(tokens).duplicated()
    return marks

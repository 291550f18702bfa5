"""Groups of documents that are not independent: texts of one prompt, and paired documents of two samples; their keys.

Texts that a system generates from one prompt are alike. They count as independent nowhere: sums over documents are
resampled and permuted by prompt (`Units`), classifiers are trained and tested on different prompts, and all other
statistics compare the first text of each prompt (`find_repeats`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from macroscope.document_keys import is_pseudonym, key_of_text, pseudonym_of_id, pseudonym_of_key, shared_id, split_key
from macroscope.statistics.document_features import Sample

ID, OPENING = "id", "opening"
KEYS = (ID, OPENING)
"""Columns by which documents are paired."""
FEWEST_PROMPTS = 10
"""Number of prompts from which on results are about prompts like these, and not about texts of these prompts alone."""


def read_keys(path: Path) -> pd.DataFrame:
    """Read the `KEYS` of the documents of a Parquet file of latents, as far as it has them."""
    columns = [name for name in KEYS if name in pq.read_schema(path).names]
    return pd.read_parquet(path, columns=columns)


Integers: TypeAlias = NDArray[np.int64]


def group_labels(first: pd.DataFrame, second: pd.DataFrame, keys: Sequence[str] = KEYS) -> tuple[Integers, Integers]:
    """Return the group of each row of both tables, numbered from 0; rows that share a value of a key are in one group.

    Of an id, the part counts that texts of a prompt share (`document_keys.shared_id`). Missing and empty values, and
    columns that only one table has, link no rows. A prompt links all of its rows, unless a table has fewer prompts than
    `FEWEST_PROMPTS` and several texts of some. An opening links rows only if it occurs for one prompt of each table: a
    text that a system repeats, or a heading that all texts share, pairs no documents. Rows of the same table are linked
    as well, and so are rows that share values with a common third row.
    """
    rows = np.arange(len(first) + len(second))
    size, links = len(rows), []
    for name in keys:
        if name in first and name in second:
            for codes in _codes(first, second, name):
                has_value = codes >= 0
                links.append((rows[has_value], size + codes[has_value]))
                size += int(codes.max(initial=-1)) + 1
    ends = np.concatenate(links, axis=1) if links else np.empty((2, 0), dtype=np.int64)
    graph = sparse.coo_matrix((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(size, size))
    groups = np.unique(connected_components(graph, directed=False)[1][: len(rows)], return_inverse=True)[1]
    return groups[: len(first)], groups[len(first) :]


def _codes(first: pd.DataFrame, second: pd.DataFrame, name: str) -> list[Integers]:
    """Return the numbers of the values of a key, -1 for values that link no rows; see `group_labels`.

    An opening has two values, the prompt's key and the first words.
    """
    values = pd.concat(name_alike(first[name], second[name]))
    if name != OPENING:
        return [_numbers(_shared_ids(values) if name == ID else values)]
    both = [codes for codes in map(_numbers, _parts(values)) if (codes >= 0).any()]
    prompts = [prompt_labels(table) if ID in table else np.arange(len(table)) for table in (first, second)]
    for codes in both:
        n_values = int(codes.max(initial=-1)) + 1
        samples = zip((codes[: len(first)], codes[len(first) :]), prompts, strict=True)
        counts = [np.bincount(_once_per_prompt(*sample), minlength=n_values) for sample in samples]
        codes[~np.append((counts[0] == 1) & (counts[1] == 1), False)[codes]] = -1
    return both


def name_alike(first: pd.Series, second: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return two columns of one key with pseudonyms in both if one has them, as tables of a kept reference do."""
    make = {ID: pseudonym_of_id, OPENING: pseudonym_of_key}.get(str(first.name))
    if make is None or not any(map(_has_pseudonyms, (first, second))):
        return first, second
    return first.map(make, na_action="ignore"), second.map(make, na_action="ignore")


def _has_pseudonyms(values: pd.Series) -> bool:
    """Return whether a column has pseudonyms, which all of its values then are."""
    example = next((value for value in values if isinstance(value, str) and value), "")
    return is_pseudonym(example)


def _numbers(values: pd.Series) -> Integers:
    """Return the number of each value, -1 for missing and empty ones."""
    codes = np.asarray(pd.factorize(values)[0], dtype=np.int64)
    codes[(values == "").to_numpy()] = -1
    return codes


def _parts(openings: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return the prompts' keys and the first words of openings; missing ones have neither."""
    codes, distinct = pd.factorize(openings)
    prompts, first_words = zip(*map(split_key, distinct), ("", ""), strict=True)
    of_rows = [np.array(part, dtype=object)[codes] for part in (prompts, first_words)]
    return pd.Series(of_rows[0], openings.index), pd.Series(of_rows[1], openings.index)


def _once_per_prompt(codes: Integers, prompts: Integers) -> Integers:
    """Return the numbers of the openings of a table, each once for every prompt that has it."""
    has_opening = codes >= 0
    pairs = np.unique(codes[has_opening] * (prompts.max(initial=0) + 1) + prompts[has_opening])
    return np.asarray(pairs // (prompts.max(initial=0) + 1), dtype=np.int64)


def paired_groups(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """Return the groups of `group_labels` that occur in both samples, numbered from 1; 0 for unpaired rows."""
    number = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    is_shared = np.minimum(*(np.bincount(labels, minlength=number) for labels in (first, second))) > 0
    codes = np.where(is_shared, np.cumsum(is_shared), 0)
    return codes[first], codes[second]


def prompt_labels(table: pd.DataFrame) -> Integers:
    """Return the number of each row's prompt, in the order of their appearance; rows of one id have one number.

    Texts share a prompt if they have the same prompt or, without one, the same id before `document_keys.number_sample`.
    If there are fewer than `FEWEST_PROMPTS`, every text counts as one of its own: nothing is known of other prompts,
    and given these prompts their texts are independent.
    """
    return np.asarray(pd.factorize(_prompts(table), use_na_sentinel=False)[0])


def sum_by_prompt(table: pd.DataFrame, sample: Sample) -> Sample:
    """Sum a sample's numbers over the texts of each prompt, the unit of its intervals."""
    labels = prompt_labels(table)
    return _summed(sample, labels) if len(labels) > int(labels.max(initial=-1)) + 1 else sample


def find_repeats(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return whether each row is of a further text of a prompt: not of the first one in the order of the rows."""
    if ID not in table or not len(table):
        return np.zeros(len(table), dtype=bool)
    first = table[ID].groupby(prompt_labels(table)).transform("first")
    return np.asarray(table[ID].ne(first) & table[ID].notna())


def find_repeated_documents(collection: Path) -> NDArray[np.bool_]:
    """Return `find_repeats` of the documents of a Parquet file of documents, in file order."""
    columns = [name for name in (ID, "prompt") if name in pq.read_schema(collection).names]
    documents = pd.read_parquet(collection, columns=columns)
    if "prompt" in documents:
        documents[OPENING] = documents["prompt"].map(partial(key_of_text, ""), na_action="ignore")
    return find_repeats(documents)


def name_prompts(table: pd.DataFrame) -> pd.Series:
    """Return the key of each row's prompt or, without one, its id before `document_keys.number_sample`."""
    prompts = _shared_ids(table[ID])
    if OPENING in table:
        keys = _parts(table[OPENING])[0]
        prompts = prompts.where(keys == "", keys)
    return prompts


def _prompts(table: pd.DataFrame) -> pd.Series:
    prompts = name_prompts(table)
    return table[ID] if _are_too_few(prompts, table[ID]) else prompts


def _are_too_few(prompts: pd.Series, ids: pd.Series) -> bool:
    number = prompts.nunique()
    return bool(number < FEWEST_PROMPTS and number < ids.nunique())


def _shared_ids(ids: pd.Series) -> pd.Series:
    return ids if pd.api.types.is_numeric_dtype(ids) else ids.map(shared_id, na_action="ignore")


@dataclass(frozen=True)
class Units:
    """Units of a comparison of sums over documents.

    Paired documents are units of their own, since they are permuted within their group. Of the others, all texts of a
    prompt are one unit: sums over prompts are independent.

    Attributes
    ----------
    labels
        Unit of each document of both samples.
    groups
        Group of each unit of both samples, 0 if it is unpaired.
    """

    labels: tuple[Integers, Integers]
    groups: tuple[Integers, Integers]

    @classmethod
    def from_keys(cls, first: pd.DataFrame, second: pd.DataFrame, keys: Sequence[str] = KEYS) -> "Units":
        """Derive the units of two tables from the keys of their documents."""
        paired = paired_groups(*group_labels(first, second, keys))
        units = [_unit_labels(*sample) for sample in zip((first, second), paired, strict=True)]
        firsts = [np.unique(labels, return_index=True)[1] for labels in units]
        groups = [labels[rows] for labels, rows in zip(paired, firsts, strict=True)]
        return cls((units[0], units[1]), (groups[0], groups[1]))

    def sums(self, first: Sample, second: Sample) -> tuple[Sample, Sample]:
        """Sum the numbers of the documents of each unit, in both samples."""
        samples = [
            sample if len(labels) == len(groups) else _summed(sample, labels)
            for sample, labels, groups in zip((first, second), self.labels, self.groups, strict=True)
        ]
        return samples[0], samples[1]


def _unit_labels(table: pd.DataFrame, paired: Integers) -> Integers:
    """Return the unit of each row, numbered in the order of their appearance."""
    if ID not in table:
        return np.arange(len(table))
    prompts = prompt_labels(table)
    labels = np.where(paired > 0, len(table) + np.arange(len(table)), prompts)
    return np.asarray(pd.factorize(labels)[0], dtype=np.int64)


def _summed(sample: Sample, labels: Integers) -> Sample:
    y, x = (np.bincount(labels, np.asarray(numbers, dtype=float)) for numbers in sample)
    return y, x

"""The stages `follow` and `course`: how measures change along the texts, and whether they do so in real text.

A critic declares in its `Course` a function that yields the values of consecutive pieces of each document: of words, of
sentences or of mentions. All else is here and in `statistics.courses`. Documents with fewer pieces than declared have
no course; they are counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from macroscope.critics import get_critic
from macroscope.critics.cross_fitting import first_fold
from macroscope.critics.declaration import Course
from macroscope.critics.features import subsample
from macroscope.documents import Collection, Document
from macroscope.files import atomic
from macroscope.options import CONTROL, SPLIT_HALF, Resampling, reference_of
from macroscope.stages import load
from macroscope.statistics.courses import FEWEST, TENTHS, Courses, average_by_tenth, compare_courses, estimate_curves
from macroscope.statistics.document_features import Array
from macroscope.statistics.document_groups import read_keys
from macroscope.statistics.tidy import NO_PAIRS, find_pairs, rows_table, tidy_table, write_tidy

_CURVE = "curve"
"""Column of a document's curves, one measure after the other; null if it has too few pieces."""
MOST = 1000
"""Largest number of documents of a system whose courses are computed, sampled at random."""


@dataclass(frozen=True)
class CourseInputs:
    """Inputs of a critic's function, besides a system's documents.

    Attributes
    ----------
    language
        Language of the corpus.
    options
        Options of the critic that its stage uses.
    real_latents
        Latents of the real texts, if the stage reads them.
    inference, prior
        Outputs of the stages `train` and `fit_prior`, if the stage reads them.
    """

    language: str
    options: Any
    real_latents: Path | None
    inference: Path | None
    prior: Path | None


Follow = Callable[[Iterable[Document], Path], Iterator[Array]]
"""Function of a system's documents and the path of their latents, in the same order: values of each document (measures
x pieces). Documents are read if they are iterated over."""
Follower = Callable[[CourseInputs], Follow]
"""Function that a critic declares (`Course.follow`); what all systems need is prepared once."""


def follow_texts(
    texts: Collection,
    latents: Path,
    real_latents: Path | None = None,
    inference: Path | None = None,
    prior: Path | None = None,
    *,
    critic: str,
    language: str,
    resampling: Resampling,
    options: Any = None,
    output: Path,
) -> None:
    """Run the stage `follow`: the courses of a system's documents with enough pieces, of at most `MOST`.

    If a critic is cross-fitted, what it learned for the first fold is for documents of this fold.
    """
    course, package = _declared(critic)
    follow: Follow = load(course.follow, package)(CourseInputs(language, options, real_latents, inference, prior))
    by_fold = inference is not None or prior is not None
    with (
        first_fold({"latents": latents} if by_fold else {}) as selected,
        subsample(selected.get("latents", latents), None, resampling.seed, MOST) as (path, _),
    ):
        keys = read_keys(path).drop_duplicates("id", ignore_index=True)
        chosen = set(keys["id"])
        documents = (document for document in texts if document.id in chosen)
        curves = np.full((len(keys), len(course.measures), TENTHS), np.nan)
        for number, values in enumerate(follow(documents, path)):
            if values.shape[1] >= course.fewest:
                curves[number] = average_by_tenth(values)
    rows = [curve.ravel() if np.isfinite(curve).all() else None for curve in curves]
    table = pa.Table.from_pandas(keys, preserve_index=False)
    with atomic(output) as temporary:
        pq.write_table(table.append_column(_CURVE, pa.array(rows, pa.list_(pa.float64()))), temporary)


def write_courses(
    all_courses: Sequence[Path],
    *,
    critic: str,
    systems: Sequence[str],
    corpus: str,
    signature: str,
    resampling: Resampling,
    output: Path,
) -> None:
    """Run the stage `course`: the curves of every system, and their comparison with those of real texts.

    The statistics are those of `statistics.courses`. For the control, one half is compared with the other, as the
    system `SPLIT_HALF`; texts at matched length are compared with the real ones at this length.

    Parameters
    ----------
    all_courses
        What the stage `follow` wrote for all systems, in the order of `systems`.
    """
    course, _ = _declared(critic)
    read = [_read_courses(path, len(course.measures)) for path in all_courses]
    followed = dict(zip(systems, read, strict=True))
    references = {reference_of(system) for system in systems}
    tidy = partial(tidy_table, corpus=corpus, critic=critic, signature=signature, resampling=resampling)
    tables = []
    for system, (courses, total) in followed.items():
        pairing, name = NO_PAIRS, system
        if system == CONTROL:
            numbers = np.arange(len(courses))
            reference, candidate, name = courses.subset(numbers[1::2]), courses.subset(numbers[::2]), SPLIT_HALF
        elif system in references:
            continue
        else:
            reference, candidate = followed[reference_of(system)][0], courses
            pairing = find_pairs(reference.keys, candidate.keys, system)
        curves = estimate_curves(courses, list(course.measures), resampling)
        tables.append(tidy(rows_table(curves, (0, len(courses)), str), system=system))
        estimates = compare_courses(reference, candidate, list(course.measures), resampling)
        reason = f"{len(courses):,} of {total:,} texts, and {len(reference):,} real ones, have {course.fewest}"
        reason += f" {course.pieces} or more; a course needs {FEWEST} prompts on each side"
        rows = rows_table(estimates, (len(reference), len(candidate)), reason.format)
        tables.append(tidy(rows, system=name, pairing=pairing))
    write_tidy(pd.concat(tables, ignore_index=True), output)


def _declared(critic: str) -> tuple[Course, str]:
    """Return the declaration of a critic's courses, and the critic's package."""
    plugin = get_critic(critic)
    assert plugin.data.course is not None
    return plugin.data.course, plugin.package


def _read_courses(path: Path, measures: int) -> tuple[Courses, int]:
    """Read the courses of the documents that have one, and the number of all documents."""
    table = pq.read_table(path)
    followed = table.filter(pc.is_valid(table[_CURVE]))
    curves = np.array(followed[_CURVE].to_pylist(), dtype=float).reshape(-1, measures, TENTHS)
    return Courses(followed.drop_columns([_CURVE]).to_pandas(), curves), len(table)

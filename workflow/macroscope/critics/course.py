"""The stage `course`: how a critic's measures change along the texts, and whether they do so in real text.

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

from macroscope.critics import get_critic
from macroscope.critics.cross_fitting import first_fold
from macroscope.critics.declaration import Course
from macroscope.critics.features import subsample
from macroscope.documents import Collection, Document, is_without_texts
from macroscope.options import CONTROL, SPLIT_HALF, Resampling, reference_of
from macroscope.stages import load
from macroscope.statistics.courses import (
    FEWEST,
    TENTHS,
    Courses,
    average_by_tenth,
    compare_courses,
    estimate_curves,
)
from macroscope.statistics.document_features import Array
from macroscope.statistics.document_groups import read_keys
from macroscope.statistics.tidy import NO_PAIRS, find_pairs, rows_table, tidy_table, write_tidy

MOST = 1000
"""Largest number of documents of a system whose courses are computed, sampled at random."""


@dataclass(frozen=True)
class CourseInputs:
    """Inputs of a critic's function, besides a system's documents.

    Attributes
    ----------
    real_latents
        Latents of the real texts.
    language
        Language of the corpus.
    options
        Options of the critic that its stage uses.
    inference, prior
        Outputs of the stages `train` and `fit_prior`, if the stage reads them.
    """

    real_latents: Path
    language: str
    options: Any
    inference: Path | None
    prior: Path | None


Follow = Callable[[Iterable[Document], Path], Iterator[Array]]
"""Function of a system's documents and the path of their latents, in the same order: values of each document (measures
x pieces). Documents are read if they are iterated over."""
Follower = Callable[[CourseInputs], Follow]
"""Function that a critic declares (`Course.follow`); what all systems need is prepared once."""


def write_courses(
    all_texts: Sequence[Path],
    all_latents: Sequence[Path],
    inference: Path | None = None,
    prior: Path | None = None,
    *,
    critic: str,
    systems: Sequence[str],
    corpus: str,
    language: str,
    signature: str,
    resampling: Resampling,
    options: Any = None,
    output: Path,
) -> None:
    """Run the stage `course`: the curves of every system, and their comparison with those of real texts.

    The statistics are those of `statistics.courses`. For the control, one half is compared with the other, as the
    system `SPLIT_HALF`; texts at matched length are compared with the real ones at this length.

    Parameters
    ----------
    all_texts, all_latents
        Texts and latents of all systems, in the order of `systems`.
    """
    plugin = get_critic(critic)
    course = plugin.data.course
    assert course is not None
    files = dict(zip(systems, zip(all_texts, all_latents, strict=True), strict=True))
    inputs = CourseInputs(files[CONTROL][1], language, options, inference, prior)
    follow: Follow = load(course.follow, plugin.package)(inputs)
    by_fold = inference is not None or prior is not None
    followed = {system: _follow(*paths, follow, course, by_fold, resampling.seed) for system, paths in files.items()}
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
        if is_without_texts(files[reference_of(system)][0]):
            reason = "a course needs the real texts, and the kept reference is without them"
        rows = rows_table(estimates, (len(reference), len(candidate)), reason.format)
        tables.append(tidy(rows, system=name, pairing=pairing))
    write_tidy(pd.concat(tables, ignore_index=True), output)


def _follow(
    texts: Path, latents: Path, follow: Follow, course: Course, by_fold: bool, seed: int
) -> tuple[Courses, int]:
    """Return the courses of the documents with enough pieces, of at most `MOST`, and the number of all of these.

    If a critic is cross-fitted, what it learned for the first fold is for documents of this fold.
    """
    with (
        first_fold({"latents": latents} if by_fold else {}) as selected,
        subsample(selected.get("latents", latents), None, seed, MOST) as (path, _),
    ):
        keys = read_keys(path).drop_duplicates("id", ignore_index=True)
        chosen = set(keys["id"])
        documents = (document for document in Collection(texts) if document.id in chosen)
        curves = np.full((len(keys), len(course.measures), TENTHS), np.nan)
        for number, values in enumerate(follow(documents, path)):
            if values.shape[1] >= course.fewest:
                curves[number] = average_by_tenth(values)
    has_course = np.flatnonzero(np.isfinite(curves).all(axis=(1, 2)))
    return Courses(keys, curves).subset(has_course), len(keys)

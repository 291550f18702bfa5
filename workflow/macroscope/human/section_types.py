"""Section types that people choose: incoherent organisations (Table 18 of deng2022), and a classifier beside people."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.human.answers import Answer
from macroscope.human.means import mean_interval
from macroscope.human.questionnaire import Questionnaire
from macroscope.statistics.latent import Resampling

COLUMN = "section_types"
Types = Mapping[tuple[str, str], list[str]]
"""(system, document) -> type of each section."""


def organisations(answers: Iterable[Answer], questionnaire: Questionnaire) -> pd.DataFrame:
    """Sequences of section types, those first that most often got the lowest answer to a question.

    Returns
    -------
    data frame
        question, organisation (types joined by " > "), lowest (times), judged (times), share, systems in which it got
        the lowest answer. Organisations that never did are left out; every time that a document was judged counts once,
        repeats do not.
    """
    found = [one for one in answers if not one.repeat]
    judged = Counter(one.types for one in found)
    rows = []
    for question in questionnaire.questions:
        least = min(question.scores.values())
        lowest = [one for one in found if question.scores[one.answers[question.name]] == least]
        counts = Counter(one.types for one in lowest)
        for types, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            systems = sorted({one.system for one in lowest if one.types == types})
            row = (question.name, " > ".join(types), count, judged[types], count / judged[types], ", ".join(systems))
            rows.append(row)
    return pd.DataFrame(rows, columns=["question", "organisation", "lowest", "judged", "share", "systems"])


def read_projections(folder: Path, systems: Iterable[str], column: str = COLUMN) -> dict[tuple[str, str], list[str]]:
    """Section types by a classifier: a Parquet file a system, `<system>.parquet`, with `id` and a column of lists.

    A document without a list, or with an empty place in it, has no projection.

    Raises
    ------
    MacroscopeError
        Where no file is there, or one has no such column, or no lists of texts in it.
    """
    found: dict[tuple[str, str], list[str]] = {}
    present = [(system, folder / f"{system}.parquet") for system in systems]
    present = [(system, path) for system, path in present if path.exists()]
    if not present:
        raise MacroscopeError(
            f"{folder}: no <system>.parquet of a system of the study; give a critic's folder of latents"
        )
    for system, path in present:
        schema = pq.read_schema(path)
        if column not in schema.names or "id" not in schema.names:
            raise MacroscopeError(
                f"{path}: no column '{column}' beside 'id'; name the one with the types of the sections"
            )
        if not _is_list_of_texts(schema.field(column).type):
            raise MacroscopeError(f"{path}: the column '{column}' holds no lists of texts, the types of the sections")
        table = pq.read_table(path, columns=["id", column])
        for name, types in zip(table["id"].to_pylist(), table[column].to_pylist(), strict=True):
            if types is not None and None not in types:
                found[system, str(name)] = types
    return found


def _is_list_of_texts(kind: pa.DataType) -> bool:
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return False
    inside = kind.value_type.value_type if pa.types.is_dictionary(kind.value_type) else kind.value_type
    return pa.types.is_string(inside) or pa.types.is_large_string(inside) or pa.types.is_null(inside)


def confusion_table(answers: Iterable[Answer], projected: Types) -> pd.DataFrame:
    """How often people chose one type where the classifier saw another: a row a system and pair, with its count."""
    counts = Counter((system, people, classifier) for system, _, _, people, classifier in _pairs(answers, projected))
    rows = [(*pair, count) for pair, count in sorted(counts.items())]
    return pd.DataFrame(rows, columns=["system", "people", "classifier", "count"])


def type_agreement(answers: list[Answer], projected: Types, resampling: Resampling) -> pd.DataFrame:
    """Share of the sections, of each system, that the classifier gives the type that people give them.

    `unmatched`: documents without a projection, or with another number of sections.
    """
    pairs = pd.DataFrame(
        [
            (system, document, annotator, float(a == b))
            for system, document, annotator, a, b in _pairs(answers, projected)
        ],
        columns=["system", "document", "annotator", "score"],
    )
    rows = []
    for system in dict.fromkeys(one.system for one in answers):
        group = pairs[pairs["system"] == system]
        asked = {one.document for one in answers if one.system == system}
        missing = len(asked) - group["document"].nunique()
        if group.empty:
            rows.append((system, np.nan, np.nan, np.nan, 0, 0, missing))
            continue
        found = mean_interval(group, [0.0, 1.0], resampling)
        rows.append((system, found.value, found.low, found.high, len(group), group["document"].nunique(), missing))
    columns = ["system", "same_type", "ci_low", "ci_high", "labels", "documents", "unmatched"]
    return pd.DataFrame(rows, columns=columns)


def _pairs(answers: Iterable[Answer], projected: Types) -> Iterable[tuple[str, str, str, str, str]]:
    """System, document, annotator, type by people and by the classifier, of each section; repeats do not count."""
    for one in answers:
        theirs = projected.get((one.system, one.document), [])
        if one.repeat or len(theirs) != len(one.types):
            continue
        for people, classifier in zip(one.types, theirs, strict=True):
            yield one.system, one.document, one.annotator, people, classifier

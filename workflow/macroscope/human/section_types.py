"""Section types chosen by people: incoherent organisations (deng2022 Table 18), and agreement with a classifier."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.errors import MacroscopeError
from macroscope.human.answers import Answer
from macroscope.human.questionnaire import Questionnaire
from macroscope.options import Resampling
from macroscope.statistics.crossed_bootstrap import mean_interval

COLUMN = "section_types"
Types = Mapping[tuple[str, str], list[str]]
"""(system, document) -> types of the sections."""


def organisations(answers: Iterable[Answer], questionnaire: Questionnaire) -> pd.DataFrame:
    """Rank sequences of section types by how often they got the lowest answer to a question.

    Returns
    -------
    data frame
        question, organisation (types joined by " > "), lowest and judged (numbers of answers), share, systems with the
        lowest answer. Organisations without a lowest answer are omitted; answers to repeated documents do not count.
    """
    first = [answer for answer in answers if not answer.repeat]
    judged = Counter(answer.types for answer in first)
    rows = []
    for question in questionnaire.questions:
        least = min(question.scores.values())
        lowest = [answer for answer in first if question.scores[answer.answers[question.name]] == least]
        counts = Counter(answer.types for answer in lowest)
        for types, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            systems = sorted({answer.system for answer in lowest if answer.types == types})
            row = (question.name, " > ".join(types), count, judged[types], count / judged[types], ", ".join(systems))
            rows.append(row)
    return pd.DataFrame(rows, columns=["question", "organisation", "lowest", "judged", "share", "systems"])


def read_projections(folder: Path, systems: Iterable[str], column: str = COLUMN) -> dict[tuple[str, str], list[str]]:
    """Read section types by a classifier: `<system>.parquet` per system, with `id` and a column of lists.

    Documents with a null list, or a null in it, have no projection.

    Parameters
    ----------
    folder
        Folder of the files, such as a critic's latents.
    systems
        Names of the systems.
    column
        Name of the column with the types.

    Raises
    ------
    MacroscopeError
        If there is no file, or one lacks the column or has other values than lists of texts in it.
    """
    projections: dict[tuple[str, str], list[str]] = {}
    present = [(system, folder / f"{system}.parquet") for system in systems]
    present = [(system, path) for system, path in present if path.exists()]
    if not present:
        raise MacroscopeError(
            f"{folder}: no <system>.parquet for any system of the study; give a critic's folder of latents"
        )
    for system, path in present:
        schema = pq.read_schema(path)
        if column not in schema.names or "id" not in schema.names:
            raise MacroscopeError(
                f"{path}: no column '{column}' beside 'id'; name the one with the types of the sections"
            )
        if not _is_list_of_texts(schema.field(column).type):
            raise MacroscopeError(
                f"{path}: the column '{column}' does not hold lists of texts; give the column of the section types"
            )
        table = pq.read_table(path, columns=["id", column])
        for name, types in zip(table["id"].to_pylist(), table[column].to_pylist(), strict=True):
            if types is not None and None not in types:
                projections[system, str(name)] = types
    return projections


def _is_list_of_texts(kind: pa.DataType) -> bool:
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return False
    inside = kind.value_type.value_type if pa.types.is_dictionary(kind.value_type) else kind.value_type
    return pa.types.is_string(inside) or pa.types.is_large_string(inside) or pa.types.is_null(inside)


def confusion_table(answers: Iterable[Answer], projected: Types) -> pd.DataFrame:
    """Count the pairs of types by people and by the classifier, per system."""
    counts = Counter((system, people, classifier) for system, _, _, people, classifier in _pairs(answers, projected))
    rows = [(*pair, count) for pair, count in sorted(counts.items())]
    return pd.DataFrame(rows, columns=["system", "people", "classifier", "count"])


def type_agreement(answers: list[Answer], projected: Types, resampling: Resampling) -> pd.DataFrame:
    """Compute the share of sections with the same type by people and by the classifier, per system.

    `unmatched` counts documents without a projection, or with another number of sections.
    """
    pairs = pd.DataFrame(
        [
            (system, document, annotator, float(a == b))
            for system, document, annotator, a, b in _pairs(answers, projected)
        ],
        columns=["system", "document", "annotator", "score"],
    )
    rows = []
    for system in dict.fromkeys(answer.system for answer in answers):
        group = pairs[pairs["system"] == system]
        documents = {answer.document for answer in answers if answer.system == system}
        missing = len(documents) - group["document"].nunique()
        if group.empty:
            rows.append((system, np.nan, np.nan, np.nan, 0, 0, missing))
            continue
        estimate = mean_interval(group, [0.0, 1.0], resampling)
        rows.append(
            (system, estimate.value, estimate.low, estimate.high, len(group), group["document"].nunique(), missing)
        )
    columns = ["system", "same_type", "ci_low", "ci_high", "labels", "documents", "unmatched"]
    return pd.DataFrame(rows, columns=columns)


def _pairs(answers: Iterable[Answer], projected: Types) -> Iterable[tuple[str, str, str, str, str]]:
    """Yield (system, document, annotator, type by people, type by classifier) per section, without repeats."""
    for answer in answers:
        predicted = projected.get((answer.system, answer.document), [])
        if answer.repeat or len(predicted) != len(answer.types):
            continue
        for people, classifier in zip(answer.types, predicted, strict=True):
            yield answer.system, answer.document, answer.annotator, people, classifier

"""Details of lighteval (Parquet).

The columns are `doc`, `model_response` and `metric`, or in older versions `full_prompt` and `predictions`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from macroscope.corpora.files.formats.declaration import Answer, Fields, Format, as_id, as_list, as_text, get


def _bare(record: Fields) -> dict[str, Any]:
    """Return a record with the names of its columns without the underscores of some versions (`__doc__`)."""
    return {name.strip("_"): value for name, value in record.items()}


def _predictions(value: Any) -> list[Any]:
    """Return the predictions: a list, or its representation in Python, as older versions write it."""
    if isinstance(value, str) and value.startswith("["):
        try:
            return as_list(ast.literal_eval(value))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [value]
    return as_list(value)


def _answers(record: Fields) -> Iterator[Answer]:
    bare = _bare(record)
    for text in as_list(get(bare, "model_response.text")) or [None]:
        yield Answer(as_text(text), as_text(get(bare, "doc.query")), as_id(get(bare, "doc.id")))


def _older_answers(record: Fields) -> Iterator[Answer]:
    for text in _predictions(record.get("predictions")) or [None]:
        yield Answer(as_text(text), as_text(record.get("full_prompt")))


LIGHTEVAL = Format(
    "lighteval details",
    applies=lambda record: isinstance(get(_bare(record), "model_response"), dict) and "doc" in _bare(record),
    answers=_answers,
    text="model_response.text",
    prompt="doc.query",
    id="doc.id",
    reads="metric __doc__ __model_response__ __metric__",
)
OLDER_LIGHTEVAL = Format(
    "lighteval details",
    applies=lambda record: "full_prompt" in record and "predictions" in record,
    answers=_older_answers,
    text="predictions",
    prompt="full_prompt",
    reads="example",
)

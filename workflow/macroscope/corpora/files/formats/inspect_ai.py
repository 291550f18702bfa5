"""Logs of inspect_ai: the samples of an `.eval` file (a zip), or of a `.json` file with all of them."""

from collections.abc import Iterator
from typing import Any

from macroscope.corpora.files.formats.declaration import (
    Answer,
    Fields,
    Format,
    as_id,
    as_list,
    as_text,
    content_of,
    get,
    transcript_of,
)

SAMPLES = "samples"
"""Folder of the samples in an `.eval` file, and the key of their list in a `.json` file."""


def _answers(record: Fields) -> Iterator[Answer]:
    identifier, epoch = as_id(record.get("id")), record.get("epoch", 1)
    if identifier is not None and epoch != 1:
        identifier = f"{identifier}, epoch {epoch}"
    prompt, model = transcript_of(record.get("input")), as_text(get(record, "output.model"))
    choices = as_list(get(record, "output.choices"))
    texts = [content_of(get(choice, "message.content")) for choice in choices]
    for text in texts or [as_text(get(record, "output.completion"))]:
        yield Answer(text, prompt, identifier, model or None)


def _records(content: Fields) -> list[Any] | None:
    samples = content.get(SAMPLES)
    return samples if isinstance(samples, list) and isinstance(content.get("eval"), dict) else None


INSPECT_AI = Format(
    "inspect_ai log",
    applies=lambda record: isinstance(record.get("output"), dict) and "epoch" in record and "input" in record,
    answers=_answers,
    text="output.choices[].message.content",
    prompt="input",
    id="id",
    model="output.model",
    reads="epoch messages events store attachments",
    records=_records,
)

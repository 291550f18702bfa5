"""Plain records: one field is the text, perhaps another one the prompt."""

from collections.abc import Iterator, Mapping
from typing import Any

from macroscope.corpora.files.formats.declaration import (
    Answer,
    Fields,
    Format,
    as_id,
    as_list,
    as_text,
    content_of,
    transcript_of,
)

OPTIONAL = ("title", "split", "label", "original")
OF_SECTIONS = ("sections", "section_names")


def document_answers(record: Fields) -> Iterator[Answer]:
    """Return the text, or the sections, of a record in this project's own format."""
    further = {name: record[name] for name in (*OPTIONAL, *OF_SECTIONS) if name in record}
    text, prompt = record.get("text", ...), record.get("prompt")
    prompt = prompt if isinstance(prompt, str) else None
    yield Answer(text, prompt, record.get("id"), as_text(record.get("model")), fields=further)


DOCUMENTS = Format(
    "documents",
    applies=lambda record: "text" in record or "sections" in record,
    answers=document_answers,
    text="text",
    prompt="prompt",
    id="id",
    model="model",
    reads=" ".join((*OPTIONAL, *OF_SECTIONS)),
    has_own_ids=True,
)


def _texts(value: Any) -> list[Any]:
    """Return the texts of a value: a string, a list of strings, or the messages of a generation."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and "content" in item for item in value):
        return [content_of(value[-1]["content"])]
    return as_list(value) or [None]


def _named(name: str, text: str, prompts: str = "", needs_prompt: bool = False) -> Format:
    """Declare records whose text is in the field `text`, and whose prompt is in the fields `prompts` that exist."""
    keys = prompts.split()

    def answers(record: Fields) -> Iterator[Answer]:
        parts = [transcript_of(record.get(key)) for key in keys]
        prompt = "\n\n".join(part for part in parts if part) or None
        further = {key: record[key] for key in OPTIONAL if key in record and key not in (text, *keys)}
        for answer in _texts(record.get(text)):
            yield Answer(answer, prompt, as_id(record.get("id")), as_text(record.get("model")), fields=further)

    def applies(record: Fields) -> bool:
        is_text = text in record and not isinstance(record[text], Mapping | int | float)
        return is_text and (not needs_prompt or any(key in record for key in keys))

    return Format(name, applies, answers, text, prompt=" ".join(keys), id="id", model="model", reads=" ".join(OPTIONAL))


NAMED = (
    _named("generated texts", "generated_text", "prompt"),
    _named("prompts and completions", "completion", "prompt"),
    _named("prompts and lists of completions", "completions", "prompt", needs_prompt=True),
    _named("instructions and outputs", "output", "instruction input", needs_prompt=True),
    _named("responses", "response", "prompt instruction question"),
    _named("prompts and responses", "responses", "prompt instruction question", needs_prompt=True),
    _named("prompts and generations", "generation", "prompt", needs_prompt=True),
    _named("prompts and outputs", "output", "prompt", needs_prompt=True),
    _named("questions and answers", "answer", "question", needs_prompt=True),
)

"""Plain records, with a field for the text, and perhaps for the prompt; records with texts of people and of models.

The texts of people are the reference, those of models the candidate; they share the id and the prompt of their record.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from macroscope.readers.formats.declaration import (
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


def _sides(human: str, machine: str, prompt: str = "", model: str = "") -> Callable[[Fields], Iterator[Answer]]:
    """Return a function that returns the texts of both sides, which are strings or lists of strings."""

    def answers(record: Fields) -> Iterator[Answer]:
        of_record = as_text(record.get(prompt)), as_id(record.get("id"))
        name = as_text(record.get(model))
        for text in as_list(record.get(human)):
            yield Answer(as_text(text), *of_record, None, is_human=True)
        for text in as_list(record.get(machine)):
            yield Answer(as_text(text), *of_record, name, is_human=False)

    return answers


M4 = Format(
    "M4 pairs",
    applies=lambda record: {"human_text", "machine_text"} <= set(record),
    answers=_sides("human_text", "machine_text", "prompt", "model"),
    text="human_text, machine_text",
    prompt="prompt",
    id="id",
    model="model",
    reads="human_text machine_text",
)
HC3 = Format(
    "HC3 pairs",
    applies=lambda record: {"human_answers", "chatgpt_answers"} <= set(record),
    answers=_sides("human_answers", "chatgpt_answers", "question"),
    text="human_answers[], chatgpt_answers[]",
    prompt="question",
    id="id",
    reads="human_answers chatgpt_answers",
)
FAST_DETECT_GPT = Format(
    "Fast-DetectGPT pairs",
    applies=lambda record: {"original", "sampled"} <= set(record) and "text" not in record,
    answers=_sides("original", "sampled"),
    text="original, sampled",
    id="id",
    reads="original sampled",
)


def _raid_answers(record: Fields) -> Iterator[Answer]:
    model = as_text(record.get("model"))
    is_human = model == "human"
    # Texts of one source have the same subject, by people and by models; those of people have no prompt.
    source = as_id(record.get("source_id"))
    text, author = as_text(record.get("generation")), None if is_human else model
    # Each text stands there again for each attack on detectors: with misspellings, other capitals, synonyms.
    attacked = "text altered by an attack" if record.get("attack") not in (None, "", "none") else ""
    yield Answer(text, None, source, author, is_human=is_human, left_out=attacked)


RAID = Format(
    "RAID rows",
    applies=lambda record: {"generation", "model", "source_id"} <= set(record),
    answers=_raid_answers,
    text="generation",
    id="source_id",
    model="model",
    reads="id prompt attack",
)

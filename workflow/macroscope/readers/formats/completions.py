"""Responses of servers, as they come: results of batches, completions, chat completions, outputs of vLLM."""

from collections.abc import Iterator
from typing import Any

from macroscope.readers.formats.declaration import (
    Answer,
    Fields,
    Format,
    as_id,
    as_list,
    as_text,
    content_of,
    get,
    has_objects,
    transcript_of,
)


def texts_of_response(body: Any) -> list[str | None]:
    """Return the texts of a response: of completions, chat completions, or the output of messages."""
    choices = as_list(get(body, "choices"))
    if choices:
        return [as_text(get(choice, "text")) or content_of(get(choice, "message.content")) for choice in choices]
    messages = [item for item in as_list(get(body, "output")) if get(item, "type") == "message"]
    if messages:
        return ["\n\n".join(filter(None, (content_of(item.get("content")) for item in messages)))]
    return [content_of(get(body, "content"))]


def _batch_answers(record: Fields) -> Iterator[Answer]:
    body = get(record, "response.body") or get(record, "result.message")
    identifier, model = as_id(record.get("custom_id")), as_text(get(body, "model"))
    for text in texts_of_response(body):
        yield Answer(text, None, identifier, model)


BATCH = Format(
    "results of a batch",
    applies=lambda record: "custom_id" in record and ("response" in record or "result" in record),
    answers=_batch_answers,
    text="response.body.choices[].message.content result.message.content[].text",
    id="custom_id",
    model="response.body.model result.message.model",
    reads="error",
)


def _gemini_answers(record: Fields) -> Iterator[Answer]:
    contents = [content_of(get(content, "parts")) for content in as_list(get(record, "request.contents"))]
    prompt = "\n\n".join(filter(None, contents)) or None
    response = get(record, "response") or record
    for candidate in as_list(get(response, "candidates")) or [None]:
        model = as_text(get(response, "modelVersion"))
        yield Answer(content_of(get(candidate, "content.parts")), prompt, as_id(record.get("key")), model)


def _is_gemini(record: Fields) -> bool:
    candidates = as_list(get(record, "response.candidates") or record.get("candidates"))
    return bool(candidates) and all(isinstance(get(candidate, "content"), dict) for candidate in candidates)


GEMINI = Format(
    "responses of Gemini",
    applies=_is_gemini,
    answers=_gemini_answers,
    text="response.candidates[].content.parts[].text",
    prompt="request.contents[].parts[].text",
    id="key",
    model="response.modelVersion",
    reads="candidates",
)


def _choice_answers(record: Fields) -> Iterator[Answer]:
    prompt = as_text(record.get("prompt")) or transcript_of(record.get("messages"))
    for text in texts_of_response(record):
        yield Answer(text, prompt, None, as_text(record.get("model")))


RESPONSES = Format(
    "responses of a server",
    applies=lambda record: has_objects(record, "choices", "text", "message"),
    answers=_choice_answers,
    text="choices[]",
    prompt="prompt",
    model="model",
    reads="messages id object",
)


def _vllm_answers(record: Fields) -> Iterator[Answer]:
    for output in as_list(record.get("outputs")) or [None]:
        yield Answer(as_text(get(output, "text")), as_text(record.get("prompt")), as_id(record.get("id")))


VLLM = Format(
    "outputs of vLLM",
    applies=lambda record: has_objects(record, "outputs", "text"),
    answers=_vllm_answers,
    text="outputs[].text",
    prompt="prompt",
    id="id",
    reads="request_id",
)

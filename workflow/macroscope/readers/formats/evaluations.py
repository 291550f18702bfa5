"""Samples of evaluation harnesses: lm-evaluation-harness, inspect_ai, HELM, lighteval, Every Eval Ever.

lm-evaluation-harness: `arguments` holds the requests of a document, `resps` the responses to each. A request that
generates has settings (`until`, `max_gen_toks`) beside its prompt; one that measures a likelihood has the continuation,
or nothing. The rows of several filters repeat the responses, so that they are the same text again.

lighteval: the columns are `doc`, `model_response` and `metric`, or in older versions `full_prompt` and `predictions`.

Every Eval Ever: a sample of several turns has messages instead of an output; its last answer is the text.
"""

import ast
from collections.abc import Iterator
from typing import Any

from macroscope.readers.formats.conversations import split_chat
from macroscope.readers.formats.declaration import (
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


def _lm_eval_requests(record: Fields) -> list[list[Any]]:
    """Return the arguments of each request; older versions write lists, newer ones objects."""
    arguments = record.get("arguments")
    requests = list(arguments.values()) if isinstance(arguments, dict) else as_list(arguments)
    return [list(request.values()) if isinstance(request, dict) else as_list(request) for request in requests]


def _lm_eval_answers(record: Fields) -> Iterator[Answer]:
    requests = _lm_eval_requests(record)
    responses = as_list(record.get("resps"))
    for number, of_request in enumerate(responses):
        request = requests[number] if number < len(requests) else []
        generates = not request or any(isinstance(argument, dict) for argument in request)
        prompt = as_text(request[0]) if request else None
        for response in as_list(of_request):
            if generates and isinstance(response, str):
                yield Answer(response, prompt, as_id(record.get("doc_id")))


LM_EVAL = Format(
    "lm-evaluation-harness samples",
    applies=lambda record: "doc_id" in record and "resps" in record,
    answers=_lm_eval_answers,
    text="resps",
    prompt="arguments",
    id="doc_id",
    reads="filter filtered_resps doc target",
)


SAMPLES = "samples"
"""Folder of the samples in an `.eval` file, and the key of their list in a `.json` file."""


def _inspect_answers(record: Fields) -> Iterator[Answer]:
    identifier, epoch = as_id(record.get("id")), record.get("epoch", 1)
    if identifier is not None and epoch != 1:
        identifier = f"{identifier}, epoch {epoch}"
    prompt, model = transcript_of(record.get("input")), as_text(get(record, "output.model"))
    choices = as_list(get(record, "output.choices"))
    texts = [content_of(get(choice, "message.content")) for choice in choices]
    for text in texts or [as_text(get(record, "output.completion"))]:
        yield Answer(text, prompt, identifier, model or None)


def _inspect_records(content: Fields) -> list[Any] | None:
    samples = content.get(SAMPLES)
    return samples if isinstance(samples, list) and isinstance(content.get("eval"), dict) else None


INSPECT_AI = Format(
    "inspect_ai log",
    applies=lambda record: isinstance(record.get("output"), dict) and "epoch" in record and "input" in record,
    answers=_inspect_answers,
    text="output.choices[].message.content",
    prompt="input",
    id="id",
    model="output.model",
    reads="epoch messages events store attachments",
    records=_inspect_records,
)


def _helm_answers(record: Fields) -> Iterator[Answer]:
    prompt = as_text(get(record, "request.prompt")) or transcript_of(get(record, "request.messages"))
    identifier, model = as_id(get(record, "instance.id")), as_text(get(record, "request.model"))
    texts = [as_text(get(completion, "text")) for completion in as_list(get(record, "result.completions"))]
    for text in texts or [None]:
        yield Answer(text, prompt, identifier, model)


def _helm_records(content: Fields) -> list[Any] | None:
    states = content.get("request_states")
    return states if isinstance(states, list) else None


HELM = Format(
    "HELM scenario state",
    applies=lambda record: isinstance(record.get("instance"), dict) and isinstance(record.get("request"), dict),
    answers=_helm_answers,
    text="result.completions[].text",
    prompt="request.prompt",
    id="instance.id",
    model="request.model",
    records=_helm_records,
)


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


def _lighteval_answers(record: Fields) -> Iterator[Answer]:
    bare = _bare(record)
    for text in as_list(get(bare, "model_response.text")) or [None]:
        yield Answer(as_text(text), as_text(get(bare, "doc.query")), as_id(get(bare, "doc.id")))


def _older_answers(record: Fields) -> Iterator[Answer]:
    for text in _predictions(record.get("predictions")) or [None]:
        yield Answer(as_text(text), as_text(record.get("full_prompt")))


LIGHTEVAL = Format(
    "lighteval details",
    applies=lambda record: isinstance(get(_bare(record), "model_response"), dict) and "doc" in _bare(record),
    answers=_lighteval_answers,
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


def _instance_answers(record: Fields) -> Iterator[Answer]:
    identifier, model = as_id(record.get("sample_id")), as_text(record.get("model_id"))
    if isinstance(record.get("messages"), list):
        prompt, text = split_chat(record["messages"])
        yield Answer(text, prompt, identifier, model)
        return
    prompt = as_text(get(record, "input.raw"))
    for text in as_list(get(record, "output.raw")) or [None]:
        yield Answer(as_text(text), prompt, identifier, model)


EVERY_EVAL_EVER = Format(
    "Every Eval Ever samples",
    applies=lambda record: {"evaluation_id", "model_id", "sample_id", "interaction_type"} <= set(record),
    answers=_instance_answers,
    text="output.raw",
    prompt="input.raw",
    id="sample_id",
    model="model_id",
    reads="messages interaction_type",
)

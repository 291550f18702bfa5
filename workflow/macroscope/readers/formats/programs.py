"""Records that no path describes: macroscope's own, requests of harnesses, trees of messages, turns without roles."""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from macroscope.readers.formats.declaration import HUMAN, Answer, Fields, as_id, as_name, list_conversation, read_cut
from macroscope.readers.messages import content_of, split_chat, transcript_of
from macroscope.readers.paths import as_list, get

_OPTIONAL = ("title", "split", "label", "original", "sections", "section_names")
_MODELS = "model|model_name|model_id|generator"


def read_document(record: Fields) -> Iterator[Answer]:
    """Return the text, or the sections, of a record in this project's own format."""
    prompt, text, model = record.get("prompt"), record.get("text", ...), as_name(get(record, _MODELS))
    is_human = None if model is None else model == HUMAN
    yield Answer(
        text,
        prompt if isinstance(prompt, str) else transcript_of(prompt) if isinstance(prompt, list) else None,
        record.get("id"),
        None if is_human else model,
        is_human,
        {name: record[name] for name in _OPTIONAL if name in record},
        is_cut=next(iter(read_cut(record)), None),
        messages=list_conversation([prompt] if isinstance(prompt, str | list) else [], text),
    )


def _requests_of_lm_eval(record: Fields) -> list[list[Any]]:
    """Return the arguments of each request; older versions write lists, newer ones objects."""
    arguments = record.get("arguments")
    requests = list(arguments.values()) if isinstance(arguments, dict) else as_list(arguments)
    return [list(request.values()) if isinstance(request, dict) else as_list(request) for request in requests]


def read_lm_eval(record: Fields) -> Iterator[Answer]:
    """Return the responses to the requests that generate: these have settings (`until`) beside their prompt.

    One that measures a likelihood has the continuation, or nothing. The rows of several filters repeat the responses,
    so that they are the same text again.
    """
    requests = _requests_of_lm_eval(record)
    for number, of_request in enumerate(as_list(record.get("resps"))):
        request = requests[number] if number < len(requests) else []
        generates = not request or any(isinstance(argument, dict) for argument in request)
        for response in as_list(of_request):
            if generates and isinstance(response, str):
                asked = request[:1]
                prompt, messages = transcript_of(next(iter(asked), None)), list_conversation(asked, response)
                yield Answer(response, prompt, as_id(record.get("doc_id")), messages=messages)


def read_inspect(record: Fields) -> Iterator[Answer]:
    """Return the choices of a sample of inspect_ai; epochs after the first are a part of its id."""
    identifier, epoch = as_id(record.get("id")), record.get("epoch", 1)
    if identifier is not None and epoch != 1:
        identifier = f"{identifier}, epoch {epoch}"
    asked, model = record.get("input"), as_name(get(record, "output.model"))
    choices = as_list(get(record, "output.choices")) or [get(record, "output")]
    for choice in choices:
        text = content_of(get(choice, "message.content|completion"))
        is_cut, messages = next(iter(read_cut(choice)), None), list_conversation([asked], text)
        yield Answer(text, transcript_of(asked), identifier, model, is_cut=is_cut, messages=messages)


def read_older_lighteval(record: Fields) -> Iterator[Answer]:
    """Return the predictions: a list, or its representation in Python, as older versions write it."""
    value = record.get("predictions")
    if isinstance(value, str) and value.startswith("["):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = [value]
    for text in as_list(value) or [None]:
        yield Answer(content_of(text), transcript_of(record.get("full_prompt")))


def _branch(mapping: Mapping[str, Any], last: Any) -> list[dict[str, Any]]:
    """Return the messages of a tree from its root to the node `last`, which is the branch that the user saw."""
    messages: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(last, str) and last in mapping and last not in seen:
        seen.add(last)
        message = get(mapping[last], "message")
        if isinstance(parts := get(message, "content.parts"), list):
            messages.append({"role": get(message, "author.role"), "content": parts})
        last = get(mapping[last], "parent")
    return messages[::-1]


def _last_leaf(mapping: Mapping[str, Any]) -> str | None:
    """Return the node without an answer whose message is the newest; the last one if no message has a time.

    Tools that select from an export leave out `current_node`.
    """
    parents = {get(node, "parent") for node in mapping.values()}
    leaves = [name for name in mapping if name not in parents]
    return max(reversed(leaves), key=lambda name: _time_of(mapping[name]), default=None)


def _time_of(node: Any) -> float:
    time = get(node, "message.create_time")
    return time if isinstance(time, int | float) else 0.0


def read_chatgpt(record: Fields) -> Iterator[Answer]:
    """Return the last answer of a conversation, a tree of messages."""
    mapping, current = record["mapping"], record.get("current_node")
    if not isinstance(mapping, Mapping):
        mapping = {}
    turn = split_chat(_branch(mapping, current if current in mapping else _last_leaf(mapping)))
    yield Answer(turn.text, turn.prompt, as_id(get(record, "conversation_id|id")), messages=turn.messages)


def read_ultrachat(record: Fields) -> Iterator[Answer]:
    """Return the last answer of turns without roles, of which the user's are the first, the third and so on."""
    turns = as_list(record.get("data"))
    messages = [{"role": ("user", "assistant")[number % 2], "content": turn} for number, turn in enumerate(turns)]
    turn = split_chat(messages)
    yield Answer(turn.text, turn.prompt, as_id(record.get("id")), messages=turn.messages)

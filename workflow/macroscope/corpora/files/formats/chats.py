"""Chats: `messages` with roles, ShareGPT's `conversations`, MT-bench's `choices[].turns[]`.

The text of a chat is its last answer; the prompt is all that comes before. The turns of MT-bench's models stand without
the questions between them, so that each is a text.
"""

from collections.abc import Iterator, Sequence
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
    has_objects,
)

_ANSWERING = frozenset(("assistant", "gpt", "model", "chatgpt", "bing", "bard", "ai"))
"""Roles whose messages are answers, in the words of several programs."""
_ROLE_KEYS, _CONTENT_KEYS = ("role", "from"), ("content", "value")


def _first(message: Any, keys: Sequence[str]) -> Any:
    return next((message[key] for key in keys if isinstance(message, dict) and key in message), None)


def split_chat(messages: Sequence[Any]) -> tuple[str | None, str | None]:
    """Return the prompt of a chat's last answer, and this answer; None for what is absent."""
    roles = [str(_first(message, _ROLE_KEYS)).lower() for message in messages]
    contents = [content_of(_first(message, _CONTENT_KEYS)) for message in messages]
    answers = [number for number, role in enumerate(roles) if role in _ANSWERING and contents[number]]
    last = answers[-1] if answers else len(messages)
    prompt = "\n\n".join(content for content in contents[:last] if content) or None
    return prompt, contents[last] if answers else None


def _is_chat(value: Any) -> bool:
    """Return whether a value is a list of messages, each with a role; some may have no content, as calls of tools."""
    if not isinstance(value, list) or not any(_first(message, _CONTENT_KEYS) is not None for message in value):
        return False
    return all(_first(message, _ROLE_KEYS) is not None for message in value)


def _chat(key: str) -> Format:
    def answers(record: Fields) -> Iterator[Answer]:
        prompt, text = split_chat(as_list(record.get(key)))
        identifier = as_id(record.get("id"))
        yield Answer(text, prompt, identifier, as_text(record.get("model")))

    return Format(
        f"chats ({key})",
        applies=lambda record: _is_chat(record.get(key)),
        answers=answers,
        text=f"{key}[]",
        prompt=f"{key}[]",
        id="id",
        model="model",
    )


MESSAGES, CONVERSATIONS = _chat("messages"), _chat("conversations")


def _turns(record: Fields) -> list[str | None]:
    turns = [turn for choice in as_list(record.get("choices")) for turn in as_list(get(choice, "turns"))]
    return [content_of(turn.get("content")) if isinstance(turn, dict) else as_text(turn) for turn in turns]


def _answers_of_turns(record: Fields) -> Iterator[Answer]:
    identifier, model = as_id(record.get("question_id")), as_text(record.get("model_id"))
    for text in _turns(record) or [None]:
        yield Answer(text, None, identifier, model)


MT_BENCH = Format(
    "MT-bench answers",
    applies=lambda record: has_objects(record, "choices", "turns"),
    answers=_answers_of_turns,
    text="choices[].turns[]",
    id="question_id",
    model="model_id",
    reads="answer_id tstamp",
)

"""Messages of chats: their roles and contents, in the words of many programs, and the last answer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from macroscope.readers.paths import parse_if_json

_ANSWERING = frozenset(
    ("assistant", "gpt", "model", "chatgpt", "bing", "bard", "ai", "bot", "chatbot", "agent", "llm", "false")
)
"""Roles whose messages are answers; "false" is that of `is_user`."""
_ROLES = ("role", "from", "sender", "is_user")
_CONTENTS = ("content", "text", "value", "parts", "answer", "mes", "message", "output", "response", "completion")
_THOUGHTS = ("thought", "isThought")


class Turn(NamedTuple):
    """The last answer of a chat, what is before it, and the name of its model; None for what is absent."""

    prompt: str | None
    text: str | None
    model: Any


def content_of(value: Any) -> str | None:
    """Return the text of a content: a string, an object with one, or a list of parts; thoughts are left out."""
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(content_of, value))) or None
    if isinstance(value, dict):
        if any(value.get(key) is True for key in _THOUGHTS):
            return None
        return next(filter(None, (content_of(value[key]) for key in _CONTENTS if key in value)), None)
    return value if isinstance(value, str) else None


def as_messages(value: Any) -> list[dict[str, Any]]:
    """Return a list of messages, each with a role, also if it is one message, or JSON; empty if it is none.

    Messages may have no content, as calls of tools have none.
    """
    if isinstance(value, str):
        return as_messages(parse_if_json(value)) if value.lstrip()[:1] in ("{", "[") else []
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        return []
    has_roles = all(any(key in item for key in _ROLES) for item in items)
    return items if has_roles and any(key in item for item in items for key in _CONTENTS) else []


def split_chat(messages: Sequence[dict[str, Any]]) -> Turn:
    """Return the last answer of a chat."""
    roles = [str(next((item[key] for key in _ROLES if key in item), "")).lower() for item in messages]
    contents = [content_of(item) for item in messages]
    answers = [number for number, role in enumerate(roles) if role in _ANSWERING and contents[number]]
    last = answers[-1] if answers else len(messages)
    prompt = "\n\n".join(content for content in contents[:last] if content) or None
    return Turn(prompt, contents[last], messages[last].get("model")) if answers else Turn(prompt, None, None)


def transcript_of(value: Any) -> str | None:
    """Return a prompt: a string as it is, the contents of messages, the strings of a list."""
    return content_of(as_messages(value) or value)

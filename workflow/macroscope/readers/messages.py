"""Messages of chats: their speakers and contents, in the words of many programs, and the last answer."""

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from macroscope.readers.paths import get, parse_if_json

ASSISTANT, USER = "assistant", "user"
"""Names of the speakers of chats, whatever their program calls them."""
_NAMES = {
    **dict.fromkeys(("gpt", "model", "chatgpt", "bing", "bard", "ai", "bot", "chatbot", "agent", "llm"), ASSISTANT),
    **dict.fromkeys(("human", "prompter"), USER),
    **dict.fromkeys(("system", "developer", "tool", "function"), ""),
}
"""Role -> speaker; "" for instructions and calls of tools, which no speaker says."""
_ROLES = ("is_user", "role", "from", "sender", "speaker", "participant")
_SPEAKERS = ("speaker", "participant")
"""Keys under which a "system" is what answers."""
NAMES_OF_ROWS = ("author", "username", "user", "name", "Speaker", "Author")
"""Further keys of speakers, in files whose rows are messages."""
_CONTENTS = (
    *("content", "text", "value", "parts", "answer", "mes", "message", "output", "response", "completion"),
    "utterance",
)
_THOUGHTS = ("thought", "isThought")


class Message(NamedTuple):
    """A message of a speaker."""

    speaker: str
    text: str


class Turn(NamedTuple):
    """The last answer of a chat, what is before it, and the name of its model; None for what is absent; all messages.

    A text that is not of a chat has no messages.
    """

    prompt: str | None
    text: str | None
    model: Any
    messages: Sequence[Message] = ()


def content_of(value: Any) -> str | None:
    """Return the text of a content: a string, an object with one, or a list of parts; thoughts are left out."""
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(content_of, value))) or None
    if isinstance(value, dict):
        if any(value.get(key) is True for key in _THOUGHTS):
            return None
        return next(filter(None, (content_of(value[key]) for key in _CONTENTS if key in value)), None)
    return value if isinstance(value, str) else None


def as_messages(value: Any, names: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return a list of messages, each with a role, also if it is one message, or JSON; empty if it is none.

    Messages may have no content, as calls of tools have none. Further keys may name the speakers.
    """
    if isinstance(value, str):
        return as_messages(parse_if_json(value)) if value.lstrip()[:1] in ("{", "[") else []
    items = [value] if isinstance(value, dict) else value
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        return []
    has_roles = all(any(key in item for key in (*_ROLES, *names)) for item in items)
    return items if has_roles and any(key in item for item in items for key in _CONTENTS) else []


def list_said(messages: Sequence[dict[str, Any]], names: Sequence[str] = ()) -> list[Message]:
    """List what is said in messages, with an empty text for a message without one."""
    return [Message(_name_speaker(item, names), content_of(item) or "") for item in messages]


def _name_speaker(message: dict[str, Any], names: Sequence[str]) -> str:
    key = next((key for key in (*_ROLES, *names) if key in message), "")
    if key == "is_user":
        return USER if str(message[key]).lower() == "true" else ASSISTANT
    name = message.get(key)
    name = str((get(name, "name|username|id") if isinstance(name, dict) else name) or "")
    return ASSISTANT if key in _SPEAKERS and name.lower() == "system" else _NAMES.get(name.lower(), name)


def split_chat(messages: Sequence[dict[str, Any]]) -> Turn:
    """Return the last answer of a chat."""
    said = list_said(messages)
    answers = [number for number, each in enumerate(said) if each.speaker.lower() == ASSISTANT and each.text]
    last = answers[-1] if answers else len(said)
    prompt = "\n\n".join(each.text for each in said[:last] if each.text) or None
    spoken = [each for each in said if each.speaker and each.text]
    text, model = (said[last].text, messages[last].get("model")) if answers else (None, None)
    return Turn(prompt, text, model, spoken)


def transcript_of(value: Any) -> str | None:
    """Return a prompt: a string as it is, the contents of messages, the strings of a list."""
    return content_of(as_messages(value) or value)


def join_turns(messages: Sequence[Message]) -> list[Message]:
    """Return the turns of a conversation: the messages of a speaker up to those of another one, joined."""
    return [
        Message(speaker, "\n".join(each.text for each in group)) for speaker, group in groupby(messages, lambda m: m[0])
    ]

"""Messages of people in the exports of messengers: Slack, Discord, Telegram. Each message is a text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from macroscope.corpora.files.formats.declaration import Answer, Fields, Format, as_id, as_list, as_text

_OF_PROGRAM = "messages of the program (joined, pinned, called)"
_SLACK_SUBTYPES = (None, "bot_message", "me_message", "thread_broadcast", "file_share")
_DISCORD_TYPES = (None, "Default", "Reply")
"""Kinds of messages that persons wrote, not the service."""


def _messages(
    name: str,
    applies: Callable[[Fields], bool],
    read: Callable[[Fields], str | None],
    is_written: Callable[[Fields], bool],
    *fields: str,
    records: Callable[[Fields], Sequence[Any] | None] | None = None,
) -> Format:
    """Declare messages whose text `read` returns; `fields` are those of the text and of the id, and further ones."""
    text, identifier, *further = fields

    def answers(record: Fields) -> Iterator[Answer]:
        left_out = "" if is_written(record) else _OF_PROGRAM
        yield Answer(read(record), None, as_id(record.get(identifier)), left_out=left_out)

    return Format(
        f"messages of {name}", applies, answers, text, id=identifier, reads=" ".join(further), records=records
    )


def _joined(record: Fields) -> str | None:
    """Return the text of a message of Telegram: a string, or strings and objects with marked-up parts."""
    parts = [part.get("text") if isinstance(part, Mapping) else part for part in as_list(record.get("text"))]
    return "".join(part for part in parts if isinstance(part, str)) or None


def _of_telegram(content: Fields) -> Sequence[Any] | None:
    messages = content.get("messages")
    if not isinstance(messages, list) or not {"name", "type", "id"} <= content.keys():
        return None
    return messages if all(_is_telegram(message) for message in messages) else None


def _is_telegram(record: Any) -> bool:
    return isinstance(record, Mapping) and {"id", "type", "date", "text"} <= record.keys()


def _of_discord(content: Fields) -> Sequence[Any] | None:
    messages = content.get("messages")
    return messages if isinstance(messages, list) and {"guild", "channel"} <= content.keys() else None


SLACK = _messages(
    "a Slack export",
    lambda record: record.get("type") == "message" and {"ts", "text"} <= record.keys(),
    lambda record: as_text(record.get("text")),
    lambda record: record.get("subtype") in _SLACK_SUBTYPES,
    *("text", "ts", "type", "subtype", "user"),
)
DISCORD = _messages(
    "a Discord export",
    lambda record: {"content", "author", "timestamp"} <= record.keys() and isinstance(record["author"], Mapping),
    lambda record: as_text(record.get("content")),
    lambda record: record.get("type") in _DISCORD_TYPES,
    *("content", "id", "type", "author", "timestamp"),
    records=_of_discord,
)
TELEGRAM = _messages(
    "a Telegram export",
    lambda record: _is_telegram(record) and record["type"] in ("message", "service"),
    _joined,
    lambda record: record.get("type") == "message",
    *("text", "id", "type", "date", "from"),
    records=_of_telegram,
)

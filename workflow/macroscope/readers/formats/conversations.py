"""Conversations: chats with roles, exports of products and data sets (ChatGPT, Claude, arenas), and of messengers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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


def _branch(mapping: Mapping[str, Any], last: Any) -> list[dict[str, Any]]:
    """Return the messages of a tree from its root to the node `last`, which is the branch that the user saw."""
    messages: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(last, str) and last in mapping and last not in seen:
        seen.add(last)
        message = get(mapping[last], "message")
        parts = get(message, "content.parts")
        if isinstance(parts, list):
            messages.append({"role": get(message, "author.role"), "content": parts})
        last = get(mapping[last], "parent")
    return messages[::-1]


def _last_leaf(mapping: Mapping[str, Any]) -> str | None:
    """Return the node without an answer whose message is the newest; the last one if no message has a time."""
    parents = {get(node, "parent") for node in mapping.values()}
    leaves = [name for name in mapping if name not in parents]
    return max(reversed(leaves), key=lambda name: _time_of(mapping[name]), default=None)


def _time_of(node: Any) -> float:
    time = get(node, "message.create_time")
    return time if isinstance(time, int | float) else 0.0


def _is_chatgpt(record: Fields) -> bool:
    """Return whether a record is a tree of messages; tools that select from an export leave out `current_node`."""
    mapping = record.get("mapping")
    if not isinstance(mapping, Mapping) or not mapping:
        return False
    return all(isinstance(node, Mapping) and {"message", "parent"} <= node.keys() for node in mapping.values())


def _chatgpt_answers(record: Fields) -> Iterator[Answer]:
    mapping, current = record["mapping"], record.get("current_node")
    prompt, text = split_chat(_branch(mapping, current if current in mapping else _last_leaf(mapping)))
    yield Answer(text, prompt, as_id(record.get("conversation_id") or record.get("id")))


CHATGPT_EXPORT = Format(
    "conversations of a ChatGPT export",
    applies=_is_chatgpt,
    answers=_chatgpt_answers,
    text="mapping",
    prompt="mapping",
    id="conversation_id",
    reads="current_node id title",
)


def _content(message: Any) -> Any:
    """Return the text of a message of Claude's; in some exports, it is in the parts of `content` alone."""
    return get(message, "text") or get(message, "content")


def _claude_answers(record: Fields) -> Iterator[Answer]:
    messages = [
        {"role": {"human": "user"}.get(str(get(item, "sender")), get(item, "sender")), "content": _content(item)}
        for item in as_list(record.get("chat_messages"))
    ]
    prompt, text = split_chat(messages)
    yield Answer(text, prompt, as_id(record.get("uuid")))


CLAUDE_EXPORT = Format(
    "conversations of a Claude export",
    applies=lambda record: isinstance(record.get("chat_messages"), list),
    answers=_claude_answers,
    text="chat_messages[].text",
    prompt="chat_messages[].text",
    id="uuid",
    reads="name",
)


def _ultrachat_answers(record: Fields) -> Iterator[Answer]:
    turns = as_list(record.get("data"))
    messages = [{"role": ("user", "assistant")[number % 2], "content": turn} for number, turn in enumerate(turns)]
    prompt, text = split_chat(messages)
    yield Answer(text, prompt, as_id(record.get("id")))


def _is_ultrachat(record: Fields) -> bool:
    turns = record.get("data")
    is_chat = isinstance(turns, list) and len(turns) > 1 and all(isinstance(turn, str) for turn in turns)
    return is_chat and record.keys() <= {"id", "data"}


ULTRACHAT = Format("turns of UltraChat", _is_ultrachat, _ultrachat_answers, text="data[]", prompt="data[]", id="id")


def _openassistant_answers(record: Fields) -> Iterator[Answer]:
    prompt, tree = get(record, "prompt.text"), as_id(record.get("message_tree_id"))
    for reply in as_list(get(record, "prompt.replies")):
        yield Answer(as_text(get(reply, "text")), as_text(prompt), tree)


OPENASSISTANT = Format(
    "message trees of OpenAssistant",
    applies=lambda record: "message_tree_id" in record and isinstance(get(record, "prompt.replies"), list),
    answers=_openassistant_answers,
    text="prompt.replies[].text",
    prompt="prompt.text",
    id="message_tree_id",
    reads="tree_state",
)


def _arena_answers(record: Fields) -> Iterator[Answer]:
    for letter in "ab":
        prompt, text = split_chat(as_list(record.get(f"conversation_{letter}")))
        yield Answer(text, prompt, as_id(record.get("question_id")), as_text(record.get(f"model_{letter}")))


ARENA = Format(
    "battles of an arena",
    applies=lambda record: {"conversation_a", "conversation_b"} <= record.keys(),
    answers=_arena_answers,
    text="conversation_a[], conversation_b[]",
    prompt="conversation_a[]",
    id="question_id",
    model="model_a model_b",
    reads="conversation_b winner",
)


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

"""Chats in the layouts of products and data sets: exports of ChatGPT and Claude, UltraChat, OpenAssistant, arenas.

As in other chats, the text is the last answer, and the prompt is all that comes before.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from macroscope.corpora.files.formats.chats import split_chat
from macroscope.corpora.files.formats.declaration import Answer, Fields, Format, as_id, as_list, as_text, get


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

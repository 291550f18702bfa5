"""Strings of chat templates: their messages, and the control tokens of tokenizers."""

import json
import re
from collections.abc import Sequence

from macroscope.readers.messages import ASSISTANT, USER, Message, as_messages, content_of, split_chat

_TOKEN = (
    r"(?:<\|[\w.:/ -]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</?s>|<(?:bos|eos|pad|sep|cls|(?:start|end)_of_turn"
    r"|end_of_utterance)>|\[(?:/?INST|BOS|EOS|PAD|CLS|SEP)\]|<</?SYS>>)"
)
"""Special tokens of the configurations of common tokenizers."""
TOKEN = re.compile(_TOKEN)
_END = re.compile(rf"\s*(?:{_TOKEN}\s*)+\Z")
_START = re.compile(rf"\A\s*(?:{_TOKEN}\s*)+")
_BETWEEN = re.compile(
    rf"(?<=[^\s\"'`(]){_TOKEN}(?:\s*{_TOKEN})*\s*|(?<=[.!?] ){_TOKEN} |^[ \t]*{_TOKEN}(?:\s*{_TOKEN})*[ \t]*$",
    re.MULTILINE,
)
"""Tokens right after a word, between sentences, or on lines of their own; others are what a sentence speaks about."""


_HEAD = re.compile(
    r"""<\|im_start\|>\s*\w+(?:<\|im_sep\|>|\s)|<\|start_header_id\|>\s*\w+\s*<\|end_header_id\|>
|<start_of_turn>\s*\w+\s|<\|(?:user|assistant|system|tool|model)\|>|<｜(?:User|Assistant)｜>
|(?:<\|start\|>\s*\w+)?(?:<\|channel\|>\w+)?<\|message\|>|<\|START_OF_TURN_TOKEN\|><\|\w+_TOKEN\|>
|\[/?INST\]|^\#\#\#[ ](?:Instruction|Input|Response|Assistant|User|System):[ \t]*$""",
    re.MULTILINE | re.VERBOSE,
)
"""Beginning of a message in a chat template's string: its tokens and the role."""
_HEAD_LINE = re.compile(r"^(?:system|user|assistant|model)[ \t]*(?:\n|\Z)", re.MULTILINE)
_HEAD_COLON = re.compile(r"(?:^|(?<=\s)|(?<=>))(?:Human|USER|User|ASSISTANT|Assistant):(?:[ \t]+|$)", re.MULTILINE)
"""The same of a template's string without its special tokens: roles on lines of their own, or before colons."""
_OF_ANSWER = re.compile(r"assistant|model|chatbot|final|/inst|response", re.IGNORECASE)
_OF_THOUGHT = re.compile(r"analysis|commentary")


def parse_template(text: str) -> list[Message]:
    """Return the messages of a text that begins as a chat template does; empty if it does not."""
    stripped = text.lstrip()
    begins = stripped.startswith(("### Instruction:", "Below is an instruction")) or _START.match(text)
    kinds = ((_HEAD, begins), (_HEAD_LINE, False), (_HEAD_COLON, stripped.startswith("A chat between ")))
    pattern = next((head for head, is_begun in kinds if is_begun or head.match(stripped)), _HEAD)
    heads = list(pattern.finditer(text))
    if not heads or (pattern is not _HEAD and not any(_OF_ANSWER.search(head[0]) for head in heads[1:])):
        return []
    ends = [*(head.start() for head in heads[1:]), len(text)]
    said = [(_speaker(head[0]), text[head.end() : end]) for head, end in zip(heads, ends, strict=True)]
    return [Message(speaker, content.lstrip()) for speaker, content in [("", text[: heads[0].start()]), *said]]


def _speaker(head: str) -> str:
    return "" if _OF_THOUGHT.search(head) else ASSISTANT if _OF_ANSWER.search(head) else USER


def without_template(text: str) -> str:
    """Return what follows the last beginning of an answer, if the text begins as a chat template does."""
    answers = [message.text for message in parse_template(text) if message.speaker == ASSISTANT]
    return answers[-1] if answers else text


def find_prompt(text: str) -> str | None:
    """Return the contents before the last answer of a text that begins as a chat template does; None without one."""
    messages = parse_template(text)
    answers = [number for number, message in enumerate(messages) if message.speaker == ASSISTANT]
    return _join_contents(messages[: answers[-1]]) if answers else None


def unwrap_prompt(prompt: str) -> str:
    """Return the contents of a prompt that is a chat template's string, without control tokens."""
    return _join_contents(parse_template(prompt) or [Message(USER, prompt)])


def _join_contents(messages: Sequence[Message]) -> str:
    return "\n\n".join(filter(None, (without_tokens(message.text).strip() for message in messages)))


def without_turns(text: str) -> str:
    """Return an answer without the turns that a model went on to write, after the token that ends its own."""
    start = next((head.start() for head in _HEAD.finditer(text) if _speaker(head[0]) == USER), 0)
    return text[:start] if _END.search(text[:start]) else text


def without_tokens(text: str) -> str:
    """Return a text without the control tokens around and between its parts."""
    if not mentions_tokens(text):
        return text
    text = _START.sub("", text)
    if (end := _END.search(text)) is not None:
        is_mention = end[0].startswith(" ") and text[: end.start()][-1:].isalnum() and len(TOKEN.findall(end[0])) == 1
        text = text if is_mention else text[: end.start()]
    return _BETWEEN.sub(lambda match: "" if match[0].endswith(" ") else "\n\n", text)


def mentions_tokens(text: str) -> bool:
    """Return whether a text without wrapping has special tokens: it speaks about them."""
    return TOKEN.search(text) is not None


def without_json(text: str) -> str:
    """Return the content of a text that is a message, or messages, in JSON."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    messages = as_messages(value)
    content = split_chat(messages).text if messages else content_of(value) if isinstance(value, dict) else None
    return content or text

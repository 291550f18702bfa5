"""Fields that users give, named in messages, which each face of macroscope words as its users write them.

A message holds ⟨text_field⟩, or ⟨text_field=body⟩ with a value. That is --text-field body in a command,
text_field='body' in a call from Python, and fields.text: body in a config.
"""

import re
import shlex
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import unquote

Field = Literal[
    "text_field",
    "prompt_field",
    "id_field",
    "reference_field",
    "model_field",
    "by",
    "separator",
    "dialogue",
    "join",
    "keep_wrappers",
    "detokenize",
    "straighten_typography",
    "reference",
    "training",
    "candidate",
    "critic",
    "encoder",
    "language",
    "matched_length",
    "output",
]
Words: TypeAlias = Callable[[str, str | None], str]
"""Function of a field's name and of its value, if it has one, that returns the words of a face."""
_ESCAPED = str.maketrans({"%": "%25", "⟩": "%E2%9F%A9"})
_FIELD = re.compile(rf"⟨({'|'.join(get_args(Field))})(?:=([^⟩]*))?⟩")


def name_field(name: Field, value: str) -> str:
    """Return a field with a value, whatever this is, for a message."""
    return f"⟨{name}={value.translate(_ESCAPED)}⟩"


def word_fields(message: str, words: Words) -> str:
    """Return a message in the words of a face."""
    return _FIELD.sub(lambda match: words(match[1], None if match[2] is None else unquote(match[2])), message)


def word_all(value: Any, words: Words) -> Any:
    """Return strings, or lists and dicts that hold some, in the words of a face."""
    if isinstance(value, str):
        return word_fields(value, words)
    if isinstance(value, dict):
        return {key: word_all(item, words) for key, item in value.items()}
    return [word_all(item, words) for item in value] if isinstance(value, list) else value


def as_option(name: str, value: str | None) -> str:
    """Word a field as an option of a command."""
    return f"--{name.replace('_', '-')}" + ("" if value is None else f" {shlex.quote(value)}")


def as_key(name: str, value: str | None) -> str:
    """Word a field as a key of a config."""
    key = f"fields.{name.removesuffix('_field')}" if name.endswith("_field") else name
    key = "fields.label" if name == "by" else key
    return key if value is None else f"{key}: {value}"

"""Tidying of plain text."""

import re
from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

_SPACES = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def tidy(text: str) -> str:
    r"""Strip lines, collapse spaces and remove blank lines.

    Returns
    -------
    str
        Paragraphs separated by single newlines; may be empty. "\n\n" separates sections in the training text of a
        language model (deng2022's released code asserts the same), so it must not occur within one.
    """
    return join_lines(_LINE_BREAKS.sub("\n", text).split("\n"))


def compose(value: Any) -> Any:
    """Return a string, or a JSON value, with its strings in Unicode's composed form (NFC).

    One spelling of "é" is one character, another one two; they look alike, and are different words to every count.
    """
    if isinstance(value, str):
        return normalize("NFC", value)
    if isinstance(value, list):
        return [compose(item) for item in value]
    if isinstance(value, dict):
        return {name: compose(item) for name, item in value.items()}
    return value


def join_lines(lines: Iterable[str]) -> str:
    """Join the lines that have text; see `tidy`."""
    tidied = (_SPACES.sub(" ", line).strip() for line in lines)
    return "\n".join(line for line in tidied if line)

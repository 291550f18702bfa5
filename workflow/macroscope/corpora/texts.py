"""Plain text of sections: one line a paragraph, and never a blank line."""

import re
from collections.abc import Iterable

_SPACES = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def tidy(text: str) -> str:
    r"""Strip lines, collapse spaces and remove blank lines.

    Returns
    -------
    str
        Paragraphs separated by single newlines: "\n\n" separates sections in the training text of a language model
        (deng2022's released code asserts the same), so it must not occur within one. May be empty.
    """
    return join_lines(_LINE_BREAKS.sub("\n", text).split("\n"))


def join_lines(lines: Iterable[str]) -> str:
    """Join the lines that have any text; see `tidy`."""
    tidied = (_SPACES.sub(" ", line).strip() for line in lines)
    return "\n".join(line for line in tidied if line)

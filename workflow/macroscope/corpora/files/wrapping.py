"""Wrapping around a document that is not its text: front matter, a reasoning block, an outer code fence.

Language models and static-site generators write such wrapping; left in place, it hides the document's headings.
"""

import re

from macroscope.natural_language.words import count_words

FRONT_MATTER, REASONING, FENCE = "YAML front matter", "a reasoning block (<think>)", "an outer code fence"
_KEY = re.compile(r"[\w-]+:")
_OF_FRONT_MATTER = re.compile(r"[\w-]+:|[ \t#-]|$")
"""Beginning of a line of front matter: a key, a list or an indented value, a comment, nothing."""
_REASONING = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_OPENING_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[ \t]*(?:markdown|md|mediawiki|wikitext|wiki|text|txt)[ \t]*\n", re.MULTILINE
)
LONGEST_PREAMBLE = 60
"""Words before a document up to which they are about it ("Sure! Here is the article:"), and not a part of it."""


def unwrap(text: str) -> tuple[str, list[str]]:
    r"""Take off the wrapping at the beginning of a text, and the end of an outer code fence.

    Parameters
    ----------
    text
        Text with lines that end with "\n".

    Returns
    -------
    str
        The text without it.
    list of str
        Kinds of wrapping that were taken off.
    """
    removed = []
    if match := _REASONING.match(text):
        text = text[match.end() :]
        removed.append(REASONING)
    match = _OPENING_FENCE.search(text)
    if match and is_preamble(text[: match.start()]):
        text = text[: match.start()] + _without_closing_fence(text[match.end() :], match["fence"])
        removed.append(FENCE)
    without = _without_front_matter(text)
    if without is not None:
        text = without
        removed.append(FRONT_MATTER)
    return text, removed


def is_preamble(text: str) -> bool:
    """Return whether a text before a document is short enough not to be a part of it; it may be empty."""
    return count_words(text) <= LONGEST_PREAMBLE


def _without_front_matter(text: str) -> str | None:
    """Return a text without the front matter that it begins with; None if it has none."""
    lines = text.lstrip().split("\n")
    if lines[0].rstrip() != "---":
        return None
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[number + 1 :]) if any(map(_KEY.match, lines[1:number])) else None
        if not _OF_FRONT_MATTER.match(line):
            return None
    return None


def _without_closing_fence(text: str, fence: str) -> str:
    """Return a text without the line that closes the outer fence; a text may be cut before it.

    The fences of the code inside come in pairs, so an odd number has the outer one at its end.
    """
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if line.startswith(fence)]
    if len(fences) % 2:
        del lines[fences[-1]]
    return "\n".join(lines)

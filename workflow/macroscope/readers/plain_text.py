"""Plain text: tidying, joining of hard-wrapped lines, and removal of what wraps a document.

Language models and static-site generators write such wrapping; left in place, it hides the document's headings.

In a paragraph that was broken greedily, no line could also hold the first word of the next one. Lines of verse, lists,
dialogue and sentences on lines of their own do not have this property.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any
from unicodedata import normalize

from macroscope.natural_language.words import count_words

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


WIDEST = 120
"""Characters of the longest line that counts as broken."""
NARROWEST = 40
FEWEST = 4
"""Fewest line breaks within paragraphs that tell whether a text is broken into lines."""
LEAST_SHARE = 0.9
"""Least share of these breaks at which the next word would not have fitted."""
MOST_ENDS = 0.5
"""Largest share of these breaks at the end of a sentence: more, and each line is a paragraph or a sentence."""
MOST_CAPITALS = 0.7
"""Largest share of these breaks before a capital letter: German capitalises nouns, but more is a line of its own."""
_NOT_JOINED = re.compile(r"\s*(?:[-*+•>|#=]|\d+[.)]\s|```|~~~)")
"""Beginning of a line that starts a block of its own: an item of a list, a quotation, a heading, code."""
_END = re.compile(r"[.!?:。！？][\"'”’)\]]*$")


def join_hard_wraps(text: str) -> str:
    r"""Join the lines of hard-wrapped paragraphs; return any other text as it is.

    Parameters
    ----------
    text
        Text with lines that end with "\n"; blank lines separate paragraphs.
    """
    lines = text.split("\n")
    stripped = [line.rstrip() for line in lines]
    width = max(map(len, stripped))
    if not NARROWEST <= width <= WIDEST:
        return text
    breaks = [number for number, pair in enumerate(pairwise(stripped)) if _is_within_paragraph(*pair)]
    full = {number for number in breaks if len(stripped[number]) + 1 + _first_word(stripped[number + 1]) > width}
    if len(breaks) < FEWEST or len(full) < LEAST_SHARE * len(breaks):
        return text
    ends = sum(bool(_END.search(stripped[number])) for number in breaks)
    capitals = sum(stripped[number + 1].lstrip()[0].isupper() for number in breaks)
    if ends > MOST_ENDS * len(breaks) or capitals > MOST_CAPITALS * len(breaks):
        return text
    joined = [lines[0]]
    for number, line in enumerate(lines[1:]):
        if number in full:
            joined[-1] = f"{joined[-1].rstrip()} {line.lstrip()}"
        else:
            joined.append(line)
    return "\n".join(joined)


def _is_within_paragraph(line: str, following: str) -> bool:
    is_text = bool(line.strip() and following.strip())
    return is_text and not _NOT_JOINED.match(following) and not line.lstrip().startswith(("#", "=", "```", "~~~"))


def _first_word(line: str) -> int:
    """Return the length of the first word of a line."""
    return len(line.split(maxsplit=1)[0])

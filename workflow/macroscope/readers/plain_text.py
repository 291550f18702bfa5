"""Plain text: tidying, and joining of hard-wrapped lines.

In a paragraph that was broken greedily, no line could also hold the first word of the next one. Lines of verse, lists,
dialogue and sentences on lines of their own do not have this property.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
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
        Text with lines that end with "\n"; blank lines separate paragraphs. Parts of it may have widths of their own.
    """
    lines = text.split("\n")
    stripped = [line.rstrip() for line in lines]
    breaks = [number for number, pair in enumerate(pairwise(stripped)) if _is_within_paragraph(*pair)]
    widths = _widths(stripped, breaks)
    full = {number for number in breaks if _is_full(stripped, number, widths[number])}
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


def _widths(lines: Sequence[str], breaks: Sequence[int]) -> dict[int, int]:
    """Return the width to which the line before each break was filled.

    It is that of its paragraph, if this has enough breaks to tell; else of the last one before it, or the first after
    it, that has; or, if none has, the longest of all lines.
    """
    paragraphs: list[list[int]] = []
    for number in breaks:
        if paragraphs and paragraphs[-1][-1] == number - 1:
            paragraphs[-1].append(number)
        else:
            paragraphs.append([number])
    longest = [max(len(lines[number]) for number in (*each, each[-1] + 1)) for each in paragraphs]
    tells = [
        len(each) >= FEWEST and all(_is_full(lines, number, width) for number in each)
        for each, width in zip(paragraphs, longest, strict=True)
    ]
    told = [width for width, is_told in zip(longest, tells, strict=True) if is_told]
    present = told[0] if told else max(longest, default=0)
    widths: dict[int, int] = {}
    for each, width, is_told in zip(paragraphs, longest, tells, strict=True):
        present = width if is_told else present
        widths |= dict.fromkeys(each, max(width, present))
    return widths


def _is_full(lines: Sequence[str], number: int, width: int) -> bool:
    """Return whether the next line's first word would not have fitted into a line of this width."""
    return NARROWEST <= width <= WIDEST and len(lines[number]) + 1 + len(lines[number + 1].split(maxsplit=1)[0]) > width


def _is_within_paragraph(line: str, following: str) -> bool:
    is_text = bool(line.strip() and following.strip())
    return is_text and not _NOT_JOINED.match(following) and not line.lstrip().startswith(("#", "=", "```", "~~~"))


_TOKENISED = re.compile(r"(?<=\w) ([.,])(?=\s|$)")
_ATTACHED = re.compile(r"(?<=\w)[.,](?=\s|$)")
_FEWEST_BLANKS = 3


def is_tokenised(text: str) -> bool:
    """Return whether most commas and full stops of a text stand after a blank."""
    blanks = len(_TOKENISED.findall(text))
    return blanks >= _FEWEST_BLANKS and blanks > len(_ATTACHED.findall(text))


BLANKS = "blanks before punctuation, as in tokenised text"
_DETOKENIZE = (
    (re.compile(r"(?<=\S) +([.,;:!?…)\]}”’])"), r"\1"),
    (re.compile(r"([(\[{“]) +"), r"\1"),
    (re.compile(r" (n't|'(?:s|m|d|re|ve|ll))\b", re.IGNORECASE), r"\1"),
    (re.compile(r"(?<!\S)(?:\"|``|'') (.+?) (?:\"|'')(?!\S)"), r'"\1"'),
)


def detokenize(text: str) -> str:
    """Return a tokenised text without the blanks before punctuation and inside of quotation marks."""
    for pattern, by in _DETOKENIZE if is_tokenised(text) else ():
        text = pattern.sub(by, text)
    return text

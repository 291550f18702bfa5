"""Joining of hard-wrapped lines: a paragraph that a program broke into lines of one width is one line again.

In a paragraph that was broken greedily, no line could also hold the first word of the next one. Lines of verse, lists,
dialogue and sentences on lines of their own do not have this property.
"""

import re
from itertools import pairwise

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

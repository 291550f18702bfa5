"""Splitting of plain text into sections, at Markdown or MediaWiki headings or else at blank lines."""

import re

from macroscope.corpora.plain_text import join_lines, tidy
from macroscope.documents import Section

LEAD = "abstract"
_MARKDOWN = re.compile(r"^(#{1,6})[ \t]+(\S.*?)[ \t]*#*[ \t]*$")
_MEDIAWIKI = re.compile(r"^(={1,6})[ \t]*([^=\s](?:.*[^=\s])?)[ \t]*\1[ \t]*$")
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n")


def split_sections(text: str) -> tuple[str | None, list[Section]]:
    """Split a plain text into its sections.

    If lines are headings (Markdown "# x" or MediaWiki "== x =="), the level of the first heading splits the text. If
    the text opens with a heading and all others are deeper, that heading is the document's title, and the highest level
    of the others splits. Deeper headings stay as lines of their sections. Text before the first heading is the lead,
    with the title "abstract". Without headings, blocks between blank lines are sections without titles.

    Returns
    -------
    title
        Title of the document, or None if the text does not open with one.
    sections
        Sections with and without text; the caller drops and counts the empty ones.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    pattern = _kind_of_headings(lines)
    if pattern is None:
        blocks = (tidy(block) for block in _BLANK_LINES.split("\n".join(lines)))
        return None, [Section(None, block) for block in blocks if block]
    title, level, lines = _take_title(lines, pattern)
    return title, _split_at_headings(lines, pattern, level)


def _kind_of_headings(lines: list[str]) -> re.Pattern[str] | None:
    return next((pattern for line in lines for pattern in (_MARKDOWN, _MEDIAWIKI) if pattern.match(line)), None)


def _take_title(lines: list[str], pattern: re.Pattern[str]) -> tuple[str | None, int, list[str]]:
    """Return the document's title or None, the level of headings that splits it, and the lines below the title."""
    headings = [match for line in lines if (match := pattern.match(line))]
    level, *levels = [len(match.group(1)) for match in headings]
    start = next(number for number, line in enumerate(lines) if line.strip())
    if pattern.match(lines[start]) and levels and min(levels) > level:
        return headings[0].group(2), min(levels), lines[start + 1 :]
    return None, level, lines


def _split_at_headings(lines: list[str], pattern: re.Pattern[str], level: int) -> list[Section]:
    parts: list[tuple[str, list[str]]] = [(LEAD, [])]
    for line in lines:
        match = pattern.match(line)
        if match is None:
            parts[-1][1].append(line)
        elif len(match.group(1)) <= level:
            parts.append((match.group(2), []))
        else:
            parts[-1][1].append(match.group(2))
    lead, *rest = [Section(name, join_lines(body)) for name, body in parts]
    return [lead, *rest] if lead.text else rest

"""Splitting of plain text into sections, at its headings or else at blank lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt

from macroscope.documents import Section
from macroscope.readers.markup import is_preamble, without_emphasis
from macroscope.readers.plain_text import join_lines, tidy

LEAD = "abstract"
"""Title of the text between a document's title, or its beginning, and the first heading of a section."""
BEFORE_TITLE = "words before the title"
MEDIAWIKI, MARKDOWN, BOLD, CHAPTERS, NONE = "MediaWiki", "Markdown", "lines in bold type", "chapters", "none"
"""Kinds of headings."""
_LONGEST_HEADING = 120
"""Characters of the longest line that is a heading if it is underlined or in bold type; others are sentences."""
_ENDS = ".!?,;。！？"
"""Signs at the end of a sentence, which a heading lacks."""
_MEDIAWIKI = re.compile(r"^(={1,6})[ \t]*([^=\s](?:.*[^=\s])?)[ \t]*\1[ \t]*$")
_MAY_BE_MARKDOWN = re.compile(r"^ {0,3}(?:#{1,6}[ \t]+\S|=+[ \t]*$|-+[ \t]*$)", re.MULTILINE)
_BOLD = re.compile(r"^[ \t]*(\*\*|__)([^*_\s](?:[^*_]*[^*_\s])?)(:?)\1(:?)[ \t]*$")
_CHAPTER = re.compile(r"[ \t]*(?:CHAPTER|Chapter) (?:[IVXLC]+|\d+|[A-Z][a-z-]+|[A-Z-]+)(?:[.:—-].{0,100})?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n")
_CODE = re.compile(
    r"""\s*(?:
    [\w.,*'"\[\] ]+(?::[\w.,|\[\] ]+)?[-+*/|&]?(?:=|<-|:=)\s*\S                    # a: b = c
    | (?:@|\$)\w | [\])}>]+[,;:]?$                                                 # decorators, variables of shells
    | (?:def|class|import|return|raise|assert|yield|elif|echo|export|sudo|pip|library|require)\b[ (]+\S
    | from\ [\w.]+\ import\b
    | (?:for|if|while|with|try|else|except|do|then|fi|done|esac|end|pass|break|continue)\b(?:.*[:)\]])?$
    | .*[{;(\[\\]$ | .*\w\(.*\)[:,;]?$ | .*["'\w\])],$                            # calls, parts of long statements
    )""",
    re.VERBOSE,
)
"""Line of a program, in the languages in which # begins a comment."""
_LONGEST_CODE = 200
"""Characters of the longest line that may be code."""
_MUCH = 0.4
"""Share of lines of code from which a text is a program, in which # begins a comment."""


@dataclass(frozen=True)
class Heading:
    """A heading: its first line and the line after it, counted from 0; its level, 1 the highest; its text."""

    start: int
    end: int
    level: int
    text: str


@dataclass(frozen=True)
class SplitText:
    """A plain text in sections.

    Attributes
    ----------
    title
        Title of the document, or None if the text does not open with one.
    sections
        Sections with and without text; the caller drops and counts the empty ones.
    headings
        Kind of the headings: `MEDIAWIKI`, `MARKDOWN`, `BOLD`, `CHAPTERS` or `NONE`.
    removed
        What was taken off: `BEFORE_TITLE`, if anything.
    """

    title: str | None
    sections: list[Section]
    headings: str
    removed: list[str]


def split_sections(text: str) -> SplitText:
    """Split a plain text into its sections.

    If lines are headings, the level of the first heading splits the text. If all other headings are deeper than the
    first, that is the document's title, and the highest level of the others splits; a few words before the title are
    taken off (`markup.is_preamble`). Deeper headings stay as lines of their sections. Other text before the first
    heading is the lead, with the title "abstract". Without headings, blocks between blank lines are sections without
    titles.

    Headings are those of MediaWiki ("== x =="), or else of Markdown ("# x", or underlined), or else at least two
    lines in bold type, or else at least two lines between blank lines such as "CHAPTER IV.". Lines in code are
    none, nor those of a text that is code itself.
    """
    text, removed = text.replace("\r\n", "\n").replace("\r", "\n"), list[str]()
    lines = text.split("\n")
    kind, headings = find_headings(text, lines)
    if not headings:
        blocks = (tidy(block) for block in _BLANK_LINES.split(text))
        return SplitText(None, [Section(None, block) for block in blocks if block], NONE, removed)
    title, first, rest = None, 0, headings
    if _begins_with_title(lines, headings):
        title, first, rest = headings[0].text, headings[0].end, headings[1:]
        if any(line.strip() for line in lines[: headings[0].start]):
            removed.append(BEFORE_TITLE)
    level = min(heading.level for heading in rest) if title is not None else headings[0].level
    return SplitText(title, _split_at(lines, first, rest, level), kind, removed)


def find_headings(text: str, lines: Sequence[str]) -> tuple[str, list[Heading]]:
    """Return the kind of a text's headings, and its headings in order; none if it has none."""
    in_code, markdown = _parse_markdown(text) if _MAY_BE_MARKDOWN.search(text) or _FENCE.search(text) else (set(), [])
    visible = [(number, line) for number, line in enumerate(lines) if number not in in_code]
    wiki = [(number, match) for number, line in visible if (match := _MEDIAWIKI.match(line))]
    if wiki:
        return MEDIAWIKI, [Heading(number, number + 1, len(match[1]), match[2]) for number, match in wiki]
    if markdown and not is_code([line for _, line in visible]):
        return MARKDOWN, markdown
    bold = [
        Heading(number, number + 1, 1, match[2])
        for number, line in visible
        if len(line) <= _LONGEST_HEADING and (match := _BOLD.match(line))
    ]
    if len(bold) > 1:
        return BOLD, bold
    chapters = [Heading(number, number + 1, 1, lines[number].strip()) for number in _find_chapters(lines)]
    return (CHAPTERS, chapters) if len(chapters) > 1 else (NONE, [])


def _find_chapters(lines: Sequence[str]) -> list[int]:
    """Return the numbers of the lines between blank lines that are headings of chapters."""
    triples = zip(["", *lines], lines, [*lines[1:], ""], strict=False)
    is_chapter = [not before.strip() and not after.strip() and _CHAPTER.match(line) for before, line, after in triples]
    return [number for number, is_one in enumerate(is_chapter) if is_one]


def is_code(lines: Sequence[str]) -> bool:
    """Return whether a text is a program, by its first line or by the shapes of its lines, comments excluded."""
    if lines and lines[0].startswith("#!"):
        return True
    counted = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return sum(map(_is_code, counted)) > _MUCH * len(counted)


def _is_code(line: str) -> bool:
    # The time of the pattern grows with the square of the line.
    return len(line) <= _LONGEST_CODE and _CODE.match(line) is not None


@cache
def _parser() -> MarkdownIt:
    """Return a parser of blocks alone: the text inside them does not matter."""
    return (
        MarkdownIt("zero")
        .enable(["heading", "lheading", "fence", "code", "list", "blockquote", "hr"])
        .disable("inline")
    )


def _parse_markdown(text: str) -> tuple[set[int], list[Heading]]:
    """Return the numbers of the lines in code blocks, and the headings outside of lists and quotations."""
    in_code: set[int] = set()
    headings = []
    tokens = _parser().parse(text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.map is None:
            continue
        start, end = token.map
        if token.type == "fence":
            in_code.update(range(start, end))
        elif token.type == "heading_open" and token.level == 0 and following is not None:
            heading = Heading(start, end, int(token.tag[1:]), without_emphasis(following.content).strip())
            if heading.text and (token.markup.startswith("#") or _is_underlined_heading(heading)):
                headings.append(heading)
    return in_code, headings


def _is_underlined_heading(heading: Heading) -> bool:
    """Return whether an underlined paragraph is a heading: one short line; a sentence above a rule is none."""
    is_line = heading.end - heading.start == 2 and len(heading.text) <= _LONGEST_HEADING
    return is_line and heading.text[-1] not in _ENDS


def _begins_with_title(lines: Sequence[str], headings: Sequence[Heading]) -> bool:
    """Return whether the first heading is the document's title."""
    first, *others = headings
    if not others or min(heading.level for heading in others) <= first.level:
        return False
    return is_preamble("\n".join(lines[: first.start]))


def _split_at(lines: Sequence[str], first: int, headings: Sequence[Heading], level: int) -> list[Section]:
    """Split the lines from `first` on at the headings of a level and above."""
    parts: list[tuple[str, list[str]]] = [(LEAD, [])]
    place = first
    for heading in headings:
        parts[-1][1].extend(lines[place : heading.start])
        place = heading.end
        if heading.level <= level:
            parts.append((heading.text, []))
        else:
            parts[-1][1].append(heading.text)
    parts[-1][1].extend(lines[place:])
    lead, *rest = [Section(name, join_lines(body)) for name, body in parts]
    return [lead, *rest] if lead.text else rest

"""Conversion of wikitext to plain text: the top-level sections of a page, without markup (deng2022, Appendix E).

Everything but running text is dropped: templates, tables, references, galleries, formulas, comments, and links to files
and categories. Headings below level 2 belong to the text of their section and stay as separate lines, as in
mwparserfromhell's `strip_code`, unless no text follows.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Tag, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from macroscope.readers.plain_text import join_lines, tidy

LEAD = "abstract"

_DROPPED_TAGS = frozenset(
    "ref references gallery table math chem timeline score imagemap hiero graph templatedata categorytree inputbox"
    " syntaxhighlight source mapframe maplink section indicator ce templatestyles style script".split()
)
_BREAKING_TAGS = frozenset("br hr li dt dd p div blockquote center poem tr".split())
# "[[de:Autismus]]" at the end of old pages: a link to another language's page, shown beside the text.
_INTERLANGUAGE = re.compile(r"(?:[a-z]{2,3}|simple|[a-z]{2,3}(?:-[a-z]+)+|tokipona|nostalgia):")

_QUOTES = re.compile(r"'{2,}")
_MAGIC_WORDS = re.compile(r"__[A-ZÄÖÜÉÈ]{3,}__")
_LEFTOVERS = re.compile(
    r"\{\|.*?\|\}|\{\{[^{}]*\}\}|<!--.*?(?:-->|$)|</?(?:ref|div|span|small|center|br|table|tr|td|onlyinclude"
    r"|includeonly|noinclude|nowiki|gallery|sup|sub|font|blockquote|poem|math|i|b|u|big|s)\b[^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
_LEFTOVER_BRACES = re.compile(r"\{\{+|\}\}+|\{\||\|\}|\[\[|\]\]")
_TABLE_LINE = re.compile(r"^\s*(?:\|[-}+|]?|!!|! ).*$", re.MULTILINE)
# Remains of templates: "( ; born 1950)" and "()".
_HOLLOW_START = re.compile(r"([(\[（])[\s,;:–/]+")
_HOLLOW_END = re.compile(r"[\s,;:]+([)\]）])")
_HOLLOW = re.compile(r" ?(?:\(\)|\[\]|（）)")
_SPACE_BEFORE = re.compile(r" +([,.;:!?)](?:\s|$))")


@dataclass
class RawSection:
    """A section of a page: its unchanged heading, and its plain text without blank lines."""

    title: str
    text: str


@dataclass
class Article:
    """The plain text of a page.

    Attributes
    ----------
    sections
        Sections with text, in order.
    empty_sections
        Number of sections without text.
    link_share
        Share of the text's characters that are in links to pages, in [0, 1].
    """

    sections: list[RawSection]
    empty_sections: int
    link_share: float


def parse_article(wikitext: str, hidden_prefixes: frozenset[str]) -> Article:
    """Split a page at its headings of level 2 (or 1) and render each section as plain text.

    Parameters
    ----------
    wikitext
        Source of the page.
    hidden_prefixes
        Lower-case names of the namespaces whose links are not text: files, categories.
    """
    # Style tags (bold, italic) are the parser's slowest part and not text; `_clean` removes their quotes.
    code = mwparserfromhell.parse(wikitext, skip_style_tags=True)
    renderer = _Renderer(hidden_prefixes)
    sections: list[RawSection] = []
    empty = 0
    for heading, nodes in _top_level(code):
        text = renderer.section(nodes)
        if text:
            sections.append(RawSection(LEAD if heading is None else renderer.line(heading.title), text))
        elif heading is not None:
            empty += 1
    characters = sum(len(section.text) for section in sections)
    return Article(sections, empty, min(1.0, renderer.link_characters / characters) if characters else 0.0)


def _top_level(code: Wikicode) -> list[tuple[Heading | None, list[object]]]:
    groups: list[tuple[Heading | None, list[object]]] = [(None, [])]
    for node in code.nodes:
        if isinstance(node, Heading) and node.level <= 2:
            groups.append((node, []))
        else:
            groups[-1][1].append(node)
    return groups


@dataclass
class _Renderer:
    """Renderer of wikicode that counts the characters in links."""

    hidden_prefixes: frozenset[str]
    link_characters: int = field(default=0)

    def section(self, nodes: Iterable[object]) -> str:
        parts: list[tuple[str, list[str]]] = [("", [])]
        for node in nodes:
            if isinstance(node, Heading):
                parts.append((self.line(node.title), []))
            else:
                parts[-1][1].append(self._node(node))
        lines: list[str] = []
        for heading, pieces in parts:
            body = _clean("".join(pieces))
            if body:
                lines += [heading, body]
        return join_lines(lines)

    def line(self, code: Wikicode) -> str:
        return " ".join(_clean(self._code(code)).split())

    def _code(self, code: Wikicode | None) -> str:
        return "" if code is None else "".join(self._node(node) for node in code.nodes)

    def _node(self, node: object) -> str:
        if isinstance(node, Text):
            return str(node.value)
        if isinstance(node, Wikilink):
            return self._wikilink(node)
        if isinstance(node, Tag):
            return self._tag(node)
        if isinstance(node, ExternalLink):
            return self._code(node.title) if node.brackets else str(node.url)
        if isinstance(node, HTMLEntity):
            return str(node.normalize())
        if isinstance(node, Heading):
            return "\n" + self._code(node.title) + "\n"
        return ""  # templates, their arguments, comments

    def _wikilink(self, link: Wikilink) -> str:
        target = str(link.title).strip()
        prefix, colon, _ = target.partition(":")
        if colon and prefix.strip().lower() in self.hidden_prefixes:
            return ""
        if colon and _INTERLANGUAGE.match(target) and link.text is None:
            return ""
        shown = self._code(link.title).strip().removeprefix(":") if link.text is None else self._code(link.text)
        self.link_characters += len(shown)
        return shown

    def _tag(self, tag: Tag) -> str:
        name = str(tag.tag).strip().lower()
        if name in _DROPPED_TAGS:
            return ""
        contents = self._code(tag.contents)
        if name in _BREAKING_TAGS:
            # A list item is a separate line; its bullet is an empty tag before it, at the start of a line.
            return contents if tag.wiki_markup else f"\n{contents}\n"
        return contents


def _clean(text: str) -> str:
    """Remove the remains of markup, also of broken markup, and tidy the lines."""
    text = _MAGIC_WORDS.sub("", _QUOTES.sub("", text))
    if "{" in text or "<" in text or "|" in text or "[[" in text or "}" in text:
        text = _TABLE_LINE.sub("", _LEFTOVERS.sub("", text))
        text = _LEFTOVER_BRACES.sub("", text)
    text = _HOLLOW.sub("", _HOLLOW_END.sub(r"\1", _HOLLOW_START.sub(r"\1", text)))
    return _SPACE_BEFORE.sub(r"\1", tidy(text))

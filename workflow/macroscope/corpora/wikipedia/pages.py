"""Parsing of a page of a MediaWiki dump to its kind and its sections, in worker processes.

The module imports nothing heavy, because every worker process imports it, and so does every replacement of a worker
that hung.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

import mwparserfromhell
from lxml import etree

from macroscope.corpora.wikipedia.conventions import FURTHER, Conventions, choose_variants
from macroscope.corpora.wikipedia.dump import Block, Truncated, decode_block, split_pages
from macroscope.corpora.wikipedia.wikitext import RawSection, parse_article

ARTICLE = "article"
# Reasons to leave out a page, in the order of the tests and of the counts.
OTHER_NAMESPACE = "page outside the article namespace"
REDIRECT = "redirect"
NO_TEXT = "page without text"
YEAR = "article about a year"
DISAMBIGUATION = "disambiguation page"
LIST = "page that is mostly links"
UNREADABLE = "page that cannot be parsed"
NO_SECTIONS = "page without running text"

KEPT = {"years": YEAR, "disambiguation": DISAMBIGUATION, "lists": LIST}
"""Name in the option `keep` -> reason to leave out such a page otherwise."""
_MOSTLY = 0.5
_REDIRECT = re.compile(r"\s*#\s*(?:redirect|weiterleitung|redirección|redireccion|redirection|rinvia)\b", re.IGNORECASE)
_NUMBER_OF_YEAR = r"\d{1,4}"
_ERA = r"(?:BCE?|CE|AD|v\. ?Chr\.|n\. ?Chr\.|a\. ?C\.|d\. ?C\.|av\. J\.-C\.|apr\. J\.-C\.)"
_YEAR_TITLE = re.compile(
    rf"(?:AD )?{_NUMBER_OF_YEAR}(?: {_ERA})?"  # 1987, 450 BC
    rf"|{_NUMBER_OF_YEAR}s(?: {_ERA})?"  # 1980s
    rf"|(?:Años|Années|Anni|Década de) {_NUMBER_OF_YEAR}(?: {_ERA})?|{_NUMBER_OF_YEAR}er(?: {_ERA})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th) (?:century|millennium)(?: {_ERA})?"
    rf"|\d{{1,2}}\. (?:Jahrhundert|Jahrtausend)(?: {_ERA})?|Siglo [IVXL]+(?: {_ERA})?"
    rf"|[IVXL]+e siècle(?: {_ERA})?|[IVXL]+ secolo(?: {_ERA})?"
    r"|\d{4} in .+"  # 1987 in film
)
_OLD_NAMESPACE = re.compile(
    r"(?:Talk|User|User talk|Wikipedia|Wikipedia talk|File|Image|MediaWiki|Template|Help|Category|Portal|Book|Draft"
    r"|Module|TimedText):\S"
)
_DISAMBIGUATION_TITLE = re.compile(
    r".*\((?:disambiguation|begriffsklärung|desambiguación|homonymie|disambigua)\)", re.IGNORECASE
)
_DISAMBIGUATION_TEMPLATE = re.compile(
    r"\{\{\s*(?:template:)?(?:disambig(?:uation)?(?:[ -](?:page|cleanup|acronym|place|name|number))?|disam|dab|dbig"
    r"|hndis(?:-cleanup)?|geodis|numberdis|mathdab|schooldis|hospitaldis|roaddis|letter-?(?:number )?combdis(?:ambig)?"
    r"|begriffsklärung|bks|desambiguación|desambiguacion|desambig|des|homonymie|arrêtdab|disambigua)\s*(?:\||\}\})"
    r"|__DISAMBIG__",
    re.IGNORECASE,
)
_LIST_TITLE = re.compile(
    r"(?:Lists? of|Index of|Outline of|Liste (?:der|des|von|de|d'|du)|Listas? de|Lista (?:dei|delle|degli|del)|Anexo:"
    r"|Elenco) ?\S.*"
)


@dataclass(frozen=True)
class Page:
    """Parsed page: plain data, to be sent between processes.

    Attributes
    ----------
    kind
        `ARTICLE`, or the reason to leave out the page.
    identifier
        Page id of the wiki.
    title
        Title of the page.
    sections
        Sections with text.
    empty_sections
        Number of sections without text.
    """

    kind: str
    identifier: str = ""
    title: str = ""
    sections: list[RawSection] = field(default_factory=list)
    empty_sections: int = 0


@dataclass(frozen=True)
class ParsedBlock:
    """Pages of a block of a multistream dump.

    Attributes
    ----------
    whole
        False if a page crosses the borders of the block, or the file ends within it; `pages` is then empty.
    ends_dump
        True if the dump's outermost element closes in this block.
    """

    pages: list[Page]
    whole: bool = True
    ends_dump: bool = False


def parse_block(
    path: Path,
    block: Block,
    hidden_prefixes: frozenset[str],
    parse: Callable[[list[bytes], frozenset[str]], list[Page]],
) -> ParsedBlock:
    """Decompress a block and parse its pages with `parse`."""
    try:
        split = split_pages(decode_block(path, block))
    except Truncated:
        return ParsedBlock([], whole=False)
    if not split.whole:
        return ParsedBlock([], whole=False)
    return ParsedBlock(parse(split.pages, hidden_prefixes), ends_dump=split.ends_dump)


def parse_pages(
    pages: list[bytes], hidden_prefixes: frozenset[str], language: str = "en", keep: Collection[str] = ()
) -> list[Page]:
    """Parse `<page>` elements, in order."""
    return [parse_page(page, hidden_prefixes, language, keep) for page in pages]


def parse_page(page: bytes, hidden_prefixes: frozenset[str], language: str = "en", keep: Collection[str] = ()) -> Page:
    """Parse one `<page>` element: its kind, and the sections of an article.

    If the page has several revisions, the last one is parsed. Kinds in `keep` (of `KEPT`) count as articles.
    """
    kept = {KEPT[name] for name in keep}
    try:
        element = etree.fromstring(page, etree.XMLParser(huge_tree=True, resolve_entities=False))
    except etree.XMLSyntaxError:
        return Page(UNREADABLE)
    identifier, title = element.findtext("id") or "", element.findtext("title") or ""
    revisions = element.findall("revision")
    text = (revisions[-1].findtext("text") if revisions else None) or ""
    kind = _kind_before_parsing(element, title, text)
    if kind == ARTICLE and language in FURTHER:
        kind = _kind_by_conventions(FURTHER[language], title, text)
    if kind != ARTICLE and kind not in kept:
        return Page(kind, identifier, title)
    try:
        article = parse_article(choose_variants(text) if language == "zh" else text, hidden_prefixes)
    except (mwparserfromhell.parser.ParserError, RecursionError):
        return Page(UNREADABLE, identifier, title)
    if not article.sections:
        return Page(NO_SECTIONS, identifier, title)
    if article.link_share > _MOSTLY and LIST not in kept:
        return Page(LIST, identifier, title)
    return Page(ARTICLE, identifier, title, article.sections, article.empty_sections)


def _kind_before_parsing(element: etree._Element, title: str, text: str) -> str:
    # Dumps before 2010 have no <ns>; the prefix of the title tells the namespace instead.
    namespace = element.findtext("ns")
    if (namespace or "0") != "0" or (namespace is None and _OLD_NAMESPACE.match(title)):
        return OTHER_NAMESPACE
    if element.find("redirect") is not None or _REDIRECT.match(text):
        return REDIRECT
    if not text.strip():
        return NO_TEXT
    if _YEAR_TITLE.fullmatch(title):
        return YEAR
    if _DISAMBIGUATION_TITLE.fullmatch(title) or _DISAMBIGUATION_TEMPLATE.search(text):
        return DISAMBIGUATION
    return LIST if _LIST_TITLE.fullmatch(title) else ARTICLE


def _kind_by_conventions(conventions: Conventions, title: str, text: str) -> str:
    """Return the kind of a page by the conventions of one wiki, before it is parsed."""
    tests = (
        ("redirect", text, REDIRECT),
        ("year", title, YEAR),
        ("disambiguation", title, DISAMBIGUATION),
        ("template", text, DISAMBIGUATION),
        ("list", title, LIST),
    )
    return next((kind for name, where, kind in tests if conventions.pattern(name).search(where)), ARTICLE)

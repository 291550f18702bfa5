"""Parsing of the pages of a dump to kinds and sections, in worker processes, with a time limit that holds in C code.

mwparserfromhell hangs on rare pages, inside its tokenizer, which no exception can interrupt. The limit is enforced from
outside, by ending the worker. Pages are sent in chunks; if a chunk is too slow, its pages are parsed again one by one,
so that only the slow page is lost. The number of chunks in progress is bounded, whatever the size of the dump.

The module imports nothing heavy, because every worker process imports it, and so does every replacement of a worker
that hung.
"""

import multiprocessing
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import mwparserfromhell
from lxml import etree
from pebble import ProcessExpired, ProcessPool

from macroscope.corpora.wikipedia.conventions import FURTHER, Conventions, choose_variants
from macroscope.corpora.wikipedia.dump import (
    Block,
    Truncated,
    decode_block,
    split_pages,
    stream_blocks,
    stream_pages,
    truncation_error,
)
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


CRASHED = "page that crashes the parser"
_PAGES_PER_CHUNK = 64
_BYTES_PER_CHUNK = 1 << 19
_CHUNKS_PER_WORKER = 3
# A chunk's limit only decides when its pages are parsed one by one; it is some seconds more than that of a page.
_EXTRA_SECONDS_PER_PAGE = 0.1
_PAGES_PER_BLOCK = 100

ParsePages = Callable[[list[bytes], frozenset[str]], list[Page]]
C = TypeVar("C")


def slow_kind(page_seconds: float) -> str:
    return f"page slower than {page_seconds:g} s"


class PageParsers:
    """Worker processes that parse pages, as a context manager.

    Parameters
    ----------
    path
        Dump file.
    hidden_prefixes
        Namespaces whose links are not text; see `macroscope.corpora.wikipedia.dump.Site`.
    workers
        Number of processes.
    page_seconds
        Time limit for one page, in seconds.
    parse
        Function that parses a chunk of pages.
    """

    def __init__(
        self,
        path: Path,
        hidden_prefixes: frozenset[str],
        workers: int,
        page_seconds: float,
        parse: ParsePages = parse_pages,
    ) -> None:
        self.path, self.hidden_prefixes, self.page_seconds, self.parse = path, hidden_prefixes, page_seconds, parse
        self.window = _CHUNKS_PER_WORKER * workers + 1
        # A spawned worker inherits neither locks nor threads of this process, and starts on any platform.
        self._pool = ProcessPool(max_workers=workers, context=multiprocessing.get_context("spawn"))

    def __enter__(self) -> "PageParsers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.stop()
        self._pool.join()

    def parsed(self) -> Iterator[Page]:
        """Stream the parsed pages of the dump, in its order."""
        position, count, ends = 0, 0, False
        for block, future in self._ordered(stream_blocks(self.path), self._submit_block):
            parsed = self._block_result(block, future)
            if not parsed.whole:
                break
            yield from parsed.pages
            position, count, ends = block.end, count + len(parsed.pages), parsed.ends_dump
        if position < self.path.stat().st_size:
            # The rest has no blocks of whole pages, so this process splits it into pages.
            yield from self._parsed_from(position, count)
        elif not ends:
            raise truncation_error(self.path, count)

    def _parsed_from(self, position: int, pages_before: int) -> Iterator[Page]:
        for chunk, future in self._ordered(_chunks(stream_pages(self.path, position, pages_before)), self._submit):
            yield from self._result(chunk, future)

    def _ordered(self, chunks: Iterable[C], submit: Callable[[C], Future[Any]]) -> Iterator[tuple[C, Future[Any]]]:
        """Submit chunks ahead, up to the window, and yield them with their results in order."""
        pending: deque[tuple[C, Future[Any]]] = deque()
        try:
            for chunk in chunks:
                pending.append((chunk, submit(chunk)))
                if len(pending) >= self.window:
                    yield pending.popleft()
            while pending:
                yield pending.popleft()
        finally:
            for _, future in pending:
                future.cancel()

    def _submit_block(self, block: Block) -> Future[Any]:
        limit = self.page_seconds + _EXTRA_SECONDS_PER_PAGE * _PAGES_PER_BLOCK
        return self._pool.schedule(parse_block, (self.path, block, self.hidden_prefixes, self.parse), timeout=limit)

    def _submit(self, chunk: list[bytes]) -> Future[Any]:
        limit = self.page_seconds + _EXTRA_SECONDS_PER_PAGE * (len(chunk) - 1)
        return self._pool.schedule(self.parse, (chunk, self.hidden_prefixes), timeout=limit)

    def _block_result(self, block: Block, future: Future[Any]) -> ParsedBlock:
        try:
            return future.result()
        except (TimeoutError, ProcessExpired):
            split = split_pages(decode_block(self.path, block))
            return ParsedBlock(list(self._one_by_one(split.pages)), ends_dump=split.ends_dump)

    def _result(self, chunk: list[bytes], future: Future[Any]) -> list[Page]:
        try:
            return future.result()
        except (TimeoutError, ProcessExpired):
            return list(self._one_by_one(chunk))

    def _one_by_one(self, chunk: list[bytes]) -> Iterator[Page]:
        for _, future in self._ordered([[page] for page in chunk], self._submit):
            try:
                yield from future.result()
            except TimeoutError:
                yield Page(slow_kind(self.page_seconds))
            except ProcessExpired:
                yield Page(CRASHED)


def _chunks(dump_pages: Iterable[bytes]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for page in dump_pages:
        chunk.append(page)
        size += len(page)
        if len(chunk) == _PAGES_PER_CHUNK or size >= _BYTES_PER_CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk

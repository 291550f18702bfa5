"""Reader of the source `wikipedia`: articles of a MediaWiki dump, selected as in deng2022 (Appendix E)."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.wikipedia import WikipediaCorpus, parsing
from macroscope.corpora.wikipedia.dump import read_site
from macroscope.corpora.wikipedia.parsing import CRASHED, Page, PageParsers, slow_kind
from macroscope.documents import Count, Document, Provenance, Section
from macroscope.progress import Progress
from macroscope.readers.splits import assign_split

DUPLICATE = "page id that occurred before"
EMPTY_SECTION = "section without running text"


def read_dump(
    options: WikipediaCorpus | SimulatedCorpus, path: Path, provenance: Provenance, workers: int
) -> Iterator[Document]:
    """Stream the articles of a dump as documents, in the dump's order.

    A document's id is "<database>-<page id>". Its sections are the page's sections of level 2; the text before the
    first of them is the section "abstract". `provenance` receives the counts after the last page.

    Parameters
    ----------
    options
        `page_seconds`, `valid_share` and `test_share` are used.
    path
        Dump as XML, bzip2 (single- or multistream) or gzip; its content tells the format, not its name.
    provenance
        Receives a count for each reason to leave out a page, in the order of the tests.
    workers
        Number of worker processes.
    """
    site = read_site(path)
    keep = options.keep if isinstance(options, WikipediaCorpus) else ()
    parse = partial(parsing.parse_pages, language=options.language, keep=keep)
    provenance.source.update(file=path.name, site=site.name)
    kinds: Counter[str] = Counter()
    sections = Count(EMPTY_SECTION, 0, 0, "sections")
    seen: set[str] = set()
    with (
        PageParsers(path, site.hidden_prefixes, workers, options.page_seconds, parse) as parsers,
        Progress(f"extract {path.name}", unit="pages") as progress,
    ):
        for page in parsers.parsed():
            progress.advance(1)
            kind = DUPLICATE if page.kind == parsing.ARTICLE and page.identifier in seen else page.kind
            kinds[kind] += 1
            if kind != parsing.ARTICLE:
                continue
            seen.add(page.identifier)
            sections.kept += len(page.sections)
            sections.dropped += page.empty_sections
            yield _document(page, site.name, options)
    provenance.counts += [*_counts(kinds, options.page_seconds), sections]


def _document(page: Page, site: str | None, options: WikipediaCorpus | SimulatedCorpus) -> Document:
    identifier = f"{site}-{page.identifier}" if site else page.identifier
    split = assign_split(identifier, options.valid_share, options.test_share)
    return Document(identifier, split, page.title, tuple(Section(raw.title, raw.text) for raw in page.sections))


def _counts(kinds: Counter[str], page_seconds: float) -> Iterator[Count]:
    """Return one count per filter; each filter gets the pages that the filters before it kept."""
    remaining = kinds.total()
    for kind in (
        parsing.OTHER_NAMESPACE,
        parsing.REDIRECT,
        parsing.NO_TEXT,
        parsing.YEAR,
        parsing.DISAMBIGUATION,
        slow_kind(page_seconds),
        CRASHED,
        parsing.UNREADABLE,
        parsing.NO_SECTIONS,
        parsing.LIST,
        DUPLICATE,
    ):
        remaining -= kinds[kind]
        yield Count(kind, remaining, kinds[kind], "pages")

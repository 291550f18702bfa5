"""MediaWiki dumps: the same pages from every format, and clear errors for broken dumps."""

import bz2
import gzip
import time

import pytest

from macroscope.corpora.wikipedia import WikipediaCorpus
from macroscope.corpora.wikipedia.parsing import ARTICLE, PageParsers, parse_page, parse_pages
from macroscope.corpora.wikipedia.reading import read_dump
from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError

HEAD = '<mediawiki xml:lang="en"><siteinfo><dbname>testwiki</dbname></siteinfo>\n'
TAIL = "</mediawiki>\n"
OPTIONS = WikipediaCorpus(source="wikipedia", page_seconds=5)


def page(number: int, title: str, text: str, namespace: int = 0) -> str:
    return (
        f"<page><title>{title}</title><ns>{namespace}</ns><id>{number}</id><revision><text>{text}</text></revision>"
        "</page>\n"
    )


PAGES = [page(n, f"Subject {n}", f"Lead of {n}.\n== History ==\nText of {n}.") for n in range(1, 251)]
XML = HEAD + "".join(PAGES) + TAIL


def multistream() -> bytes:
    blocks = [HEAD, *("".join(PAGES[start : start + 100]) for start in range(0, len(PAGES), 100)), TAIL]
    return b"".join(bz2.compress(block.encode()) for block in blocks)


PACKINGS = {
    "xml": XML.encode(),
    "xml.gz": gzip.compress(XML.encode()),
    "single.bz2": bz2.compress(XML.encode()),
    "multistream.bz2": multistream(),
}


def read(path, provenance=None, options=OPTIONS):
    return list(read_dump(options, path, provenance or Provenance("test"), 2))


@pytest.mark.slow
@pytest.mark.parametrize("packing", PACKINGS)
def test_every_packing_gives_the_same_documents(tmp_path, packing):
    path = tmp_path / f"dump.{packing}"
    path.write_bytes(PACKINGS[packing])
    documents = read(path)
    assert [d.id for d in documents] == [f"testwiki-{n}" for n in range(1, 251)]
    assert [(s.title, s.text) for s in documents[6].sections] == [("abstract", "Lead of 7."), ("History", "Text of 7.")]


@pytest.mark.slow
@pytest.mark.parametrize("packing", PACKINGS)
def test_truncated_dump_says_how_many_pages_came_before(tmp_path, packing):
    path = tmp_path / "dump"
    path.write_bytes(PACKINGS[packing][:-30])
    with pytest.raises(MacroscopeError, match=r"dump: the dump is truncated: it ends after \d+ whole pages"):
        read(path)


@pytest.mark.slow
def test_corrupt_dump_says_where(tmp_path):
    data = bytearray(PACKINGS["multistream.bz2"])
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "dump.bz2"
    path.write_bytes(bytes(data))
    with pytest.raises(MacroscopeError, match=r"corrupt compressed data at or after byte [\d,]+"):
        read(path)


@pytest.mark.parametrize("content", [b"", b"<html><body>Not found</body></html>", b"\x89PNG\r\n\x1a\n"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "dump"
    path.write_bytes(content)
    with pytest.raises(MacroscopeError, match="not a MediaWiki dump"):
        read(path)


def test_missing_file():
    with pytest.raises(MacroscopeError, match="no such file"):
        read(__import__("pathlib").Path("nowhere.xml"))


@pytest.mark.slow
def test_every_kind_of_dropped_page_is_counted(tmp_path):
    pages = [
        page(1, "Kept", "Lead.\n== History ==\nText."),
        page(2, "Moved", "#REDIRECT [[Kept]]"),
        page(3, "1987", "Events of a year."),
        page(4, "450 BC", "Events of a year."),
        page(5, "Kept (disambiguation)", "May refer to:\n* [[Kept]]"),
        page(6, "Mercury", "May refer to:\n* [[Kept]]\n{{disambiguation}}"),
        page(7, "Talk:Kept", "Words.", namespace=1),
        page(8, "Empty", ""),
        page(9, "List of things", "* [[A thing]]\n* [[Another thing]]"),
        page(1, "Kept twice", "Lead.\n== History ==\nText."),
        page(11, "Hollow section", "Lead.\n== Table ==\n{| class='x'\n| a\n|}\n== History ==\nText."),
    ]
    path = tmp_path / "dump.xml"
    path.write_text(HEAD + "".join(pages) + TAIL)
    provenance = Provenance("test")
    assert [d.title for d in read(path, provenance)] == ["Kept", "Hollow section"]
    dropped = {count.filter: count.dropped for count in provenance.counts if count.dropped}
    assert dropped == {
        "redirect": 1,
        "article about a year": 2,
        "disambiguation page": 2,
        "page outside the article namespace": 1,
        "page without text": 1,
        "page that is mostly links": 1,
        "page id that occurred before": 1,
        "section without running text": 1,
    }
    kept = next(c.kept for c in provenance.counts if c.filter == "page id that occurred before")
    assert kept == 2


def test_kinds_of_pages_can_be_kept():
    pages = {"years": page(1, "1987", "Events."), "disambiguation": page(2, "It (disambiguation)", "May refer to: it.")}
    pages["lists"] = page(3, "Things", "* [[A thing]]\n* [[Another thing]]")
    for name, text in pages.items():
        for keep in ([], [name], sorted(set(pages) - {name})):
            kind = parse_page(text.encode(), frozenset(), "en", keep).kind
            assert (kind == ARTICLE) == (name in keep)


def hang_on_page_7(pages, hidden_prefixes):
    if any(b"<id>7</id>" in page for page in pages):
        time.sleep(60)
    return parse_pages(pages, hidden_prefixes)


@pytest.mark.slow
@pytest.mark.parametrize("packing", ["xml", "multistream.bz2"])
def test_only_the_page_that_hangs_is_lost(tmp_path, packing):
    path = tmp_path / "dump"
    path.write_bytes(PACKINGS[packing])
    with PageParsers(path, frozenset(), 2, 1.0, parse=hang_on_page_7) as parsers:
        kinds = [page.kind for page in parsers.parsed()]
    assert len(kinds) == 250
    assert [n for n, kind in enumerate(kinds, start=1) if kind != "article"] == [7]
    assert kinds[6] == "page slower than 1 s"

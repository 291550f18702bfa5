"""The simulated encyclopaedia as a MediaWiki dump (kind `wiki`), or as texts in WebText's layout (kind `webtext`).

In the dump, the known plain text of each article gets markup: infobox, references, links, tables, files, subheadings,
boilerplate sections. Pages that are not articles, or that the filters must drop, are among the articles and are listed.
"""

import bz2
import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.articles import infer_article_genre, merge_sections, simulate_documents
from macroscope.corpora.simulated.process import wiki_process
from macroscope.corpora.simulated.texts import write_texts, write_true_documents
from macroscope.corpora.simulated.wikitext import CLUTTER, make_clutter_page, render_wikitext
from macroscope.documents import Document, Provenance, write_documents
from macroscope.files import atomic, write_json
from macroscope.readers.splits import assign_split

SITE, WEBTEXT_NAME = "simwiki", "simwebtext"
PAGES_PER_STREAM = 100
ARTICLE = "article"
_HEAD = f"""<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Simulated encyclopaedia</sitename>
    <dbname>{SITE}</dbname>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""
_TAIL = "</mediawiki>\n"


@dataclass(frozen=True)
class WikiPage:
    """A page of the dump; its kind is "article" or one of `wikitext.CLUTTER`."""

    kind: str
    title: str
    wikitext: str
    namespace: int = 0


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write the dump, and the truth about it. Same options and seed, same bytes.

    Parameters
    ----------
    options
        `documents`: number of articles of the process; `clutter`: other pages per article.
    raw
        Multistream bzip2 file to write.
    truth
        Folder to write: process.json (the section process and its exact statistics), documents.parquet (id, gold
        section types and plain text of each article: the expected result of extraction and filters) and pages.csv (id,
        title, kind of each page).
    """
    process = wiki_process()
    write_json(truth / "process.json", process.to_json())
    pages: list[tuple[int, WikiPage]] = []
    gold = _with_unique_titles(simulate_documents(process, "process", options.documents, seed))

    def documents() -> Iterator[Document]:
        for number, (document, page) in enumerate(_with_clutter(gold, options, seed), start=1):
            pages.append((number, page))
            if document is not None:
                identifier = f"{SITE}-{number}"
                split = assign_split(identifier, options.valid_share, options.test_share)
                yield replace(document, id=identifier, split=split, title=page.title)

    write_true_documents(truth, SITE, documents(), seed)
    _write_pages(truth / "pages.csv", pages)
    with atomic(raw) as temporary:
        temporary.write_bytes(b"".join(_streams(pages)))


def write_webtext(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write the JSON Lines file, and the truth about it. Same options and seed, same bytes.

    Parameters
    ----------
    options
        `documents`: number of articles of the process; `clutter`: texts without words per article.
    raw
        JSON Lines file to write; see `corpora.simulated.texts`.
    truth
        Folder to write: process.json (the section process and its exact statistics), documents.parquet (id and words of
        each text: the expected result of extraction and filters) and articles.parquet (the same texts as articles
        whose section titles are their gold section types).
    """
    process = wiki_process()
    write_json(truth / "process.json", process.to_json())
    documents = simulate_documents(process, "process", options.documents, seed)
    articles = write_texts(
        raw, (replace(article, label=infer_article_genre(article)) for article in documents), options, seed
    )
    provenance = Provenance(WEBTEXT_NAME, {"name": "truth", "seed": seed})
    write_documents(truth / "articles.parquet", articles, provenance)
    write_true_documents(truth, WEBTEXT_NAME, map(merge_sections, articles), seed)


def _with_unique_titles(documents: Iterable[Document]) -> Iterator[Document]:
    """Number repeated titles, because titles are unique in a wiki."""
    seen: Counter[str] = Counter()
    for document in documents:
        title = document.title or ""
        seen[title] += 1
        yield replace(document, title=title if seen[title] == 1 else f"{title} ({seen[title]})")


def _with_clutter(
    articles: Iterable[Document], options: SimulatedCorpus, seed: int
) -> Iterator[tuple[Document | None, WikiPage]]:
    """Render the articles, and insert pages that must be dropped."""
    rng = np.random.default_rng([seed, 0xC1])
    made = due = 0
    for number, article in enumerate(articles):
        markup = np.random.default_rng([seed, number, 0xA])
        yield article, WikiPage(ARTICLE, article.title or "", render_wikitext(article, markup))
        due = int((number + 1) * options.clutter)
        while made < due:
            kind = CLUTTER[made % len(CLUTTER)]
            title, wikitext, namespace = make_clutter_page(kind, made, article, rng)
            yield None, WikiPage(kind, title, wikitext, namespace)
            made += 1


def _write_pages(path: Path, pages: Iterable[tuple[int, WikiPage]]) -> None:
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["id", "title", "kind"])
        writer.writerows((number, page.title, page.kind) for number, page in pages)


def _streams(pages: list[tuple[int, WikiPage]]) -> Iterator[bytes]:
    """Compress like Wikimedia: the header, every hundred pages, and the end are separate bzip2 streams."""
    yield bz2.compress(_HEAD.encode())
    for start in range(0, len(pages), PAGES_PER_STREAM):
        block = "".join(_xml(number, page) for number, page in pages[start : start + PAGES_PER_STREAM])
        yield bz2.compress(block.encode())
    yield bz2.compress(_TAIL.encode())


def _xml(number: int, page: WikiPage) -> str:
    return f"""  <page>
    <title>{escape(page.title)}</title>
    <ns>{page.namespace}</ns>
    <id>{number}</id>
    <revision>
      <id>{number + 10_000_000}</id>
      <timestamp>2020-01-01T00:00:00Z</timestamp>
      <model>wikitext</model>
      <text xml:space="preserve">{escape(page.wikitext)}</text>
    </revision>
  </page>
"""

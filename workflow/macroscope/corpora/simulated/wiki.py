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
from macroscope.corpora.simulated.articles import infer_article_genre, merge_sections, simulate_documents, wording
from macroscope.corpora.simulated.process import ABSTRACT, wiki_process
from macroscope.corpora.simulated.texts import write_texts, write_true_documents
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.files import atomic, write_json
from macroscope.readers.splits import assign_split

_TABLE = '{| class="wikitable"\n|-\n! Year !! Number\n|-\n| 1950 || 12\n|-\n| 1960 || 15\n|}'
_BOILERPLATE = {
    "See also": "* [[Encyclopaedia]]\n* [[Knowledge]]",
    "References": "{{Reflist}}\nRetrieved in a library.",
    "External links": "* [https://example.org/ Official page]",
}
REDIRECT, DISAMBIGUATION, YEAR, LIST, NAMESPACE = "redirect", "disambiguation", "year", "list", "other namespace"
STUB, FEW_SECTIONS, RARE_TITLE = "short section", "few sections", "rare section title"
CLUTTER = (REDIRECT, STUB, DISAMBIGUATION, FEW_SECTIONS, YEAR, RARE_TITLE, LIST, NAMESPACE)

_SYLLABLES = ("ba", "do", "ki", "lu", "me", "na", "ro", "su", "ti", "va")


def render_wikitext(document: Document, rng: np.random.Generator) -> str:
    """Render an article as wikitext: its sections under variants of their titles, then boilerplate."""
    parts = [f"{{{{Infobox subject\n| name = {document.title}\n| born = 1900\n}}}}"]
    for number, section in enumerate(document.sections):
        if number or section.title != ABSTRACT:
            parts.append(f"== {sample_heading(section.title or '', rng)} ==")
        parts.append(_with_markup(section, rng))
    for title in wording()["boilerplate"]:
        if rng.random() < 0.7:
            parts.append(f"== {title} ==\n{_BOILERPLATE[title]}")
    parts.append(f"{{{{Authority control}}}}\n[[Category:{document.title}]]")
    return "\n\n".join(parts)


def sample_heading(section_type: str, rng: np.random.Generator) -> str:
    """Sample a spelling of a section title; capitalise a title that is not a section type of the process."""
    types = wording()["types"]
    titles = types[section_type]["titles"] if section_type in types else [section_type.capitalize()]
    return titles[rng.integers(len(titles))]


def _with_markup(section: Section, rng: np.random.Generator) -> str:
    """Add links, references and comments to the sentences, and a table, a file or a hatnote on separate lines."""
    sentences = [_mark_up(text, rng) for text in section.text.split(". ")]
    text = ". ".join(sentences)
    before = "{{Main|" + (section.title or "") + "}}\n" if rng.random() < 0.2 else ""
    before += "[[File:Picture.jpg|thumb|A [[picture]] of it]]\n" if rng.random() < 0.3 else ""
    after = f"\n\n{_TABLE}" if rng.random() < 0.2 else ""
    return f"{before}{text}{after}"


def _mark_up(text: str, rng: np.random.Generator) -> str:
    """Add markup to a sentence without changing its words."""
    words = text.split(" ")
    index = int(rng.integers(len(words)))
    word = words[index]
    if word.isalpha():
        marked = (f"[[{word}]]", f"[[Some page|{word}]]", f"'''{word}'''", f"''{word}''", word, word)
        words[index] = marked[rng.integers(len(marked))]
    end = (
        "",
        "",
        '<ref name="a">{{cite book|title=A book|year=1999}}</ref>',
        "<ref>A source, p. 5.</ref>",
        "<!-- check -->",
    )
    return " ".join(words) + end[rng.integers(len(end))]


def make_clutter_page(kind: str, number: int, neighbour: Document, rng: np.random.Generator) -> tuple[str, str, int]:
    """Make a page of a kind.

    Parameters
    ----------
    kind
        One of `CLUTTER`.
    number
        Number of this page among the clutter, which makes titles unique.
    neighbour
        Article whose sections are reused.
    rng
        Random numbers for the markup.

    Returns
    -------
    title, wikitext, namespace
    """
    word = make_rare_word(number)
    subject = f"{word.capitalize()} {neighbour.title}"
    if kind == REDIRECT:
        return subject, f"#REDIRECT [[{neighbour.title}]]", 0
    if kind == DISAMBIGUATION:
        return subject, f"'''{subject}''' may refer to:\n* [[{neighbour.title}]]\n{{{{disambiguation}}}}", 0
    if kind == YEAR:
        return str(1000 + number % 1000), "== Events ==\n* Something happened.\n== Births ==\n* [[Somebody]]", 0
    if kind == LIST:
        links = "\n".join(f"* [[{section.title} of {subject}]]" for section in neighbour.sections)
        return f"List of {subject}", links, 0
    if kind == NAMESPACE:
        return f"Talk:{subject}", "A remark about the article. ~~~~", 1
    return subject, render_wikitext(_damage(kind, word, neighbour), rng), 0


def _damage(kind: str, word: str, article: Document) -> Document:
    """Return an article that a filter drops: one short section, too few sections, or one rare title."""
    lead, *body = (section for section in article.sections)
    if kind == STUB:
        sections = (lead, *body[:-1], Section(body[-1].title, "Not much is known about this."))
    elif kind == FEW_SECTIONS:
        sections = (lead, body[0])
    else:
        sections = (lead, *body, Section(word, body[-1].text))
    return Document(article.id, article.split, article.title, sections)


def make_rare_word(number: int) -> str:
    """Make a word that is unique to a number: its digits as syllables."""
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:03d}")


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
    """A page of the dump; its kind is "article" or one of `CLUTTER`."""

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

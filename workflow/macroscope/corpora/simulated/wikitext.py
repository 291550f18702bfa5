"""Wikitext of simulated pages: articles, and pages that extraction or the filters must drop, one kind for each reason.

The markup of articles must be removed exactly.
"""

import numpy as np

from macroscope.corpora.simulated.articles import wording
from macroscope.corpora.simulated.process import ABSTRACT
from macroscope.documents import Document, Section

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

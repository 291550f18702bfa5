"""Pages that extraction or the filters must drop, one kind for each reason."""

import numpy as np

from macroscope.corpora.simulated.wikitext import render_wikitext
from macroscope.documents import Document, Section

REDIRECT, DISAMBIGUATION, YEAR, LIST, NAMESPACE = "redirect", "disambiguation", "year", "list", "other namespace"
STUB, FEW_SECTIONS, RARE_TITLE = "short section", "few sections", "rare section title"
CLUTTER = (REDIRECT, STUB, DISAMBIGUATION, FEW_SECTIONS, YEAR, RARE_TITLE, LIST, NAMESPACE)

_SYLLABLES = ("ba", "do", "ki", "lu", "me", "na", "ro", "su", "ti", "va")


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

"""Pages that extraction or the filters must leave out, one kind for each reason."""

import numpy as np

from macroscope.corpora.simulated.wikitext import article_wikitext
from macroscope.documents import Document, Section

REDIRECT, DISAMBIGUATION, YEAR, LIST, NAMESPACE = "redirect", "disambiguation", "year", "list", "other namespace"
STUB, FEW_SECTIONS, RARE_TITLE = "short section", "few sections", "rare section title"
CLUTTER = (REDIRECT, STUB, DISAMBIGUATION, FEW_SECTIONS, YEAR, RARE_TITLE, LIST, NAMESPACE)

_SYLLABLES = ("ba", "do", "ki", "lu", "me", "na", "ro", "su", "ti", "va")


def clutter_page(kind: str, number: int, neighbour: Document, rng: np.random.Generator) -> tuple[str, str, int]:
    """Make a page of a kind.

    Parameters
    ----------
    number
        Number of this page among the clutter: titles differ by it.
    neighbour
        An article, whose sections serve as material.

    Returns
    -------
    title, wikitext, namespace
    """
    word = rare_word(number)
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
    return subject, article_wikitext(_spoilt(kind, word, neighbour), rng), 0


def _spoilt(kind: str, word: str, article: Document) -> Document:
    """An article that a filter of documents drops: one section too short, too few sections, or one title too rare."""
    lead, *others = (section for section in article.sections)
    if kind == STUB:
        sections = (lead, *others[:-1], Section(others[-1].title, "Not much is known about this."))
    elif kind == FEW_SECTIONS:
        sections = (lead, others[0])
    else:
        sections = (lead, *others, Section(word, others[-1].text))
    return Document(article.id, article.split, article.title, sections)


def rare_word(number: int) -> str:
    """A word that no other number has: its digits as syllables."""
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:03d}")

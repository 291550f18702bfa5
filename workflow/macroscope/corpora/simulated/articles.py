"""Documents of the simulated encyclopaedia: section types from the process, texts from the wording, both by seed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.genres import genre_of
from macroscope.corpora.simulated.process import SectionProcess
from macroscope.corpora.simulated.wording import draw_article, draw_sentences
from macroscope.documents import Document, Section

ORDERS = ("process", "shuffled", "independent")


def simulate_documents(process: SectionProcess, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw documents whose section titles are their true section types.

    Parameters
    ----------
    order
        "process": section types from the process. "shuffled": the same, in an order drawn uniformly from all.
        "independent": as many sections as the process makes, each of a type drawn from the process's marginal
        distribution over sections.
    n
        Number of documents. The first ones are the same whatever `n` is.
    seed
        Same seed, same documents.

    Returns
    -------
    iterator of Document, of split "test", with ids "simulated-<number>"
    """
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        types = draw_section_types(process, order, rng)
        article = draw_article(types, rng)
        sections = tuple(Section(name, " ".join(draw_sentences(name, article, rng))) for name in types)
        yield Document(f"simulated-{number:06d}", "test", article.subject[0].upper() + article.subject[1:], sections)


def draw_section_types(process: SectionProcess, order: str, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw the section types of one document; see `simulate_documents`."""
    types = process.sample(rng)
    if order == "shuffled":
        return tuple(types[index] for index in rng.permutation(len(types)))
    if order == "independent":
        drawn = rng.choice(len(process.states), size=len(types), p=process.section_marginal())
        return tuple(process.states[index] for index in drawn)
    if order != "process":
        raise ValueError(f"order is {order!r}, not one of {', '.join(ORDERS)}")
    return types


def draw(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw articles from the process in a file; see `simulate_documents`."""
    return simulate_documents(SectionProcess.load(process), order, n, seed)


def draw_texts(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw the same in the form of texts."""
    return map(as_text, draw(process, order, n, seed))


def as_text(article: Document) -> Document:
    """Return an article in the form of a text: one section without a title, a line for each section it had."""
    text = "\n".join(section.text for section in article.sections)
    return replace(article, title=None, sections=(Section(None, text),), label=genre(article))


def genre(article: Document) -> str:
    """Genre of an article, by its section types."""
    return genre_of(section.title or "" for section in article.sections)

"""Documents of the simulated encyclopaedia: section types of the process, with texts of the wording."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.genres import infer_genre
from macroscope.corpora.simulated.process import SectionProcess
from macroscope.corpora.simulated.wording import sample_article, sample_sentences
from macroscope.documents import Document, Section

ORDERS = ("process", "shuffled", "independent")


def simulate_documents(process: SectionProcess, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate documents whose section titles are their true section types.

    Parameters
    ----------
    order
        "process": section types of the process. "shuffled": the same, in random order. "independent": as many
        sections as in the process, with types sampled independently from its marginal distribution over sections.
    n
        Number of documents. The first documents are the same whatever `n` is.
    seed
        Random seed; the same seed gives the same documents.

    Returns
    -------
    iterator of Document
        Documents in the split "test", with ids "simulated-<number>".
    """
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        types = sample_section_types(process, order, rng)
        article = sample_article(types, rng)
        sections = tuple(Section(name, " ".join(sample_sentences(name, article, rng))) for name in types)
        yield Document(f"simulated-{number:06d}", "test", article.subject[0].upper() + article.subject[1:], sections)


def sample_section_types(process: SectionProcess, order: str, rng: np.random.Generator) -> tuple[str, ...]:
    """Sample the section types of one document; see `simulate_documents`."""
    types = process.sample(rng)
    if order == "shuffled":
        return tuple(types[index] for index in rng.permutation(len(types)))
    if order == "independent":
        indices = rng.choice(len(process.states), size=len(types), p=process.section_marginal())
        return tuple(process.states[index] for index in indices)
    if order != "process":
        raise ValueError(f"order is {order!r}, not one of {', '.join(ORDERS)}")
    return types


def generate(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate articles of the process in a file; see `simulate_documents`."""
    return simulate_documents(SectionProcess.load(process), order, n, seed)


def generate_texts(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate the same articles as texts; see `merge_sections`."""
    return map(merge_sections, generate(process, order, n, seed))


def merge_sections(article: Document) -> Document:
    """Return an article as a text: one section without a title, with a line per section of the article."""
    text = "\n".join(section.text for section in article.sections)
    return replace(article, title=None, sections=(Section(None, text),), label=infer_article_genre(article))


def infer_article_genre(article: Document) -> str:
    """Infer the genre of an article from its section types."""
    return infer_genre(section.title or "" for section in article.sections)

"""Documents of the simulated encyclopaedia: section types of the process, and the wording of their sections.

The wording depends on the section's type and on the article's genre and names, never on a neighbouring section. So a
section classifier can recover nothing but the type, and nothing but the process of section types connects sections.
"""

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from macroscope.corpora.simulated.process import ABSTRACT, SectionProcess, infer_genre
from macroscope.corpora.simulated.texts import require_order
from macroscope.documents import Document, Section
from macroscope.files import RESOURCES

_SLOT = re.compile(r"\{(\w+)\}")
_A_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])")
_FEWEST_WORDS, _MOST_SENTENCES, _END_SHARE = 38, 9, 0.4
_PRONOUNS = {"female": ("she", "her"), "male": ("he", "his"), None: ("it", "its")}
_FIRST_YEAR, _LAST_YEAR = 1850, 2010


@dataclass(frozen=True)
class Article:
    """Subject and names of an article.

    Attributes
    ----------
    genre
        "person", "settlement", "film" or "species".
    subject
        Name of the subject, as in sentences.
    gender
        "female", "male", or None if the subject is not a person.
    others, places, years
        People, places and years that recur in the article.
    """

    genre: str
    subject: str
    gender: str | None
    others: tuple[str, ...]
    places: tuple[str, ...]
    years: tuple[int, ...]


@cache
def wording() -> dict[str, Any]:
    return yaml.safe_load((RESOURCES / "simulated_wording.yaml").read_text(encoding="utf-8"))


def sample_article(section_types: Sequence[str], rng: np.random.Generator) -> Article:
    """Sample the subject and the names of an article with these sections."""
    names = wording()["names"]
    genre = infer_genre(section_types)
    gender = str(rng.choice(["female", "male"])) if genre == "person" else None
    places = tuple(_compound(names["place_start"], names["place_end"], "", rng) for _ in range(2))
    if gender:
        subject = _person(gender, rng)
    elif genre == "settlement":
        subject = _compound(names["place_start"], names["place_end"], "", rng)
    elif genre == "film":
        subject = "The " + _compound(names["film_first"], names["film_second"], " ", rng)
    else:
        subject = "the " + _compound(names["species_first"], names["species_second"], " ", rng)
    others = tuple(_person(str(rng.choice(["female", "male"])), rng) for _ in range(2))
    years = tuple(int(year) for year in np.sort(rng.integers(_FIRST_YEAR, _LAST_YEAR, size=4)))
    return Article(genre, subject, gender, others, places, years)


def _person(gender: str, rng: np.random.Generator) -> str:
    names = wording()["names"]
    return _compound(names[gender], names["family"], " ", rng)


def _compound(first: Sequence[str], second: Sequence[str], between: str, rng: np.random.Generator) -> str:
    return first[int(rng.integers(len(first)))] + between + second[int(rng.integers(len(second)))]


def sample_sentences(section_type: str, article: Article, rng: np.random.Generator) -> list[str]:
    """Sample the sentences of a section, 38 to about 70 words: the first names the subject, and none is repeated."""
    first, *templates = _templates(section_type, article.genre)
    shared = wording()["shared"]["sentences"]
    rest = [templates[index] for index in rng.permutation(len(templates))]
    for index in rng.permutation(len(shared)):
        rest.insert(int(rng.integers(len(rest) + 1)), shared[index])
    sentences = [_fill(first, section_type, article, rng)]
    for template in rest:
        if _words(sentences) >= _FEWEST_WORDS and (len(sentences) == _MOST_SENTENCES or rng.random() < _END_SHARE):
            break
        sentences.append(_fill(template, section_type, article, rng))
    return sentences


def _templates(section_type: str, genre: str) -> list[str]:
    return wording()["abstracts"][genre] if section_type == ABSTRACT else wording()["types"][section_type]["sentences"]


def _words(sentences: Sequence[str]) -> int:
    return sum(len(sentence.split()) for sentence in sentences)


def _fill(template: str, section_type: str, article: Article, rng: np.random.Generator) -> str:
    sentence = _SLOT.sub(lambda match: _slot(match.group(1), section_type, article, rng), template)
    sentence = _A_BEFORE_VOWEL.sub(r"\1n ", sentence)
    return sentence[0].upper() + sentence[1:]


def _slot(name: str, section_type: str, article: Article, rng: np.random.Generator) -> str:
    pronoun, possessive = _PRONOUNS[article.gender]
    match name:
        case "S":
            return article.subject
        case "s":
            return article.subject if rng.random() < 0.25 else pronoun
        case "s_":
            return pronoun
        case "his":
            return possessive
        case "His":
            return possessive.capitalize()
        case "O":
            return _zipf(article.others, rng)
        case "place":
            return _zipf(article.places, rng)
        case "year":
            return str(article.years[rng.integers(len(article.years))])
        case "quality":
            return _zipf(wording()["shared"]["quality"], rng)
        case _:
            return _zipf(wording()["types"][section_type][name], rng)


def _zipf(words: Sequence[str], rng: np.random.Generator) -> str:
    return words[bisect(_cumulative(len(words)), rng.random())]


@cache
def _cumulative(size: int) -> list[float]:
    weights = 1 / np.arange(1, size + 1)
    return (weights.cumsum() / weights.sum()).tolist()[:-1]


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
    require_order(order)
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
    return infer_genre(section.title or "" for section in article.sections)

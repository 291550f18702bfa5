"""Pool of documents for an annotation form, from a finished run or from files."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from macroscope.corpora.titles import normalise_title
from macroscope.criticize.inputs import GivenFields, make_texts
from macroscope.criticize.reading import check_sides, read_counted
from macroscope.documents import Document, read_documents
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL, require_name
from macroscope.runs.results import Results, read_run

log = logging.getLogger("macroscope")
FEWEST_TYPES = 2
"""Number of section types from which on annotators can choose one."""


@dataclass(frozen=True)
class Place:
    """A place in a text that annotators are asked about.

    Attributes
    ----------
    kind
        "sentence", or "slot": the place after a sentence.
    sentence
        Number of the sentence, from 0.
    """

    kind: Literal["sentence", "slot"]
    sentence: int


@dataclass
class Pool:
    """Documents to sample from.

    Attributes
    ----------
    systems
        System -> its documents; real text is the system `control`.
    training
        Real documents with a type for every section, disjoint from those of `control`.
    types
        Section types to choose from, the most frequent first.
    language
        ISO 639-1 code, for sentence splitting.
    counts
        Reason for exclusion -> number of documents.
    places
        Id of a document -> the place in it that the questions are about; empty if they are about whole texts.
    screening
        Documents of the screening task, with the score of the right answer.
    """

    systems: dict[str, list[Document]]
    training: list[Document]
    types: list[str]
    language: str
    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, Place] = field(default_factory=dict)
    screening: list[tuple[Document, float]] = field(default_factory=list)


def open_run(run: Path, corpus: str | None) -> tuple[Results, str]:
    """Return a finished run, and the corpus of a study: `corpus`, or the run's only one."""
    results = read_run(run)
    config = results.config
    if corpus is None:
        if len(config.corpora) > 1:
            raise MacroscopeError(f"{run}: several corpora ({', '.join(config.corpora)}); choose one with --corpus")
        corpus = next(iter(config.corpora))
    try:
        require_name(corpus, config.corpora, str(run), "corpus")
    except ValueError as error:
        raise MacroscopeError(str(error)) from None
    return results, corpus


def pool_of_run(run: Path, corpus: str | None, systems: Sequence[str]) -> Pool:
    """Read the documents of a finished run.

    Parameters
    ----------
    run
        Folder of the run, `results/<run>`.
    corpus
        Name of the corpus; may be None if the run has only one.
    systems
        Names of the systems; default: the control and all systems evaluated against the corpus.

    Raises
    ------
    MacroscopeError
        If the run has no such corpus or system, or several corpora and none is given.
    """
    results, corpus = open_run(run, corpus)
    config = results.config
    try:
        for system in systems:
            require_name(system, {**config.systems, CONTROL: None}, str(run), "system")
    except ValueError as error:
        raise MacroscopeError(str(error)) from None
    chosen = list(systems) or [CONTROL, *config.judged_systems(corpus)]
    samples = {system: list(read_documents(results.samples_of(corpus, system))) for system in chosen}
    documents = results.documents_of(corpus)
    titled = [document for split in ("train", "valid") for document in read_documents(documents, split)]
    return _make_pool(samples, titled, config.corpora[corpus].language)


def pool_of_files(
    real: Sequence[Path],
    systems: Mapping[str, Sequence[Path]],
    given: GivenFields,
    requested: str | None,
    training: int,
) -> Pool:
    """Read the documents of a user's files; warnings say what users should know about them.

    Parameters
    ----------
    real
        Files of real texts; the first `training` texts with titled sections are for the training phase, the rest is
        `control`.
    systems
        System -> its files.
    given
        Names of fields that the user gave.
    requested
        Language that the user requests; None: it is recognized.
    training
        Number of documents of the training phase.
    """
    counts: Counter[str] = Counter()
    documents = {name: _read(paths, name, given, counts) for name, paths in {CONTROL: real, **systems}.items() if paths}
    judged = {name: texts for name, texts in documents.items() if name != CONTROL}
    language = check_sides(documents.get(CONTROL, []), judged, requested).language
    texts = [_with_types(document, language) for document in documents.get(CONTROL, [])]
    titled = [document for document in texts if _types_of(document)]
    first = {document.id for document in titled[:training]}
    if real:
        documents[CONTROL] = [document for document in texts if document.id not in first]
    pool = _make_pool(documents, titled, language)
    pool.training = [document for document in pool.training if document.id in first]
    pool.counts += counts
    return pool


def _read(paths: Sequence[Path], name: str, given: GivenFields, counts: Counter[str]) -> list[Document]:
    documents, left_out = read_counted(name, make_texts(paths, given, "people" if name == CONTROL else "models"))
    for count in left_out:
        if count.dropped:
            counts[f"{name}: {count.filter}"] += count.dropped
    return documents


def _with_types(document: Document, language: str) -> Document:
    sections = tuple(
        replace(section, title=normalise_title(section.title, language) if section.title else None)
        for section in document.sections
    )
    return replace(document, sections=sections)


def _types_of(document: Document) -> list[str]:
    """Return the types of all sections; empty if any section has none."""
    titles = [section.title for section in document.sections]
    return [title for title in titles if title] if all(titles) else []


def _make_pool(systems: Mapping[str, Iterable[Document]], titled: Sequence[Document], language: str) -> Pool:
    """Build a pool without empty and duplicate texts, which are counted."""
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    kept: dict[str, list[Document]] = {}
    for system, documents in systems.items():
        kept[system] = []
        for document in documents:
            text = " ".join(document.text.split())
            if not text:
                counts[f"{system}: document without text"] += 1
            elif text in seen:
                counts[f"{system}: duplicate of the text of another document"] += 1
            else:
                seen.add(text)
                kept[system].append(document)
    training = [document for document in titled if _types_of(document)]
    frequencies = Counter(kind for document in training for kind in _types_of(document))
    types = sorted(frequencies, key=lambda kind: (-frequencies[kind], kind))
    unseen = [document for document in training if " ".join(document.text.split()) not in seen]
    return Pool(kept, unseen, types, language, counts)

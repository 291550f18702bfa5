"""Source `cohan`: scientific articles in the layout of Cohan et al. (2018), PubMed and arXiv.

Each line is a JSON object with `article_id`, `abstract_text` (sentences in <S> </S>), `section_names` and `sections` (a
list of sentences each). The official zips hold train.txt, val.txt and test.txt; their splits are kept.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import RetrievedCorpus
from macroscope.documents import Count, Document, Provenance, Section, keep
from macroscope.errors import MacroscopeError
from macroscope.options import UserPath
from macroscope.progress import Progress
from macroscope.readers.archives import is_zip, open_members
from macroscope.readers.plain_text import tidy
from macroscope.readers.records import parse_lines, read_numbered_records
from macroscope.readers.splits import assign_split

SOURCE = Source(options=":CohanCorpus", read=":read_articles")
ABSTRACT = "abstract"
_OFFICIAL_SPLITS = {"train.txt": "train", "val.txt": "valid", "valid.txt": "valid", "test.txt": "test"}
_ORDER = ("train", "valid", "test")
_SENTENCE_MARK = re.compile(r"</?[sS]>")

Record = tuple[str, str | None, dict[str, Any]]
"""Place in the file, official split, and content of an article."""


class CohanCorpus(RetrievedCorpus):
    """Scientific articles in the layout of Cohan et al. (2018)."""

    source: Literal["cohan"]
    dataset: str | None = Field(None, description="Name of a data set in resources/sources.yaml: pubmed or arxiv.")
    files: list[UserPath] = Field([], description="Local zips or JSON Lines files (also gz) instead; each is a part.")
    abstract: bool = Field(False, description="Put the abstract first, as a section of type 'abstract'.")


def read_articles(options: CohanCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the articles of a zip or of a JSON Lines file (also gzipped).

    Parameters
    ----------
    options
        `abstract` puts the abstract first, as a section of that title (the paper does not, see its Table 18).
    provenance
        Receives the counts: articles with unequal numbers of names and sections, empty sections, articles without
        text, ids that occurred before.
    """
    mismatched = Count("article with unequal numbers of sections and section names", 0, 0)
    empty_sections = Count("section without text", 0, 0, "sections")
    empty = Count("article without text", 0, 0)
    duplicates = Count("article id that occurred before", 0, 0)
    provenance.counts += [mismatched, empty_sections, empty, duplicates]
    provenance.source.update(file=path.name)
    seen: set[str] = set()
    with Progress(f"extract {path.name}", unit="articles") as progress:
        for where, split, record in _records(path):
            progress.advance(1)
            identifier, names, texts = _fields(record, where)
            if not keep(mismatched, len(names) == len(texts)):
                continue
            sections = _sections(names, texts, empty_sections)
            abstract = _abstract(record, where) if options.abstract else ""
            if abstract:
                sections.insert(0, Section(ABSTRACT, abstract))
            if not keep(empty, bool(sections)) or not keep(duplicates, identifier not in seen):
                continue
            seen.add(identifier)
            split = split or assign_split(identifier, options.valid_share, options.test_share)
            yield Document(identifier, split, None, tuple(sections))


def _records(path: Path) -> Iterator[Record]:
    if not is_zip(path):
        for number, record in read_numbered_records(path):
            yield f"{path}, line {number}", None, record
        return
    missing = "no train.txt, val.txt or test.txt in this zip; give the zip of Cohan et al."
    with open_members(
        path, _official_split, missing, lambda name: (_ORDER.index(_official_split(name)), name)
    ) as members:
        for name, member in members:
            with member as stream:
                for number, record in parse_lines(stream, f"{path}, {name}"):
                    yield f"{path}, {name}, line {number}", _official_split(name), record


def _official_split(name: str) -> str | None:
    """Return the split that a file of the zip holds; None for other files, such as those that macOS adds."""
    path = PurePosixPath(name)
    return None if "__MACOSX" in path.parts[:1] else _OFFICIAL_SPLITS.get(path.name)


def _fields(record: dict[str, Any], where: str) -> tuple[str, list[str], list[list[str]]]:
    for name, valid in (("article_id", str), ("section_names", list), ("sections", list)):
        if not isinstance(record.get(name), valid):
            actual = type(record[name]).__name__ if name in record else "missing"
            raise MacroscopeError(
                f"{where}: '{name}' is {actual}, not a {valid.__name__}; an article of Cohan et al. has article_id,"
                " abstract_text, section_names and sections"
            )
    if not record["article_id"]:
        raise MacroscopeError(f"{where}: 'article_id' is empty; give every article a unique id")
    for section in record["sections"]:
        if not isinstance(section, list) or not all(isinstance(sentence, str) for sentence in section):
            raise MacroscopeError(
                f"{where}: a section is not a list of sentences; 'sections' is a list of lists of strings"
            )
    if not all(isinstance(name, str) for name in record["section_names"]):
        raise MacroscopeError(f"{where}: a section name is not a string; 'section_names' is a list of strings")
    return record["article_id"], record["section_names"], record["sections"]


def _sections(names: list[str], texts: list[list[str]], empty: Count) -> list[Section]:
    sections = []
    for name, sentences in zip(names, texts, strict=True):
        text = tidy(" ".join(sentence.strip() for sentence in sentences if sentence.strip()))
        if keep(empty, bool(text)):
            sections.append(Section(name, text))
    return sections


def _abstract(record: dict[str, Any], where: str) -> str:
    sentences = record.get("abstract_text") or []
    sentences = [sentences] if isinstance(sentences, str) else sentences
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise MacroscopeError(
            f"{where}: 'abstract_text' is neither a text nor a list of sentences; give one, or leave it out"
        )
    joined = " ".join(sentences)
    return tidy(_SENTENCE_MARK.sub(" ", joined))

"""Source `webtext`: long texts without sections, in the layout of openai/gpt-2-output-dataset.

Each line is a JSON object with `id`, `ended` (whether the text has an end, or was cut), `length` (in tokens) and
`text`; only `text` is required. WebText itself and the samples of the four sizes of GPT-2 have this layout.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import RetrievedCorpus, Split, TextFilters
from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.documents import Count, Document, Provenance, Section, keep
from macroscope.errors import MacroscopeError
from macroscope.options import UserPath
from macroscope.progress import Progress
from macroscope.readers.plain_text import tidy
from macroscope.readers.records import read_identifier, read_numbered_records
from macroscope.readers.splits import assign_split, parse_split

SOURCE = Source(options=":WebTextCorpus", read=":read_webtext")


class WebTextCorpus(RetrievedCorpus):
    """Options of texts without sections, in the layout of openai/gpt-2-output-dataset: WebText, or other texts."""

    not_extracted = RetrievedCorpus.not_extracted | {"splits"}

    source: Literal["webtext"]
    dataset: str | None = Field(None, description="Name of a data set in resources/sources.yaml: webtext.")
    splits: list[Split] = Field(
        ["train", "valid", "test"],
        min_length=1,
        description="Splits of the data set's files to take, by their names (train: 250,000 texts).",
    )
    files: list[UserPath] = Field([], description="Local JSON Lines files (also gz) instead; each is a part.")
    official_splits: bool = Field(
        True,
        description="Keep the split in a file's name, as in webtext.test.jsonl; otherwise, split by id hash.",
    )
    filters: TextFilters = Field(TextFilters(), description="Filters that choose the documents.")

    @model_validator(mode="after")
    def _leaves_official_training_texts(self) -> "WebTextCorpus":
        if self.dataset is not None and self.official_splits and "train" not in self.splits:
            raise ValueError(
                "without 'train' among 'splits' there are no training documents; add it, or give"
                " 'official_splits: false'"
            )
        return self

    @property
    def splits_retrieved(self) -> Sequence[str]:
        return self.splits


def read_webtext(
    options: WebTextCorpus | SimulatedCorpus, path: Path, provenance: Provenance, workers: int = 1
) -> Iterator[Document]:
    """Stream the texts of a JSON Lines file (also gzipped) as documents of one section without a title.

    Parameters
    ----------
    options
        `official_splits` keeps the split in the file's name (webtext.test.jsonl); other files are split by id hash.
    provenance
        Receives the counts; see `read_texts`.
    """
    provenance.source.update(file=path.name)
    by_hash = isinstance(options, WebTextCorpus) and not options.official_splits
    official = None if by_hash else parse_split(path.name)
    for document in read_texts([path], provenance):
        split = official or assign_split(document.id, options.valid_share, options.test_share)
        yield replace(document, split=split)


def read_texts(paths: Sequence[Path], provenance: Provenance) -> Iterator[Document]:
    """Stream the texts of files, all in the split "test", such as a model's samples.

    A document's id is its `id`, or else the file's name and the line. `label` and `original` are kept.

    Parameters
    ----------
    provenance
        Receives the counts: texts without any words, ids that occurred before.
    """
    empty = Count("text without words", 0, 0)
    duplicates = Count("text id that occurred before", 0, 0)
    provenance.counts += [empty, duplicates]
    seen: set[str] = set()
    for path in paths:
        with Progress(f"read {path.name}", unit="texts") as progress:
            for number, record in read_numbered_records(path):
                progress.advance(1)
                document = _document(record, f"{path}, line {number}", f"{path.name.split('.json')[0]}-{number}")
                if keep(empty, bool(document.sections[0].text)) and keep(duplicates, document.id not in seen):
                    seen.add(document.id)
                    yield document


def _document(record: dict[str, Any], where: str, default_id: str) -> Document:
    text = record.get("text")
    if not isinstance(text, str):
        fault = f"'text' is a {type(text).__name__}" if "text" in record else "'text' is missing"
        raise MacroscopeError(f"{where}: {fault}; a line of this format has id, ended, length and text (a string)")
    name = read_identifier(record, "id", default_id, where)
    extra: dict[str, str | None] = {}
    for key in ("label", "original"):
        value = record.get(key)
        if not isinstance(value, str | None):
            raise MacroscopeError(f"{where}: '{key}' is a {type(value).__name__}; give a string, or leave it out")
        extra[key] = value or None
    section = Section(None, tidy(text))
    return Document(name, "test", None, (section,), label=extra["label"], original=extra["original"])

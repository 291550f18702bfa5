"""Source `webtext`: long texts without sections, in the layout of openai/gpt-2-output-dataset.

One JSON object a line: `id`, `ended` (whether the text has an end, or was cut), `length` (in tokens), `text`. The same
layout holds WebText itself and what the four sizes of GPT-2 wrote. Only `text` must be there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from macroscope.corpora.declaration import Source
from macroscope.corpora.lines import identifier_of, numbered_records
from macroscope.corpora.options import Corpus, Split, TextFilters
from macroscope.corpora.plain_text import tidy
from macroscope.corpora.simulated.options import SimulatedCorpus
from macroscope.corpora.splits import named_split, split_of
from macroscope.documents import Count, Document, Provenance, Section, keep
from macroscope.errors import MacroscopeError
from macroscope.options import UserPath
from macroscope.progress import Progress

SOURCE = Source(options=":WebTextCorpus", read=":read_webtext")


class WebTextCorpus(Corpus):
    """Texts without sections, in the layout of openai/gpt-2-output-dataset: WebText itself, or other texts."""

    not_extracted = Corpus.not_extracted | {"splits"}

    source: Literal["webtext"]
    dataset: str | None = Field(None, description="Name of a data set in resources/sources.yaml: webtext.")
    splits: list[Split] = Field(
        ["train", "valid", "test"],
        min_length=1,
        description="Which of the data set's files are taken, by the split in their names (train: 250,000 texts).",
    )
    files: list[UserPath] = Field([], description="Local JSON Lines files (also gz) instead, each one part.")
    official_splits: bool = Field(
        True,
        description="Keep the split in a file's name, as in webtext.test.jsonl; without one, or if not, by id hash.",
    )
    filters: TextFilters = Field(TextFilters(), description="Which documents are kept.")

    @model_validator(mode="after")
    def _something_to_train_on(self) -> "WebTextCorpus":
        if self.dataset is not None and self.official_splits and "train" not in self.splits:
            raise ValueError(
                "without 'train' among 'splits' nothing is left to train on; give 'official_splits: false'"
            )
        return self

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.raw_files import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place, self.splits)


def read_webtext(
    options: WebTextCorpus | SimulatedCorpus, path: Path, provenance: Provenance, workers: int = 1
) -> Iterator[Document]:
    """Stream the texts of a JSON Lines file (also gzipped) as documents of one section without a title.

    Parameters
    ----------
    options
        `official_splits` keeps the split that the file's name holds (webtext.test.jsonl); files that are named
        otherwise are split by id hash.
    provenance
        Receives the counts; see `read_texts`.
    workers
        Not used: reading is no faster than the disk.

    Raises
    ------
    MacroscopeError
        Where a line is malformed, with file and line.
    """
    provenance.source.update(file=path.name)
    by_hash = isinstance(options, WebTextCorpus) and not options.official_splits
    official = None if by_hash else named_split(path.name)
    for document in read_texts([path], provenance):
        split = official or split_of(document.id, options.valid_share, options.test_share)
        yield replace(document, split=split)


def read_texts(paths: Sequence[Path], provenance: Provenance) -> Iterator[Document]:
    """Stream the texts of files, all of the split "test": what a model wrote.

    A document's id is its `id`, or where there is none the file's name and the line. `label` and `original` are kept.

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
            for number, record in numbered_records(path):
                progress.advance(1)
                document = _document(record, f"{path}, line {number}", f"{path.name.split('.json')[0]}-{number}")
                if keep(empty, bool(document.sections[0].text)) and keep(duplicates, document.id not in seen):
                    seen.add(document.id)
                    yield document


def _document(record: dict[str, Any], where: str, default_id: str) -> Document:
    text = record.get("text")
    if not isinstance(text, str):
        found = f"'text' is a {type(text).__name__}" if "text" in record else "'text' is missing"
        raise MacroscopeError(f"{where}: {found}; a line of this format has id, ended, length and text (a string)")
    name = identifier_of(record, "id", default_id, where)
    known: dict[str, str | None] = {}
    for key in ("label", "original"):
        value = record.get(key)
        if not isinstance(value, str | None):
            raise MacroscopeError(f"{where}: '{key}' is a {type(value).__name__}; give a string, or leave it out")
        known[key] = value or None
    section = Section(None, tidy(text))
    return Document(name, "test", None, (section,), label=known["label"], original=known["original"])

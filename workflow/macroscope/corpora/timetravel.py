"""Source `timetravel`: TimeTravel's stories of five sentences, with their rewritten endings.

Each line is a JSON object, although the files are called .json. It has `story_id`, `premise`, `initial`,
`counterfactual`, `original_ending` (three sentences, as one text or as a list) and the rewritten endings:
`edited_endings`, lists of three sentences (dev, test), or `edited_ending`, one list (train); `timetravel-hub` has
`edited_ending` alone, a text with an ending per line. The original story is premise, initial, original ending; a
rewritten story is premise, counterfactual, rewritten ending. With three rewritings a line is four stories: the 1,871
lines of dev, and of test, are the 7,484 stories in Table 1 of cai2020.

A story may be in two files: the original of a supervised line is in train_unsupervised as well. The first one counts,
so test and dev are read before train.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import Field, field_validator

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import RetrievedCorpus, TextFilters
from macroscope.documents import Count, Document, Provenance, Section, keep, require_whole_characters
from macroscope.errors import MacroscopeError
from macroscope.natural_language.sentences import split_sentences
from macroscope.options import UserPath
from macroscope.progress import Progress
from macroscope.readers.archives import is_zip, open_members
from macroscope.readers.plain_text import tidy
from macroscope.readers.records import parse_lines, read_identifier, read_numbered_records
from macroscope.readers.splits import assign_split

SOURCE = Source(options=":TimeTravelCorpus", read=":read_timetravel")
STORY_SENTENCES, ENDING_SENTENCES = 5, 3
_SPLITS = {"train": "train", "dev": "valid", "valid": "valid", "test": "test"}
_NAME = re.compile(r"(train|dev|valid|test)(?![a-z])")
_READ_FIRST = ("test", "valid", "train", None)
"""Official splits in the order in which their files are read; files of no split are last."""
_STOP = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])")


class TimeTravelCorpus(RetrievedCorpus):
    """Options of stories of five sentences: ROCStories, and versions with changed events and rewritten endings."""

    source: Literal["timetravel"]
    dataset: Literal["timetravel", "timetravel-hub"] | None = Field(
        None, description="Data set of resources/sources.yaml: the zip of the release, or its files on a hub."
    )
    files: list[UserPath] = Field(
        [], description="Local JSON Lines files (also gz) or zips of them instead; each is a part."
    )
    rewritten: bool = Field(
        True, description="Include the stories with a changed second sentence and rewritten ending (cai2020)."
    )
    official_splits: bool = Field(
        True,
        description="Keep the split in a file's name (train_..., dev_..., test_...); otherwise, split by id hash.",
    )
    filters: TextFilters = Field(TextFilters(), description="Filters that choose the stories.")

    @field_validator("files")
    @classmethod
    def _order_files(cls, files: list[str]) -> list[str]:
        return sorted(files, key=_reading_order)


def read_timetravel(
    options: TimeTravelCorpus, path: Path, provenance: Provenance, workers: int = 1
) -> Iterator[Document]:
    """Stream the stories of a file; each has `sentences`, and one section that joins them.

    All stories of a line are in one split, by the file's name or by a hash of the `story_id`.

    Parameters
    ----------
    provenance
        Receives the counts: stories without exactly five sentences, stories that occurred before.
    """
    provenance.source.update(file=path.name)
    wrong_length = Count("story that is not of five sentences", 0, 0)
    duplicates = Count("story id that occurred before", 0, 0)
    provenance.counts += [wrong_length, duplicates]
    seen: set[str] = set()
    with Progress(f"extract {path.name}", unit="stories") as progress:
        for file, number, record in _records(path):
            where = f"{path}, {file}, line {number}" if file != path.name else f"{path}, line {number}"
            identifier = read_identifier(record, "story_id", f"{file.split('.json')[0]}-{number}", where)
            split = _official_split(file) if options.official_splits else None
            split = split or assign_split(identifier, options.valid_share, options.test_share)
            for suffix, sentences in _stories(record, where, options.rewritten):
                progress.advance(1)
                name = f"{identifier}-{suffix}"
                if not keep(wrong_length, len(sentences) == STORY_SENTENCES and all(sentences)):
                    continue
                if keep(duplicates, name not in seen):
                    seen.add(name)
                    section = Section(None, " ".join(sentences))
                    yield Document(name, split, None, (section,), sentences=tuple(sentences))


def _records(path: Path) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Read triples (file name, line, record) of a file of JSON Lines, or of a zip of such files like the release."""
    if not is_zip(path):
        yield from ((path.name, number, record) for number, record in read_numbered_records(path))
        return
    missing = "no .json file in it; give the zip of TimeTravel, or its files"
    with open_members(path, _is_json, missing, _reading_order) as members:
        for name, member in members:
            with member as stream:
                for number, record in parse_lines(stream, f"{path}, {name}"):
                    yield PurePosixPath(name).name, number, record


def _is_json(name: str) -> bool:
    return name.endswith(".json") and not name.startswith("__MACOSX")


def _official_split(name: str) -> str | None:
    """Return the split that a file's name gives; None if it gives none."""
    named = _NAME.match(PurePosixPath(name).name)
    return _SPLITS[named[1]] if named else None


def _reading_order(name: str) -> int:
    """Return the place of a file in the order of reading, in which the official test and development sets are first."""
    return _READ_FIRST.index(_official_split(name))


def _stories(record: dict[str, Any], where: str, rewritten: bool) -> Iterator[tuple[str, list[str]]]:
    """Return the stories of a line as pairs (suffix of the id, sentences)."""
    premise, initial = (_text(record, key, where) for key in ("premise", "initial"))
    yield "original", [premise, initial, *_sentences(record.get("original_ending"), f"{where}: 'original_ending'")]
    if not rewritten:
        return
    endings = _rewritten_endings(record)
    if not endings:
        return  # train_unsupervised has none
    counterfactual = _text(record, "counterfactual", where)
    for number, ending in enumerate(endings, 1):
        yield f"rewritten-{number}", [premise, counterfactual, *_sentences(ending, f"{where}: a rewritten ending")]


def _rewritten_endings(record: dict[str, Any]) -> list[Any]:
    """Return the rewritten endings of a line, each a list of sentences or a text."""
    edited = record.get("edited_endings", record.get("edited_ending"))
    if isinstance(edited, str):
        return edited.splitlines()
    if not isinstance(edited, list) or not edited:
        return []
    return edited if "edited_endings" in record else [edited]


def _text(record: dict[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise MacroscopeError(
            f"{where}: '{key}' is not a text; a line of TimeTravel has premise, initial, original_ending"
        )
    return _line(value)


def _sentences(ending: object, where: str) -> list[str]:
    """Return the sentences of an ending, which is a list of them or a text."""
    if isinstance(ending, list) and all(isinstance(sentence, str) for sentence in ending):
        return [_line(sentence) for sentence in ending]
    if not isinstance(ending, str):
        raise MacroscopeError(f"{where} is neither a text nor a list of sentences")
    sentences = [_line(sentence) for sentence in split_sentences(require_whole_characters(_line(ending), where))]
    # A word here may be an abbreviation for the segmenter ("I saw May. She ...").
    return sentences if len(sentences) == ENDING_SENTENCES else _STOP.split(_line(ending))


def _line(text: str) -> str:
    return " ".join(tidy(text).split())

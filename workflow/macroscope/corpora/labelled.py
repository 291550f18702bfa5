r"""Source `labelled`: short texts with known sentiment, author or topic, in the layouts of three data sets.

* `yelp_polarity`: Yelp reviews and their sentiment (Zhang et al. 2015), as train.csv and test.csv in a tar archive. A
  line is `"label","text"`, without a header; label 1 is negative, 2 is positive. Quotes in a text are doubled, and line
  breaks are written as \n; some quotes are also written as \".
* `news_category`: headlines and descriptions of news and their first author, as JSON Lines with `headline`,
  `short_description`, `authors` and `link`.
* `newsgroups20`: posts and their newsgroup, one file per message in the folders 20news-bydate-train/<group> and
  20news-bydate-test/<group> of a tar archive. Header, footer and quotations are removed.
"""

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

from pydantic import Field, model_validator

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import RetrievedCorpus, TextFilters
from macroscope.documents import Count, Document, Provenance, Section, keep
from macroscope.errors import MacroscopeError
from macroscope.options import UserPath
from macroscope.progress import Progress
from macroscope.readers.archives import open_members, read_member
from macroscope.readers.plain_text import tidy
from macroscope.readers.records import LONGEST_LINE, read_bounded_lines, read_identifier, read_numbered_records
from macroscope.readers.splits import assign_split

SOURCE = Source(options=":LabelledCorpus", read=":read_labelled")
LABELS = {"1": "negative", "2": "positive"}
_OFFICIAL_SPLITS = {"train.csv": "train", "test.csv": "test"}
_MESSAGE = re.compile(r"20news-bydate-(train|test)/([^/]+)/([^./][^/]*)$")
# Quoted lines, and lines that introduce a quotation.
_QUOTATION = re.compile(r"^[>|]|^In article|^Quoted from|writes in|writes:|wrote:|says:|said:")
LabelledLayout = Literal["yelp_polarity", "news_category", "newsgroups20"]


class LabelledCorpus(RetrievedCorpus):
    """Options of short texts with known sentiment, author or topic, for probing (pimentel2022 section 6.1, App. C)."""

    source: Literal["labelled"]
    dataset: LabelledLayout | None = Field(
        None, description="Data set of resources/sources.yaml: reviews and sentiment, news and author, posts and group."
    )
    files: list[UserPath] = Field([], description="Local files instead, in the data set's format; each is a part.")
    format: LabelledLayout | None = Field(None, description="Data set of the local files.")
    official_splits: bool = Field(
        True,
        description="Keep the official training and test splits; otherwise, or if there are none, split by id hash.",
    )
    valid_share: float = Field(
        0.0, ge=0, lt=1, description="Share of the training texts that becomes the validation split (by id hash)."
    )
    filters: TextFilters = Field(
        TextFilters(),
        description="Filters that choose the documents; default for news_category: min_per_label: 400 (paper).",
    )

    @property
    def layout(self) -> str:
        """Return the data set whose layout the files have."""
        layout = self.format or self.dataset
        assert layout is not None  # otherwise there are neither files nor a data set
        return layout

    @model_validator(mode="before")
    @classmethod
    def _fitting_filters(cls, given: Any) -> Any:
        """Add the paper's filter of news_category; it applies to no other data set."""
        if isinstance(given, dict) and "news_category" in (given.get("dataset"), given.get("format")):
            filters = given.get("filters")
            if isinstance(filters, dict | None):
                return given | {"filters": {"min_per_label": 400} | (filters or {})}
        return given

    @model_validator(mode="after")
    def _files_have_a_format(self) -> "LabelledCorpus":
        if self.files and self.format is None:
            raise ValueError("give 'format' with 'files': yelp_polarity, news_category or newsgroups20")
        return self


@dataclass(frozen=True)
class LabelledText:
    """A text of the data set, unchanged.

    Attributes
    ----------
    id
        Identifier, unique in the data set.
    split
        Official split, or None if there is none.
    label, text
        Label and text; if either is empty, the text is dropped and counted.
    """

    id: str
    split: str | None
    label: str
    text: str


def read_labelled(options: LabelledCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the texts of a data set as documents of one section without a title, and with a label.

    Parameters
    ----------
    options
        `layout` is the format of the file. With `official_splits`, the official test texts are the test split, and
        `valid_share` of the official training texts, by id hash, are the validation split. Otherwise, or if there are
        no official splits, all texts are split by id hash.
    provenance
        Receives the counts: texts without words, without a label, ids that occurred before.
    """
    empty = Count("text without words", 0, 0)
    unlabelled = Count("text without a label", 0, 0)
    duplicates = Count("text id that occurred before", 0, 0)
    provenance.counts += [empty, unlabelled, duplicates]
    provenance.source.update(file=path.name)
    seen: set[str] = set()
    with Progress(f"extract {path.name}", unit="texts") as progress:
        for raw in _READERS[options.layout](path):
            progress.advance(1)
            text = tidy(raw.text)
            if not keep(empty, bool(text)) or not keep(unlabelled, bool(raw.label)):
                continue
            if keep(duplicates, raw.id not in seen):
                seen.add(raw.id)
                yield Document(raw.id, _split(raw, options), None, (Section(None, text),), label=raw.label)


def _split(raw: LabelledText, options: LabelledCorpus) -> str:
    if raw.split is None or not options.official_splits:
        return assign_split(raw.id, options.valid_share, options.test_share)
    return assign_split(raw.id, options.valid_share, 0.0) if raw.split == "train" else raw.split


def read_news_category(path: Path) -> Iterator[LabelledText]:
    """Stream the news; the label is the first author, the id the `link` or, without one, the number of the line."""
    for number, record in read_numbered_records(path):
        headline, description, authors = _news_fields(record, f"{path}, line {number}")
        identifier = read_identifier(record, "link", f"line-{number}", f"{path}, line {number}")
        yield LabelledText(identifier, None, authors.split(",")[0].strip(), f"{headline}\n{description}")


def _news_fields(record: dict[str, Any], where: str) -> tuple[str, str, str]:
    values = []
    for name in ("headline", "short_description", "authors"):
        value = record.get(name)
        if not isinstance(value, str):
            actual = type(value).__name__ if name in record else "missing"
            raise MacroscopeError(
                f"{where}: '{name}' is {actual}, not a string; a line of this format has category, headline,"
                " short_description and authors"
            )
        values.append(value)
    headline, description, authors = values
    return headline, description, authors


def read_newsgroups20(path: Path) -> Iterator[LabelledText]:
    """Stream the messages; an id is "<group>/<number>"."""
    missing = "no 20news-bydate-train/<group>/<number> in this archive; give 20news-bydate.tar.gz"
    with open_members(path, _MESSAGE.search, missing) as members:
        for name, member in members:
            with member as stream:
                message = read_member(stream, f"{path}, {name}").decode("latin-1")
            split, group, number = _MESSAGE.search(name).groups()  # type: ignore[union-attr]
            yield LabelledText(f"{group}/{number}", split, group, extract_body(message))


def extract_body(message: str) -> str:
    """Remove header, footer and quotations from a message; the rest may be empty."""
    return _without_quotations(_without_footer(_without_header(message)))


def _without_header(message: str) -> str:
    return message.partition("\n\n")[2]


def _without_footer(text: str) -> str:
    """Return the text before its last line that is blank or only hyphens; the whole text if there is no such line."""
    lines = text.strip().split("\n")
    breaks = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    return "\n".join(lines[: breaks[-1]]) if breaks and breaks[-1] > 0 else text


def _without_quotations(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not _QUOTATION.search(line))


def read_yelp_polarity(path: Path) -> Iterator[LabelledText]:
    """Stream the reviews; an id is the official split and the number of the review in its file, from 1."""
    missing = "no train.csv or test.csv in this archive; give yelp_review_polarity_csv.tgz"
    with open_members(path, lambda name: PurePosixPath(name).name in _OFFICIAL_SPLITS, missing) as members:
        for name, member in members:
            with member as stream:
                yield from _reviews(stream, _OFFICIAL_SPLITS[PurePosixPath(name).name], f"{path}, {name}")


def _reviews(stream: IO[bytes], split: str, where: str) -> Iterator[LabelledText]:
    csv.field_size_limit(LONGEST_LINE)  # for the whole process; a long text exceeds the default, 131 kB
    lines = (line.decode("utf-8") for line in read_bounded_lines(stream, where))
    reader = csv.reader(lines, strict=True)
    try:
        for number, row in enumerate(reader, start=1):
            if len(row) != 2 or row[0] not in LABELS:
                raise MacroscopeError(
                    f'{where}, line {reader.line_num}: not a review; a line is "label","text", with label 1 or 2'
                )
            yield LabelledText(
                f"{split}-{number}", split, LABELS[row[0]], row[1].replace("\\n", " ").replace('\\"', '"')
            )
    except csv.Error as error:
        raise MacroscopeError(f"{where}, line {reader.line_num}: not valid CSV ({error}); download it again") from None
    except UnicodeDecodeError:
        raise MacroscopeError(f"{where}, after line {reader.line_num}: not valid UTF-8; download it again") from None


_READERS: dict[str, Callable[[Path], Iterator[LabelledText]]] = {
    "yelp_polarity": read_yelp_polarity,
    "news_category": read_news_category,
    "newsgroups20": read_newsgroups20,
}

"""Source `stories`: CC-Stories (Trinh and Le 2018) and its substitutes, as plain text or Parquet with a column `text`.

The release is no longer public. How its text marks the end of a story could not be checked, nor how the substitute
cc-stories.txt does. The default is a blank line, because the wrong choice cannot go unnoticed: in a file with one story
per line and no blank lines, the first story never ends, which is an error. Stories are not split into sentences: there
are 400 million of them, so the stages that need sentences split those that they use.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import RetrievedCorpus, TextFilters
from macroscope.documents import Count, Document, Provenance, Section, keep
from macroscope.errors import MacroscopeError
from macroscope.options import UserPath
from macroscope.progress import Progress
from macroscope.readers.columnar import read_numbered_rows
from macroscope.readers.plain_text import tidy
from macroscope.readers.records import read_numbered_lines
from macroscope.readers.splits import assign_split

SOURCE = Source(options=":StoriesCorpus", read=":read_stories")
LONGEST = 10_000_000
"""Most characters of a story, as many as several of the longest novels; a longer one means that `one_per` is wrong."""


class StoriesCorpus(RetrievedCorpus):
    """Options of stories from the web, for pre-training: CC-Stories (Trinh and Le 2018), or a substitute for it."""

    source: Literal["stories"]
    dataset: Literal["stories", "stories-hub", "cc-stories"] | None = Field(
        None, description="Data set of resources/sources.yaml."
    )
    files: list[UserPath] = Field(
        [],
        description="Local files instead; each is a part: plain text (also .gz), or Parquet (.parquet) with a column"
        " `text` and a story per row.",
    )
    one_per: Literal["blank_line", "line"] = Field(
        "blank_line",
        description="End of a story in plain text: a blank line, or the end of its line if every line is a story.",
    )
    fewest_words: int = Field(1, ge=1, description="Fewest words of a story, between white space.")
    filters: TextFilters = Field(TextFilters(), description="Filters that choose the stories.")


def read_stories(options: StoriesCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the stories of a file, each of one section without a title; memory is bounded by a few stories.

    A document's id is the file's name and the number of the first line, or of the row.

    Parameters
    ----------
    provenance
        Receives the count of stories with too few words.
    """
    fewest = options.fewest_words
    short = Count(f"fewer words than {fewest} (fewest_words)", 0, 0, option="fewest_words")
    provenance.counts.append(short)
    provenance.source.update(file=path.name)
    stem = path.name.split(".")[0]
    with Progress(f"extract {path.name}", unit="stories") as progress:
        for number, raw in _read_texts(path, options.one_per):
            progress.advance(1)
            text = tidy(raw)
            if keep(short, len(text.split()) >= fewest):
                identifier = f"{stem}-{number}"
                split = assign_split(identifier, options.valid_share, options.test_share)
                yield Document(identifier, split, None, (Section(None, text),))


def _read_texts(path: Path, one_per: str) -> Iterator[tuple[int, str]]:
    """Read the stories of a file as pairs (number, text)."""
    if path.name.lower().endswith(".parquet"):
        return _read_rows(path)
    if one_per == "line":
        return ((number, line) for number, line in read_numbered_lines(path) if line.strip())
    return _read_blocks(path)


def _read_blocks(path: Path) -> Iterator[tuple[int, str]]:
    """Read blocks of lines that end at a blank line, with the numbers of their first lines."""
    block: list[str] = []
    first = size = 0
    for number, line in read_numbered_lines(path):
        if line.strip():
            first = first if block else number
            block.append(line)
            size += len(line)
            if size > LONGEST:
                raise MacroscopeError(
                    f"{path}, line {first}: no blank line ends this story within {LONGEST:,} characters; if every line"
                    " is a story, give 'one_per: line'"
                )
        elif block:
            yield first, "\n".join(block)
            block, size = [], 0
    if block:
        yield first, "\n".join(block)


def _read_rows(path: Path) -> Iterator[tuple[int, str]]:
    """Read the texts of a Parquet file with their rows, from 1; a row without a text gives an empty one."""
    for number, row in read_numbered_rows(path, ("text",), required="text"):
        text = row["text"]
        if not isinstance(text, str | None):
            raise MacroscopeError(f"{path}, row {number}: 'text' is a {type(text).__name__}, not a string")
        yield number, text or ""

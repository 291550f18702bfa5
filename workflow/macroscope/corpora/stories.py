"""From the files of CC-Stories and its substitutes to documents: plain text, or Parquet with a column `text`.

The release is no longer public, and how its text marks the end of a story has not been seen, nor how the substitute
cc-stories.txt does. A blank line is the default: the other way cannot go unnoticed, since in a file whose lines are
stories, without blank lines, the first story would never end, and that is an error. Sentences are not cut: there are
400 million, and whoever needs some cuts those.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.lines import numbered_lines
from macroscope.corpora.options import Corpus, TextFilters
from macroscope.corpora.parquet import numbered_rows
from macroscope.corpora.plain_text import tidy
from macroscope.corpora.splits import split_of
from macroscope.documents import Count, Document, Provenance, Section, keep
from macroscope.errors import MacroscopeError
from macroscope.options import UserPath
from macroscope.progress import Progress

SOURCE = Source(options=":StoriesCorpus", read=":read_stories")


class StoriesCorpus(Corpus):
    """Stories of the web, for training beforehand: CC-Stories (Trinh and Le 2018), or a substitute for it."""

    source: Literal["stories"]
    dataset: Literal["stories"] | None = Field(None, description="The data set of resources/sources.yaml.")
    files: list[UserPath] = Field(
        [],
        description="Local files instead, each one part: plain text (also .gz), or Parquet (.parquet) with a column"
        " `text`, whose rows are the stories.",
    )
    one_per: Literal["blank_line", "line"] = Field(
        "blank_line",
        description="What ends a story in plain text: a blank line, or, where every line is a story, its line.",
    )
    fewest_words: int = Field(1, ge=1, description="Fewest words of a story, between white space.")
    filters: TextFilters = Field(TextFilters(), description="Which stories are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.raw_files import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)


LONGEST = 10_000_000
"""Characters of a story: several of the longest novels. Beyond it, what ends a story is taken to be something else."""


def read_stories(options: StoriesCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the stories of a file, each of one section without a title; memory is bounded by a few stories.

    A document's id is the file's name and the number of its first line, or of its row.

    Parameters
    ----------
    provenance
        Receives the count of stories that have too few words.
    workers
        Not used: reading is no faster than the disk.

    Raises
    ------
    MacroscopeError
        Where a file is unreadable or of another format, with the line or row where there is one.
    """
    fewest = options.fewest_words
    short = Count(f"fewer words than {fewest} (fewest_words)", 0, 0, option="fewest_words")
    provenance.counts.append(short)
    provenance.source.update(file=path.name)
    stem = path.name.split(".")[0]
    with Progress(f"extract {path.name}", unit="stories") as progress:
        for number, raw in _texts(path, options.one_per):
            progress.advance(1)
            text = tidy(raw)
            if keep(short, len(text.split()) >= fewest):
                identifier = f"{stem}-{number}"
                split = split_of(identifier, options.valid_share, options.test_share)
                yield Document(identifier, split, None, (Section(None, text),))


def _texts(path: Path, one_per: str) -> Iterator[tuple[int, str]]:
    """(number, text) of each story of a file."""
    if path.name.lower().endswith(".parquet"):
        return _rows(path)
    if one_per == "line":
        return ((number, line) for number, line in numbered_lines(path) if line.strip())
    return _blocks(path)


def _blocks(path: Path) -> Iterator[tuple[int, str]]:
    """Lines up to a blank one, and the number of the first of them."""
    block: list[str] = []
    first = size = 0
    for number, line in numbered_lines(path):
        if line.strip():
            first = first if block else number
            block.append(line)
            size += len(line)
            if size > LONGEST:
                raise MacroscopeError(
                    f"{path}, line {first}: no blank line ends this story within {LONGEST:,} characters; where every"
                    " line is a story, give 'one_per: line'"
                )
        elif block:
            yield first, "\n".join(block)
            block, size = [], 0
    if block:
        yield first, "\n".join(block)


def _rows(path: Path) -> Iterator[tuple[int, str]]:
    """Texts of a Parquet file with their rows, from 1; a row without one has no words."""
    for number, row in numbered_rows(path, ("text",), required="text"):
        text = row["text"]
        if not isinstance(text, str | None):
            raise MacroscopeError(f"{path}, row {number}: 'text' is a {type(text).__name__}, not a string")
        yield number, text or ""

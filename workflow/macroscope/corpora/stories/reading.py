"""From the files of CC-Stories and its substitutes to documents: plain text, or Parquet with a column `text`.

The release is no longer public, and how its text marks the end of a story has not been seen, nor how the substitute
cc-stories.txt does. A blank line is the default: the other way cannot go unnoticed, since in a file whose lines are
stories, without blank lines, the first story would never end, and that is an error. Sentences are not cut: there are
400 million, and whoever needs some cuts those.
"""

from collections.abc import Iterator
from pathlib import Path

from macroscope.corpora.counting import keep
from macroscope.corpora.lines import numbered_lines
from macroscope.corpora.parquet import numbered_rows
from macroscope.corpora.splits import split_of
from macroscope.corpora.stories.options import StoriesCorpus
from macroscope.corpora.texts import tidy
from macroscope.documents import Count, Document, Provenance, Section
from macroscope.errors import MacroscopeError
from macroscope.progress import Progress

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

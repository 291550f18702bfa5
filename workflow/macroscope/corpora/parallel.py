"""Source `parallel`: translations and their originals in aligned lines, such as Europarl (deng2022 Appendix C).

A file is an archive, tar or zip, of two files of aligned lines, or lines of original, tab, translation. Its name says
the languages, as in de-en.tgz or en-de.tsv.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import IO, Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import RetrievedCorpus, TextFilters
from macroscope.documents import Count, Document, Provenance, Section, keep
from macroscope.errors import MacroscopeError
from macroscope.options import UserPath
from macroscope.progress import Progress
from macroscope.readers.archives import open_members
from macroscope.readers.plain_text import tidy
from macroscope.readers.records import decode_lines, read_numbered_lines
from macroscope.readers.splits import assign_split

SOURCE = Source(options=":ParallelCorpus", read=":read_parallel")
_PAIR = re.compile(r"(?:^|[._-])([a-z]{2,3})-([a-z]{2,3})\.")


class ParallelCorpus(RetrievedCorpus):
    """Options of translations of single lines into one or several languages, with their originals."""

    source: Literal["parallel"]
    dataset: str | None = Field(None, description="Data set of resources/sources.yaml, such as europarl.")
    languages: list[str] = Field(
        [], description="Languages of the translations; default: all of the data set or the files."
    )
    original_language: str = Field("en", description="Language of the originals.")
    files: list[UserPath] = Field(
        [],
        description="Local files instead; each is a part: archives (de-en.tgz, de-en.zip) of two files of aligned"
        " lines, whose names end in their languages (.de, .en), or lines of original, tab, translation (en-de.tsv, also"
        " gzipped).",
    )
    filters: TextFilters = Field(TextFilters(), description="Which documents are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Return the files of the requested languages; see `RetrievedCorpus.raw_parts`."""
        parts = super().raw_parts(place, folder)
        languages = {part: parse_language(Path(path), self.original_language) for part, path in parts.items()}
        if not self.languages:
            return parts
        for part, language in languages.items():
            if not language:
                raise MacroscopeError(
                    f"{place}: {parts[part]}: the name does not say its languages; name it as en-de.tsv or de-en.tgz"
                )
        if missing := sorted(set(self.languages) - set(languages.values())):
            raise MacroscopeError(f"{place}.languages: no file has {', '.join(missing)}; give another language")
        return {part: path for part, path in parts.items() if languages[part] in self.languages}


def parse_language(path: Path, original: str) -> str:
    """Return the language of the translations, by the file's name ("de-en.tgz", "en-de.tsv"); "" if it names none."""
    match = _PAIR.search(path.name)
    translated = [language for language in match.groups() if language != original] if match else []
    return translated[0] if len(translated) == 1 else ""


def read_parallel(options: ParallelCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the translations of a file, each a document of one section without a title.

    The id is "<language>-<line>", the label the language. Splits are by a hash of the original, so that all
    translations of an original are in one split.

    Parameters
    ----------
    provenance
        Receives the count of lines that are empty in either language.
    """
    language = parse_language(path, options.original_language)
    if not language:
        raise MacroscopeError(
            f"{path}: the name does not say its languages; name it as {options.original_language}-de.tsv or"
            f" de-{options.original_language}.tgz"
        )
    empty = Count("line that is empty in one language", 0, 0)
    provenance.counts.append(empty)
    provenance.source.update(file=path.name)
    read_pairs = _read_tab_separated if ".tsv" in path.suffixes[-2:] else _read_archive
    with Progress(f"extract {path.name}", unit="lines") as progress:
        for number, (original, translation) in enumerate(
            read_pairs(path, options.original_language, language), start=1
        ):
            progress.advance(1)
            original, text = tidy(original), tidy(translation)
            if keep(empty, bool(original and text)):
                split = assign_split(original, options.valid_share, options.test_share)
                yield Document(
                    f"{language}-{number}", split, None, (Section(None, text),), label=language, original=original
                )


def _read_tab_separated(path: Path, original: str, language: str) -> Iterator[tuple[str, str]]:
    for number, line in read_numbered_lines(path):
        parts = line.split("\t")
        if len(parts) != 2:
            raise MacroscopeError(
                f"{path}, line {number}: {len(parts)} columns; give lines of an original, a tab, its translation"
            )
        yield parts[0], parts[1]


def _read_archive(path: Path, original: str, language: str) -> Iterator[tuple[str, str]]:
    with _unpacked(path, (original, language)) as files:
        streams = (
            decode_lines(file, f"{path}, '{name}'") for file, name in zip(files, (original, language), strict=True)
        )
        for number, (text, translation) in enumerate(zip_longest(*streams), start=1):
            if text is None or translation is None:
                short = original if text is None else language
                raise MacroscopeError(f"{path}: the lines are not aligned: those of '{short}' end before line {number}")
            yield text, translation


@contextmanager
def _unpacked(path: Path, languages: tuple[str, str]) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Unpack the two files of an archive to disk, to read them side by side: an archive is read sequentially."""
    with tempfile.TemporaryFile() as first, tempfile.TemporaryFile() as second:
        streams = dict(zip(languages, (first, second), strict=True))
        missing = set(languages)
        absent = "no file of the archive ends in .{}".format
        with open_members(path, lambda name: _suffix(name) in missing, absent(" or in .".join(languages))) as members:
            for name, member in members:
                if (language := _suffix(name)) in missing:
                    with member as content:
                        shutil.copyfileobj(content, streams[language])
                    missing.discard(language)
        if missing:
            raise MacroscopeError(f"{path}: {absent(*missing)}")
        for stream in (first, second):
            stream.seek(0)
        yield first, second


def _suffix(name: str) -> str:
    return name.rpartition(".")[2]

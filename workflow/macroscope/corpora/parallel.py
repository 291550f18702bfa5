"""Source `parallel`: translations and their originals, line by line, such as Europarl (deng2022 Appendix C)."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import IO, Literal

from pydantic import Field

from macroscope.corpora.archives import open_archive
from macroscope.corpora.declaration import Source
from macroscope.corpora.lines import decoded_lines, numbered_lines
from macroscope.corpora.options import Corpus, TextFilters
from macroscope.corpora.plain_text import tidy
from macroscope.corpora.splits import split_of
from macroscope.documents import Count, Document, Provenance, Section, keep
from macroscope.errors import MacroscopeError
from macroscope.options import UserPath
from macroscope.progress import Progress

SOURCE = Source(options=":ParallelCorpus", read=":read_parallel")


class ParallelCorpus(Corpus):
    """Translations of single lines into one or several languages, with their originals."""

    source: Literal["parallel"]
    dataset: str | None = Field(None, description="Data set of resources/sources.yaml, such as europarl.")
    languages: list[str] = Field(
        [], description="Languages of the translations; default: all that the data set or the files have."
    )
    original_language: str = Field("en", description="Language of the originals.")
    files: list[UserPath] = Field(
        [],
        description="Local files instead, each one part: tar archives (de-en.tgz) of two files of aligned lines, whose"
        " names end in their languages (.de, .en), or lines of original, tab, translation (en-de.tsv, also gzipped).",
    )
    filters: TextFilters = Field(TextFilters(), description="Which documents are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry, of the languages that are asked for."""
        from macroscope.corpora.parallel import language_of
        from macroscope.corpora.raw_files import local_or_retrieved

        parts = local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)
        languages = {part: language_of(Path(path), self.original_language) for part, path in parts.items()}
        if not self.languages:
            return parts
        for part, language in languages.items():
            if not language:
                raise MacroscopeError(f"{place}: {parts[part]}: the name does not say which languages are in it")
        if missing := sorted(set(self.languages) - set(languages.values())):
            raise MacroscopeError(f"{place}.languages: no file has {', '.join(missing)}")
        return {part: path for part, path in parts.items() if languages[part] in self.languages}


_PAIR = re.compile(r"(?:^|[._-])([a-z]{2,3})-([a-z]{2,3})\.")


def language_of(path: Path, original: str) -> str:
    """Language of the translations of a file, by its name ("de-en.tgz", "en-de.tsv"); "" where it does not say."""
    found = _PAIR.search(path.name)
    others = [language for language in found.groups() if language != original] if found else []
    return others[0] if len(others) == 1 else ""


def read_parallel(options: ParallelCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the translations of a file, each a document of one section without a title.

    Its id is "<language>-<line>", its label the language. Splits are by a hash of the original, so that no original of
    one split has a translation in another.

    Parameters
    ----------
    provenance
        Receives the counts: lines that are empty on either side.
    workers
        Not used: reading is no faster than the decompression.

    Raises
    ------
    MacroscopeError
        Where the name of the file does not say the languages, or the lines are not aligned.
    """
    language = language_of(path, options.original_language)
    if not language:
        raise MacroscopeError(
            f"{path}: the name does not say which languages are in it; name it as {options.original_language}-de.tsv or"
            f" de-{options.original_language}.tgz"
        )
    empty = Count("line that is empty in one language", 0, 0)
    provenance.counts.append(empty)
    provenance.source.update(file=path.name)
    lines = _tab_separated if ".tsv" in path.suffixes[-2:] else _of_archive
    with Progress(f"extract {path.name}", unit="lines") as progress:
        for number, (original, translation) in enumerate(lines(path, options.original_language, language), start=1):
            progress.advance(1)
            original, text = tidy(original), tidy(translation)
            if keep(empty, bool(original and text)):
                split = split_of(original, options.valid_share, options.test_share)
                yield Document(
                    f"{language}-{number}", split, None, (Section(None, text),), label=language, original=original
                )


def _tab_separated(path: Path, original: str, language: str) -> Iterator[tuple[str, str]]:
    for number, line in numbered_lines(path):
        parts = line.split("\t")
        if len(parts) != 2:
            raise MacroscopeError(
                f"{path}, line {number}: {len(parts)} columns; a line has an original, a tab, its translation"
            )
        yield parts[0], parts[1]


def _of_archive(path: Path, original: str, language: str) -> Iterator[tuple[str, str]]:
    with _unpacked(path, (original, language)) as files:
        sides = (
            decoded_lines(file, f"{path}, '{name}'") for file, name in zip(files, (original, language), strict=True)
        )
        for number, (one, other) in enumerate(zip_longest(*sides), start=1):
            if one is None or other is None:
                short = original if one is None else language
                raise MacroscopeError(f"{path}: the lines are not aligned: those of '{short}' end before line {number}")
            yield one, other


@contextmanager
def _unpacked(path: Path, languages: tuple[str, str]) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The two files of an archive side by side, unpacked to disk: an archive can only be read from one end."""
    with tempfile.TemporaryFile() as first, tempfile.TemporaryFile() as second:
        streams = dict(zip(languages, (first, second), strict=True))
        missing = set(languages)
        with open_archive(path) as archive:
            for member in archive:
                language = member.name.rpartition(".")[2]
                # A link may lead to nothing, or to itself.
                stream = archive.extractfile(member) if member.isfile() and language in missing else None
                if stream is not None:
                    shutil.copyfileobj(stream, streams[language])
                    missing.discard(language)
        if missing:
            raise MacroscopeError(f"{path}: no file of the archive ends in .{' or in .'.join(sorted(missing))}")
        for stream in (first, second):
            stream.seek(0)
        yield first, second

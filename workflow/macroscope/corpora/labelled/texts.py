"""What the formats of labelled data sets have in common: a text with its label, and archives."""

import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from macroscope.errors import MacroscopeError


@dataclass(frozen=True)
class LabelledText:
    """A text as it stands in the data set.

    Attributes
    ----------
    id
        Unique in the data set.
    split
        The official one, or None where there is none.
    label, text
        May be empty; such texts are dropped and counted.
    """

    id: str
    split: str | None
    label: str
    text: str


@contextmanager
def open_archive(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a tar archive, however compressed; what is wrong with it on the way is an error that names it."""
    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file")
    try:
        with tarfile.open(path) as archive:
            yield archive
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise MacroscopeError(
            f"{path}: not a readable tar archive, or a truncated one ({error}); download it again"
        ) from None

"""Archives as data sets come in them: tar, however compressed, and zip; damage is one sentence that names the file."""

import errno
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from macroscope.errors import MacroscopeError

# What a zip's own numbers and names lead to where they lie; seeking to a negative offset is an OSError.
_DAMAGE = (zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, struct.error, OverflowError, ValueError, OSError)
LARGEST_MEMBER = 1 << 28
"""Bytes of a member that is taken into memory as a whole; a larger one is no text of a person's."""


@contextmanager
def open_archive(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a tar archive, however compressed; what is wrong with it on the way is an error that names it."""
    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file")
    try:
        with tarfile.open(path) as archive:
            yield archive
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        # Damaged bzip2 data are a bare OSError; one with a number is the disk's, and not the archive's.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise MacroscopeError(
            f"{path}: not a readable tar archive, or a truncated one ({error}); download it again"
        ) from None


def is_zip(path: Path) -> bool:
    """Whether a file is a zip, by its name or by what is in it."""
    return path.suffix.lower() == ".zip" or (path.is_file() and zipfile.is_zipfile(path))


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip; see `open_member` for what is in it."""
    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file")
    try:
        archive = zipfile.ZipFile(path)
    except (NotImplementedError, *_DAMAGE) as error:
        _raise_if_of_the_disk(error)
        raise MacroscopeError(f"{path}: not a zip file, or a truncated one; download it again") from None
    with archive:
        yield archive


@contextmanager
def open_member(archive: zipfile.ZipFile, path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a member of a zip; what is wrong with it on the way is an error that names both.

    Raises
    ------
    MacroscopeError
        Where its data are broken, or it is encrypted or compressed in a way that Python cannot read.
    """
    try:
        with archive.open(name) as stream:
            yield stream
    except (NotImplementedError, RuntimeError) as error:
        if isinstance(error, RecursionError):
            raise
        raise MacroscopeError(f"{path}, {name}: cannot be read ({error}); zip it again, plainly") from None
    except _DAMAGE as error:
        _raise_if_of_the_disk(error)
        raise MacroscopeError(f"{path}, {name}: the data are broken ({error}); download it again") from None


def read_member(stream: IO[bytes], where: str) -> bytes:
    """All bytes of a member of an archive, which may be far more than the archive's own.

    Raises
    ------
    MacroscopeError
        Where there are more than `LARGEST_MEMBER`.
    """
    data = stream.read(LARGEST_MEMBER + 1)
    if len(data) > LARGEST_MEMBER:
        raise MacroscopeError(
            f"{where}: longer than {LARGEST_MEMBER >> 20:,} MB; give files that hold a text, or those of a hotel"
        )
    return data


def _raise_if_of_the_disk(error: Exception) -> None:
    """An error with a number is the disk's, and not the archive's; damaged bzip2 data are one without."""
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        raise error

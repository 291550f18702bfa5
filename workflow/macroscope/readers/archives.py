"""Readers of archives, tar with any compression and zip; errors about damage name the file."""

import errno
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any

from macroscope.errors import MacroscopeError, no_such_file

# Errors that wrong numbers and names in a zip lead to; seeking to a negative offset is an OSError.
_DAMAGE = (zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, struct.error, OverflowError, ValueError, OSError)
LARGEST_MEMBER = 1 << 28
"""Most bytes of a member that is read into memory as a whole; no text that a person wrote is larger."""


@contextmanager
def open_archive(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a tar archive with any compression.

    Raises
    ------
    MacroscopeError
        If the file is missing, or if it proves damaged while it is read.
    """
    if not path.is_file():
        raise no_such_file(path)
    try:
        with tarfile.open(path) as archive:
            yield archive
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        # Damaged bzip2 data raise an OSError without a number; one with a number comes from the disk.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise MacroscopeError(
            f"{path}: not a readable tar archive, or a truncated one ({error}); download it again"
        ) from None


def is_zip(path: Path) -> bool:
    """Return whether a file is a zip, by its name or its content."""
    return path.suffix.lower() == ".zip" or (path.is_file() and zipfile.is_zipfile(path))


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip; `open_member` reads its members.

    Raises
    ------
    MacroscopeError
        If the file is missing, or not a whole zip.
    """
    if not path.is_file():
        raise no_such_file(path)
    try:
        archive = zipfile.ZipFile(path)
    except (NotImplementedError, *_DAMAGE) as error:
        _raise_disk_error(error)
        raise MacroscopeError(f"{path}: not a zip file, or a truncated one; download it again") from None
    with archive:
        yield archive


@contextmanager
def open_member(archive: zipfile.ZipFile, path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a member of a zip; errors name the zip and the member.

    Raises
    ------
    MacroscopeError
        If its data are broken, or it is encrypted or compressed in a way that Python cannot read.
    """
    try:
        with archive.open(name) as stream:
            yield stream
    except (NotImplementedError, RuntimeError) as error:
        if isinstance(error, RecursionError):
            raise
        raise MacroscopeError(f"{path}, {name}: cannot be read ({error}); zip it again, plainly") from None
    except _DAMAGE as error:
        _raise_disk_error(error)
        raise MacroscopeError(f"{path}, {name}: the data are broken ({error}); download it again") from None


Members = Iterator[tuple[str, AbstractContextManager[IO[bytes]]]]


@contextmanager
def open_members(
    path: Path, is_wanted: Callable[[str], Any], missing: str, order: Callable[[str], Any] | None = None
) -> Iterator[Members]:
    """Open an archive, zip or tar, and iterate over the names and contents of its files, to be opened one by one.

    They are read inside this context, which names the archive if one of them proves damaged.

    Parameters
    ----------
    is_wanted
        Function of a name that chooses a file.
    missing
        What is wrong if no file is chosen, and what to do.
    order
        Key that sorts the names in a zip; default: the zip's own order.
    """
    if is_zip(path):
        with open_zip(path) as archive:
            names = list(filter(is_wanted, archive.namelist()))
            names = sorted(names, key=order) if order else names
            yield _require_any(((name, open_member(archive, path, name)) for name in names), path, missing)
        return
    with open_archive(path) as tar:
        files = (member for member in tar if member.isfile() and is_wanted(member.name))
        contents = ((member.name, tar.extractfile(member)) for member in files)
        yield _require_any(((name, content) for name, content in contents if content is not None), path, missing)


def _require_any(members: Members, path: Path, missing: str) -> Members:
    is_empty = True
    for member in members:
        is_empty = False
        yield member
    if is_empty:
        raise MacroscopeError(f"{path}: {missing}")


def read_member(stream: IO[bytes], where: str) -> bytes:
    """Read a whole member of an archive, which may be far larger than the archive.

    Raises
    ------
    MacroscopeError
        If it has more than `LARGEST_MEMBER` bytes.
    """
    data = stream.read(LARGEST_MEMBER + 1)
    if len(data) > LARGEST_MEMBER:
        raise MacroscopeError(
            f"{where}: longer than {LARGEST_MEMBER >> 20:,} MB; give files of one text, or of one hotel's reviews"
        )
    return data


def _raise_disk_error(error: Exception) -> None:
    """Raise an error with a number again: it comes from the disk, while damaged bzip2 data raise one without."""
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        raise error

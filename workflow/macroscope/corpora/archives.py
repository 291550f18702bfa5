"""Tar archives as data sets come in them."""

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from macroscope.errors import MacroscopeError


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

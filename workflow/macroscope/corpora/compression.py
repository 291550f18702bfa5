"""Compressed files, recognised by their first bytes: gzip, bzip2, xz and Zstandard."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from macroscope.errors import MacroscopeError
from macroscope.files import require_regular

LARGEST = 1 << 30
"""Most bytes of a compressed file that is read as a whole; a small one may unpack to any number."""
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""Errors of broken data; those of the system are among them, with a number (`raise_broken`)."""
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def _open_zstandard(path: Path) -> Any:
    import pyarrow as pa

    return io.BufferedReader(cast(Any, pa.CompressedInputStream(pa.OSFile(str(path), "rb"), "zstd")))


_BY_MAGIC: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zstandard,
}


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressed if it is compressed.

    Raises
    ------
    MacroscopeError
        If there is no such file, or it is a pipe or a device.
    """
    return _open_with(_opener(path), path)


def read_all(path: Path) -> bytes:
    """Read a whole file, decompressed if it is compressed.

    Raises
    ------
    MacroscopeError
        If it is compressed, and has more than `LARGEST` bytes or is broken.
    """
    opener = _opener(path)
    try:
        with _open_with(opener, path) as stream:
            content = stream.read(-1 if opener is None else LARGEST + 1)
    except DAMAGE as error:
        raise_broken(error, str(path))
    if opener is not None and len(content) > LARGEST:
        raise MacroscopeError(f"{path}: unpacks to more than {LARGEST >> 20:,} MB; give it as JSON Lines, or unpacked")
    return content


def raise_broken(error: Exception, name: str, place: str = "") -> NoReturn:
    """Raise the error of broken data of a file; an error of the system, which has a number, as it is."""
    if isinstance(error, OSError) and error.errno is not None:
        raise error
    raise MacroscopeError(
        f"{name}: the compressed data are broken{place} ({error}); make or download it again"
    ) from None


def without_suffix(name: str) -> str:
    """Return a file's name in lower case without the suffix of a compression."""
    name = name.lower()
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def _opener(path: Path) -> Callable[[Path], Any] | None:
    """Return the function that opens a compressed file, or None if it is not compressed."""
    require_regular(path)
    try:
        with path.open("rb") as file:
            first = file.read(8)
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file") from None
    return next((opener for magic, opener in _BY_MAGIC.items() if first.startswith(magic)), None)


def _open_with(opener: Callable[[Path], Any] | None, path: Path) -> IO[bytes]:
    return cast(IO[bytes], path.open("rb") if opener is None else opener(path))

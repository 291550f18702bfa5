"""Compressed files (gzip, bzip2, xz, Zstandard) and texts in UTF-16, recognised by their first bytes."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from macroscope.errors import MacroscopeError, no_such_file
from macroscope.files import require_regular

LARGEST = 1 << 30
"""Most bytes of a compressed file that is read as a whole; a small one may unpack to any number."""
_ALWAYS_READ, _LARGEST_RATIO = 1 << 26, 100
"""Bytes that any compressed file may unpack to, and multiple of its own size for more; texts shrink to 10 %."""
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""Errors of broken data; those of the system are among them, with a number (`raise_broken`)."""
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def _open_zstandard(path: Path) -> Any:
    import pyarrow as pa

    return io.BufferedReader(cast(Any, pa.CompressedInputStream(pa.OSFile(str(path), "rb"), "zstd")))


class _Utf8(io.RawIOBase):
    """The bytes in UTF-8 of a text in UTF-16, as Windows and spreadsheets save "Unicode text"."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._path = path
        self._text = path.open(encoding=encoding, newline="")
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            try:
                self._rest = self._text.read(1 << 16).encode("utf-8")
            except UnicodeError as error:
                raise MacroscopeError(f"{self._path}: not valid UTF-16 ({error}); save the file as UTF-8") from None
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def close(self) -> None:
        self._text.close()
        super().close()


def _open_utf16(path: Path, encoding: str = "utf-16") -> Any:
    return io.BufferedReader(_Utf8(path, encoding))


_BY_MAGIC: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zstandard,
    codecs.BOM_UTF16_LE: _open_utf16,
    codecs.BOM_UTF16_BE: _open_utf16,
}
_WITHOUT_MARK = {
    re.compile(rb"(?:[\t\n\r -~]\x00){4}"): partial(_open_utf16, encoding="utf-16-le"),
    re.compile(rb"(?:\x00[\t\n\r -~]){4}"): partial(_open_utf16, encoding="utf-16-be"),
}
"""The first four characters of a text in UTF-16 without its mark, if they are of ASCII; no other file begins so."""


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressed if it is compressed, in UTF-8 if it is UTF-16.

    Raises
    ------
    MacroscopeError
        If there is no such file, or it is a pipe or a device.
    """
    return _open_with(_opener(path), path)


def read_all(path: Path) -> bytes:
    """Read a whole file, decompressed if it is compressed, in UTF-8 if it is UTF-16.

    Raises
    ------
    MacroscopeError
        If it is compressed, and unpacks to too much (`require_modest`) or is broken.
    """
    opener = _opener(path)
    try:
        with _open_with(opener, path) as stream:
            content = stream.read(-1 if opener is None else _most_unpacked(path) + 1)
    except DAMAGE as error:
        raise_broken(error, str(path))
    if opener is not None:
        require_modest(len(content), path, "give it as JSON Lines, or unpacked")
    return content


def require_modest(unpacked: int, path: Path, advice: str) -> None:
    """Check that a file unpacks to no more than can be read as a whole, and than its size makes likely.

    Raises
    ------
    MacroscopeError
        If it unpacks to more.
    """
    if unpacked > (most := _most_unpacked(path)):
        raise MacroscopeError(f"{path}: unpacks to more than {most >> 20:,} MB; {advice}")


def _most_unpacked(path: Path) -> int:
    return min(LARGEST, max(_ALWAYS_READ, _LARGEST_RATIO * path.stat().st_size))


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
    """Return the function that opens a compressed file or one in UTF-16, or None if its bytes are read as they are."""
    require_regular(path)
    try:
        with path.open("rb") as file:
            first = file.read(8)
    except FileNotFoundError:
        raise no_such_file(path) from None
    by_magic = (opener for magic, opener in _BY_MAGIC.items() if first.startswith(magic))
    return next(by_magic, next((opener for mark, opener in _WITHOUT_MARK.items() if mark.match(first)), None))


def _open_with(opener: Callable[[Path], Any] | None, path: Path) -> IO[bytes]:
    return cast(IO[bytes], path.open("rb") if opener is None else opener(path))

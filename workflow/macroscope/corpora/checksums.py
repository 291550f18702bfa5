"""Checks of downloaded files: first bytes, the end of zips, checksums, published or of the first retrieval.

If upstream publishes none, the checksum of the first retrieval is a line of a text file in the format of sha256sum,
`<sha256>  data/<source>/<version>/<file>`. A run keeps them in `data.sha256`, beside its `data/`, so
`sha256sum --check data.sha256` verifies what is there.
"""

import bz2
import gzip
import hashlib
import os
import re
import zipfile
import zlib
from pathlib import Path

from macroscope.errors import MacroscopeError

_MAGIC = {".bz2": b"BZh", ".gz": b"\x1f\x8b", ".zip": b"PK", ".parquet": b"PAR1"}
"""First bytes of a file by its suffix."""
_PAGE = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)
_ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256"}
"""Algorithm of a checksum by its number of hexadecimal digits."""
_DATE = re.compile(r"-(latest|\d{8})-")
_BLOCK = 1 << 16


def find_fault(path: Path, name: str) -> str | None:
    """Describe why a file cannot be of the format of its name; None if there is no such sign.

    Parameters
    ----------
    path
        Downloaded file.
    name
        Name of the file in the registry, with the suffix of its format.
    """
    with path.open("rb") as stream:
        start = stream.read(1024)
    if not start:
        return "it is empty"
    if _PAGE.match(start) and not name.endswith((".html", ".htm")):
        return "it is a web page (of a login or an error), not the file"
    suffix = Path(name).suffix.lower()
    if suffix in _MAGIC and not start.startswith(_MAGIC[suffix]):
        return f"it does not begin as a {suffix} file does"
    if suffix == ".zip" and not zipfile.is_zipfile(path):
        return "its end is missing, which holds the table of contents of a zip"
    if suffix in (".bz2", ".gz"):
        return _fault_of_stream(path, suffix)
    return None


def _fault_of_stream(path: Path, suffix: str) -> str | None:
    try:
        with bz2.open(path) if suffix == ".bz2" else gzip.open(path) as stream:
            stream.read(_BLOCK)
    except (OSError, EOFError, zlib.error) as error:
        return f"its beginning cannot be decompressed ({error})"
    return None


def find_published_checksum(listing: str, name: str) -> str | None:
    """Return the checksum of a file in a listing of checksums and names; None if the listing lacks the file.

    The listing has the dated name of a dump that is called "latest".
    """
    for line in listing.splitlines():
        digest, _, listed = line.strip().partition(" ")
        if _DATE.sub("-", listed.strip(" *")) == _DATE.sub("-", name) and len(digest) in _ALGORITHMS:
            return digest.lower()
    return None


def has_checksum(path: Path, digest: str) -> bool:
    """Return whether a file has a checksum; the length of the checksum tells its algorithm."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, _ALGORITHMS[len(digest)]).hexdigest() == digest


_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S.*)")


def read_checksums(path: Path) -> dict[str, str]:
    """Read the sha256 of each file by its name; none if there is no such file of checksums."""
    checksums: dict[str, str] = {}
    if not path.exists():
        return checksums
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            raise MacroscopeError(
                f"{path}, line {number}: not a line of sha256sum: {line[:80]!r}; correct or remove it"
            )
        sha256, name = match.groups()
        if checksums.setdefault(name, sha256) != sha256:
            raise MacroscopeError(f"{path}, line {number}: another sha256 of {name} than before; remove one of them")
    return checksums


def add_checksum(path: Path, name: str, sha256: str) -> None:
    """Append the checksum of a file, in one write: several retrievals may be under way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, f"{sha256}  {name}\n".encode())
    finally:
        os.close(descriptor)

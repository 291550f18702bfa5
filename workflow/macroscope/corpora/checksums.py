"""Whether a downloaded file is what its name says: its first bytes, its end where that tells, published checksums."""

import bz2
import gzip
import hashlib
import re
import zipfile
import zlib
from pathlib import Path

_MAGIC = {".bz2": b"BZh", ".gz": b"\x1f\x8b", ".zip": b"PK", ".parquet": b"PAR1"}
"""Suffix -> what such a file begins with."""
_PAGE = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)
_ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256"}
"""Hexadecimal digits of a checksum -> what made it."""
_DATE = re.compile(r"-(latest|\d{8})-")
_BLOCK = 1 << 16


def fault_of(path: Path, name: str) -> str | None:
    """What shows that a file is not what its name says; None where nothing does.

    Parameters
    ----------
    path
        The file.
    name
        Its name in the registry, whose suffix tells the format.
    """
    with path.open("rb") as stream:
        start = stream.read(1024)
    if not start:
        return "it is empty"
    if _PAGE.match(start) and not name.endswith((".html", ".htm")):
        return "it is a web page, as of a login or an error, and not the file"
    suffix = Path(name).suffix.lower()
    if suffix in _MAGIC and not start.startswith(_MAGIC[suffix]):
        return f"it does not begin as a {suffix} file does"
    if suffix == ".zip" and not zipfile.is_zipfile(path):
        return "its end is missing, where a zip has its table of contents"
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


def published_checksum(listing: str, name: str) -> str | None:
    """Checksum of a file in a listing of checksums and names; None where it has none.

    Of a dump that is called "latest", the listing has the name with the date.
    """
    for line in listing.splitlines():
        digest, _, listed = line.strip().partition(" ")
        if _DATE.sub("-", listed.strip(" *")) == _DATE.sub("-", name) and len(digest) in _ALGORITHMS:
            return digest.lower()
    return None


def has_checksum(path: Path, digest: str) -> bool:
    """Whether a file has a checksum, of the kind that its length tells."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, _ALGORITHMS[len(digest)]).hexdigest() == digest

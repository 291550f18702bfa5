"""Checksums of downloaded files that upstream publishes none of, learned at the first retrieval.

They are lines of a text file in the format of sha256sum, `<sha256>  data/<source>/<version>/<file>`. A run keeps them
in `data.sha256`, beside its `data/`, so `sha256sum --check data.sha256` verifies what is there.
"""

import os
import re
from pathlib import Path

from macroscope.errors import MacroscopeError

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

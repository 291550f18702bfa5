"""Compression ratio: bytes of a text over its bytes after DEFLATE.

Shaib, Barrow, Sun, Siu, Wallace and Nenkova (2024), *Standardizing the Measurement of Text Diversity*, take that of a
whole collection. Here it is of single texts, so that it has a test. It grows with the length of a text.
"""

import zlib
from pathlib import Path

from macroscope.documents import Collection
from macroscope.options import Options
from macroscope_peers.numbers import numbers_schema, write_numbers

LATENTS = numbers_schema("compression_ratio")


class PeerOptions(Options):
    """Options of the critic: none."""


def project(texts: Collection, *, signature: str, output: Path) -> None:
    """Write the compression ratio of every text."""
    write_numbers(texts, LATENTS, lambda document: [measure_compression(document.text)], signature, output)


def measure_compression(text: str) -> float:
    """Return the compression ratio of a text; NaN if it is empty."""
    content = text.encode()
    return len(content) / len(zlib.compress(content, 9)) if content else float("nan")

"""Length alone: the number of words of a text. What it finds, no other metric needs to be praised for."""

from pathlib import Path

from macroscope.documents import Collection
from macroscope.options import Options
from macroscope_peers.numbers import numbers_schema, split_words, write_numbers

LATENTS = numbers_schema("words")


class PeerOptions(Options):
    """Options of the critic: none."""


def project(texts: Collection, *, signature: str, output: Path) -> None:
    """Write the number of words of every text."""
    write_numbers(texts, LATENTS, lambda document: [len(split_words(document.text))], signature, output)

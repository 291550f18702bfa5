"""Self-repetition: log(1 + N), with N the n-grams of a text that other texts of its collection have as well.

Salkar, Trikalinos, Wallace and Nenkova (2022), *Self-Repetition in Abstractive Neural Summarizers*. N depends on the
whole collection, so a subsample of its texts keeps the N of all.
"""

import math
from pathlib import Path

from pydantic import Field

from macroscope.documents import Collection
from macroscope.options import Options
from macroscope_peers.numbers import find_shared, list_ngrams, numbers_schema, split_words, write_numbers

LATENTS = numbers_schema("self_repetition")


class PeerOptions(Options):
    """Options of the critic."""

    words: int = Field(4, ge=1, description="Length of the n-grams, in words (paper: 4).")


def project(texts: Collection, *, options: PeerOptions, signature: str, output: Path) -> None:
    """Write the self-repetition of every text."""
    shared = find_shared(list_ngrams(split_words(text.text), options.words) for text in texts)

    def measure(text: str) -> float:
        return math.log1p(sum(ngram in shared for ngram in list_ngrams(split_words(text), options.words)))

    write_numbers(texts, LATENTS, lambda document: [measure(document.text)], signature, output)

"""Distinct-n: different n-grams as a share of all n-grams of a text.

Li, Galley, Brockett, Gao and Dolan (2016), *A Diversity-Promoting Objective Function for Neural Conversation Models*.
"""

from pathlib import Path

from pydantic import Field

from macroscope.documents import Collection
from macroscope.options import Options
from macroscope_peers.numbers import list_ngrams, numbers_schema, split_words, write_numbers

LONGEST = 4
LATENTS = numbers_schema(*(f"distinct_{length}" for length in range(1, LONGEST + 1)))


class PeerOptions(Options):
    """Options of the critic."""

    longest: int = Field(LONGEST, ge=1, le=LONGEST, description="Longest n-grams, in words; longer ones are undefined.")


def project(texts: Collection, *, options: PeerOptions, signature: str, output: Path) -> None:
    """Write the shares of different n-grams of every text."""

    def measure(text: str) -> list[float]:
        shares = measure_distinct(text, options.longest)
        return shares + [float("nan")] * (LONGEST - options.longest)

    write_numbers(texts, LATENTS, lambda document: measure(document.text), signature, output)


def measure_distinct(text: str, longest: int = LONGEST) -> list[float]:
    """Return the shares for n-grams of 1 to `longest` words; NaN if a text has none."""
    words = split_words(text)
    ngrams = [list_ngrams(words, length) for length in range(1, longest + 1)]
    return [len(set(each)) / len(each) if each else float("nan") for each in ngrams]

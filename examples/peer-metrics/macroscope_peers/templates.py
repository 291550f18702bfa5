"""Template rate: the share of a text's templates that other texts of its collection have as well.

Shaib, Elazar, Li and Wallace (2024), *Detection and Measurement of Syntactic Templates in Generated Text*, take n-grams
of parts of speech. Without a tagger, stop words stay and every other word is a gap, with the punctuation around it:
"the ~ of the ~ ,". Like self-repetition, it depends on the whole collection.
"""

import re
from collections.abc import Collection as Container
from pathlib import Path

from pydantic import Field

from macroscope.documents import Collection
from macroscope.natural_language.words import stop_words
from macroscope.options import Options
from macroscope_peers.numbers import find_shared, list_ngrams, numbers_schema, write_numbers

LATENTS = numbers_schema("template_rate")
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


class PeerOptions(Options):
    """Options of the critic."""

    words: int = Field(6, ge=1, description="Length of the templates, in words and punctuation marks.")


def project(texts: Collection, *, options: PeerOptions, language: str, signature: str, output: Path) -> None:
    """Write the template rate of every text; NaN for a text that is shorter than a template."""
    kept = stop_words(language)
    shared = find_shared(list_ngrams(replace_content(text.text, kept), options.words) for text in texts)

    def measure(text: str) -> float:
        templates = list_ngrams(replace_content(text, kept), options.words)
        return sum(each in shared for each in templates) / len(templates) if templates else float("nan")

    write_numbers(texts, LATENTS, lambda document: [measure(document.text)], signature, output)


def replace_content(text: str, kept: Container[str]) -> list[str]:
    """Return the words and punctuation marks of a text, "~" for every word that is not to be kept."""
    tokens = _TOKEN.findall(text.lower())
    return [token if token in kept or not token[0].isalnum() else "~" for token in tokens]

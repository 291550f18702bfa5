"""The sentences of a narrative that seem out of place, and the gaps where one seems to be missing."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from macroscope.corpora.plain_text import split_sentences
from macroscope.critics.attributions import Attribution, Place, rates, write_attributions
from macroscope.critics.narrative.latents import read_latents
from macroscope.critics.narrative.operating_point import OperatingPoint, read_operating_points
from macroscope.documents import Document, read_documents


def attribute(texts: Path, latents: Path, scores: Path, inference: Path, *, language: str, output: Path) -> None:
    """Blame narratives for T(x) a place, and the places from the detectors' thresholds on; see `critics.attributions`."""
    points, nats = read_operating_points(inference), rates(scores)
    told = chain.from_iterable(table.to_dict("records") for table in read_latents(latents))
    rows = (
        Attribution(row["id"], nats[row["id"]], list(marks(document, row, points, language)))
        for document, row in zip(read_documents(texts), told, strict=True)
    )
    write_attributions(rows, output)


def marks(
    document: Document, row: dict[str, Any], points: dict[str, OperatingPoint], language: str
) -> Iterator[tuple[Place, float, str]]:
    """Sentences out of place; of those before which one is missing the first word.

    Parameters
    ----------
    row
        Of the latents.
    """
    places = sentence_places(document, language)
    for task, point in points.items():
        for number, p in enumerate(row[task].tolist()):
            if p < point.threshold:
                continue
            if task == "missing":
                section, start, end = places[number + 1]
                first = document.sections[section].text[start:end].split(maxsplit=1)[0]
                yield (section, start, start + len(first)), p, f"a sentence may be missing before this: {p:.0%}"
            else:
                yield places[number], p, f"may be out of place: {p:.0%}"


def sentence_places(document: Document, language: str) -> list[Place]:
    """Where the sentences of `narratives.sentences_of` stand, without the white space around them."""
    found = []
    for number, section in enumerate(document.sections):
        at = 0
        for sentence in split_sentences(section.text, language):
            if sentence.strip():
                start = at + len(sentence) - len(sentence.lstrip())
                found.append((number, start, at + len(sentence.rstrip())))
            at += len(sentence)
    return found

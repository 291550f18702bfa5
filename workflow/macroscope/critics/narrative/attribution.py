"""Attribution of the narrative critic: incoherence, sentences that seem out of place, and gaps."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from macroscope.critics.attributions import Attribution, Span, write_attributions
from macroscope.critics.latents import stream_latents
from macroscope.critics.narrative.latents import INCOHERENCE, LATENTS
from macroscope.critics.narrative.operating_point import OperatingPoint, read_operating_points
from macroscope.documents import Collection, Document
from macroscope.natural_language.sentences import split_sentences


def attribute(texts: Collection, latents: Path, inference: Path, *, language: str, output: Path) -> None:
    """Attribute its incoherence to each narrative, marking places above the thresholds; see `critics.attributions`."""
    points = read_operating_points(inference)
    records = chain.from_iterable(table.to_pandas().to_dict("records") for table in stream_latents(latents, LATENTS))
    rows = (
        Attribution(row["id"], row[INCOHERENCE], list(find_marks(document, row, points, language)))
        for document, row in zip(texts, records, strict=True)
    )
    write_attributions(rows, output)


def find_marks(
    document: Document, row: dict[str, Any], points: dict[str, OperatingPoint], language: str
) -> Iterator[tuple[Span, float, str]]:
    """Yield sentences out of place, and the first word of each sentence before which one is missing.

    Parameters
    ----------
    row
        Row of the latents.
    """
    places = locate_sentences(document, language)
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


def locate_sentences(document: Document, language: str) -> list[Span]:
    """Return the places of the sentences of `narratives.split_document`, without surrounding white space."""
    places = []
    for number, section in enumerate(document.sections):
        offset = 0
        for sentence in split_sentences(section.text, language):
            if sentence.strip():
                start = offset + len(sentence) - len(sentence.lstrip())
                places.append((number, start, offset + len(sentence.rstrip())))
            offset += len(sentence)
    return places

"""Projection of documents onto section types."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from macroscope.corpora.titles import RARE_TITLE, normalise_title
from macroscope.critics.coherence.classifier import SectionClassifier
from macroscope.critics.coherence.latents import Batch, LatentsInfo, write_batches
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.validation import calibrate
from macroscope.documents import Collection, Document
from macroscope.files import read_json


def project(texts: Collection, inference: Path, *, signature: str, options: CoherenceOptions, output: Path) -> None:
    """Infer the posterior over section types of every section of every document.

    Parameters
    ----------
    texts
        Documents to project, of all splits.
    inference
        Folder of the trained section classifier.
    signature
        String of everything that the latents depend on, for their metadata.
    """
    classifier = SectionClassifier(inference / "classifier", options.max_tokens, options.precision)
    temperature = read_json(inference / "validation.json")["temperature"]
    language = read_json(inference / "section_types.json")["language"]
    counts = {"documents": 0, "sections": 0, "sections_cut": 0, "documents_with_unknown_titles": 0}
    info = LatentsInfo(classifier.types, signature, counts)
    write_batches(output, _project_batches(texts, classifier, temperature, language, counts), info)


def _project_batches(
    collection: Collection, classifier: SectionClassifier, temperature: float, language: str, counts: dict[str, int]
) -> Iterator[Batch]:
    types = set(classifier.types)
    for batch in collection.batches():
        texts = [section.text for document in batch for section in document.sections]
        logits, was_cut = classifier.logits(texts)
        gold = [_read_gold(document, types, language) for document in batch]
        counts["documents"] += len(batch)
        counts["sections"] += len(texts)
        counts["sections_cut"] += int(was_cut.sum())
        counts["documents_with_unknown_titles"] += sum(titles is not None and None in titles for titles in gold)
        lengths = np.array([len(document.sections) for document in batch], dtype=np.int64)
        ids, openings = [document.id for document in batch], [document.opening for document in batch]
        yield Batch(ids, openings, lengths, calibrate(logits, temperature), gold)


def _read_gold(document: Document, types: set[str], language: str) -> list[str | None] | None:
    """Return the section titles as types, None for unknown ones; None altogether if a section has no title.

    Unknown ones are `RARE_TITLE` if that is a type: the rare titles of real texts are, too.
    """
    if not all(section.title for section in document.sections):
        return None
    titles = [normalise_title(section.title or "", language) for section in document.sections]
    rare = RARE_TITLE if RARE_TITLE in types else None
    return [title if title in types else rare for title in titles]

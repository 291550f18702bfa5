"""Comparison at matched length: texts of a system and real texts, cut so that their lengths have one distribution.

`statistics.length_matching` gives the length to which each text is cut, and `systems.cutting` cuts after a sentence.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.documents import (
    Count,
    Document,
    Provenance,
    read_documents,
    read_provenance,
    write_documents,
)
from macroscope.matched_length import LENGTH, matched_system
from macroscope.natural_language.words import count_words
from macroscope.resampling import Resampling
from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS, two_sample_test
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.document_groups import Integers, group_labels
from macroscope.statistics.length_matching import match_lengths
from macroscope.statistics.pairing_keys import ID, OPENING
from macroscope.statistics.tidy import find_pairs, rows_table, tidy_table, write_tidy
from macroscope.systems.cutting import cut_document

HELD_OUT = "samples.parquet"
"""Name of the file with held-out documents, beside that with all documents of a corpus."""
TEXTS, WORDS = "texts cut to matched length", "words after the cuts"
"""Counts of what is cut: of texts, and of words."""
_SIGNATURE = "unit:words"


def cut_system(control: Path, samples: Path, output: Path, *, language: str, seed: int) -> None:
    """Cut the texts of a system to the lengths at which they agree with those of real ones.

    Parameters
    ----------
    control
        Real texts.
    samples
        Texts of the system.
    language
        ISO 639-1 code of the texts.
    """
    documents = list(read_documents(samples))
    _, targets = _match(list(read_documents(control)), documents, seed)
    _write_cut(documents, targets, language, read_provenance(samples), output)


def cut_control(
    control: Path, samples: Path, output: Path, *, language: str, seed: int, held_out: Path | None = None
) -> None:
    """Cut real texts to the lengths at which they agree with those of a system; see `cut_system`.

    Parameters
    ----------
    held_out
        The real texts that critics do not learn from, if these are a part; they are written beside the others.
    """
    documents = list(read_documents(control))
    targets, _ = _match(documents, list(read_documents(samples)), seed)
    _write_cut(documents, targets, language, read_provenance(control), output)
    if held_out is not None:
        names = {document.id for document in read_documents(held_out)}
        kept = (document for document in read_documents(output) if document.id in names)
        write_documents(output.with_name(HELD_OUT), kept, read_provenance(output))


def compare_lengths(
    control: Path,
    samples: Path,
    matched_control: Path,
    matched_samples: Path,
    output: Path,
    *,
    corpus: str,
    system: str,
    seed: int,
    confidence: float,
) -> None:
    """Write how well a system's texts are detected by their lengths alone, as they are and at matched length.

    The statistics are those of `classifier_two_sample_test`, with the number of words as the only feature.
    """
    tables = []
    for name, paths in ((system, (control, samples)), (matched_system(system), (matched_control, matched_samples))):
        first, second = map(_read_features, paths)
        estimates = two_sample_test(first, second, confidence, seed)
        sizes = len(first), len(second)
        rows = rows_table(estimates, sizes, lambda _: f"fewer than {FEWEST_DOCUMENTS} texts in a collection")
        about = {"corpus": corpus, "system": name, "critic": LENGTH, "signature": _SIGNATURE}
        pairing = find_pairs(first.keys, second.keys, name)
        tables.append(tidy_table(rows, resampling=Resampling(0, 0, confidence, seed), pairing=pairing, **about))
    write_tidy(pd.concat(tables, ignore_index=True), output)


def _match(control: Sequence[Document], samples: Sequence[Document], seed: int) -> tuple[Integers, Integers]:
    lengths = [np.array(list(map(_length, documents)), dtype=np.int64) for documents in (control, samples)]
    groups = group_labels(*map(_keys, (control, samples)))
    return match_lengths(lengths[0], lengths[1], groups, seed)


def _write_cut(
    documents: Sequence[Document], targets: Integers, language: str, provenance: Provenance, output: Path
) -> None:
    cut = [
        cut_document(document, int(target), language) if target < _length(document) else document
        for document, target in zip(documents, targets, strict=True)
    ]
    provenance.counts = list(_count_cuts(documents, cut))
    write_documents(output, cut, provenance)


def _count_cuts(documents: Sequence[Document], cut: Sequence[Document]) -> Iterator[Count]:
    n_cut = sum(after is not before for before, after in zip(documents, cut, strict=True))
    before, after = (sum(map(_length, collection)) for collection in (documents, cut))
    yield Count(TEXTS, len(documents) - n_cut, n_cut, "whole texts")
    yield Count(WORDS, after, before - after, "words")


def _length(document: Document) -> int:
    return count_words(document.text)


def _keys(documents: Sequence[Document]) -> pd.DataFrame:
    return pd.DataFrame([(each.id, each.opening) for each in documents], columns=[ID, OPENING])


def _read_features(samples: Path) -> DocumentFeatures:
    documents = list(read_documents(samples))
    return DocumentFeatures(_keys(documents), np.array([[_length(each)] for each in documents], dtype=float))

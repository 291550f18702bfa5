"""Comparison at matched length: texts of a system and real texts, cut so that their lengths have one distribution.

`match_lengths` gives the length to which each text is cut, and `cut_document` cuts after a sentence.

Texts can be cut, not extended, so the common distribution is the one whose quantiles are the smaller of the two
samples' quantiles. A text at rank u of its sample is cut to that quantile at u. No text is left out, content goes with
ranks of length as before, and a sample that is longer at no rank is hardly cut.

The quantiles are those of a bootstrap resample of both samples, the same for both. With the samples' own quantiles, the
lengths would agree better than those of two samples of one distribution. A classifier that learns from some of the
texts would then be wrong about the others: whatever by chance is longer in the first must be shorter in the rest. In
simulations of 60 against 60 texts, the detectability of equal texts was 44 % instead of 50 %, and power was lost.

Paired texts and texts of one prompt are resampled together, so pairs of equal lengths are not cut. Paired texts are not
cut to the shorter one of a pair: of two samples with the same distribution, this would cut a large share of the words
for nothing.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.documents import Count, Document, Provenance, read_documents, read_provenance, write_documents
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.words import count_words
from macroscope.options import LENGTH, Resampling, matched_system
from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS, two_sample_test
from macroscope.statistics.document_features import Array, DocumentFeatures
from macroscope.statistics.document_groups import ID, OPENING, Integers, group_labels
from macroscope.statistics.tidy import find_pairs, rows_table, tidy_table, write_tidy
from macroscope.systems.perturbation.pieces import regroup, replace_texts


def cut_document(document: Document, words: int, language: str) -> Document:
    """Keep the first sentences of a document, at least one: the number whose words are nearest to `words`.

    Of two numbers of sentences that are equally near, the smaller is taken. Sections after the last sentence are
    removed, with their titles. A document that keeps all of its sentences is unchanged.

    Parameters
    ----------
    language
        ISO 639-1 code; see `split_sentences`.
    """
    pieces = [split_sentences(section.text, language) for section in document.sections]
    sentences = list(chain.from_iterable(pieces))
    if not sentences:
        return document
    kept = count_kept(np.array(list(accumulate(map(count_words, sentences)))), words)
    if kept == len(sentences):
        return document
    shortened = [sentence if number < kept else "" for number, sentence in enumerate(sentences)]
    return replace_texts(document, (text.rstrip() for text in regroup(shortened, map(len, pieces))))


def count_kept(ends: NDArray[np.int64], words: int) -> int:
    """Return the number of sentences, at least one, after which the number of words is nearest to `words`.

    Parameters
    ----------
    ends
        Number of words up to the end of each sentence.
    """
    return int(np.abs(ends - words).argmin()) + 1


def match_lengths(
    first: Integers, second: Integers, groups: tuple[Integers, Integers], seed: int
) -> tuple[Integers, Integers]:
    """Return the length to which each text of two samples is cut: at most its own; see the module.

    Parameters
    ----------
    first, second
        Lengths of the texts of each sample, such as numbers of words.
    groups
        Group of each text of both samples, from 0: paired texts, and texts of one prompt, are in one group.
    seed
        Seed of the resample, and of the ranks of texts of equal length.
    """
    if not (len(first) and len(second)):
        raise ValueError("lengths of an empty sample match no others")
    rng = np.random.default_rng(seed)
    resampled = _resample((first, second), groups, rng)
    ranks = rng.random(max(len(first), len(second)))
    return _cut(first, *resampled, ranks[: len(first)]), _cut(second, *resampled[::-1], ranks[: len(second)])


def _resample(
    lengths: tuple[Integers, Integers], groups: tuple[Integers, Integers], rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Resample groups, and return the sorted lengths of their texts; of a sample that is then empty, all of them."""
    n_groups = int(max(map(np.max, groups))) + 1
    weights = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups))
    resampled = [np.repeat(each, weights[labels]) for each, labels in zip(lengths, groups, strict=True)]
    first, second = (np.sort(new if len(new) else old) for new, old in zip(resampled, lengths, strict=True))
    return first, second


def _cut(lengths: Integers, resampled: Integers, others: Integers, ranks: Array) -> Integers:
    """Return the smaller of each length and the quantile of the other sample at its rank among resampled lengths.

    Beyond the resampled lengths, the ratio is that at their end.

    Parameters
    ----------
    resampled, others
        Sorted lengths of a resample of this sample, and of the other one.
    ranks
        Rank of each text among texts of its length, in [0, 1].
    """
    shares = _shares(len(resampled))
    left, right = (np.searchsorted(resampled, lengths, edge) for edge in ("left", "right"))
    last = np.minimum(left, len(resampled) - 1)
    among_equals = shares[last] + ranks * (shares[np.maximum(right - 1, 0)] - shares[last])
    share = np.where(right > left, among_equals, np.interp(lengths, resampled, shares))
    quantiles = np.interp(share, _shares(len(others)), others)
    ends = lengths / np.clip(lengths, max(resampled[0], 1), max(resampled[-1], 1))
    return np.minimum(lengths, np.rint(quantiles * ends).astype(np.int64))


def _shares(n: int) -> NDArray[np.float64]:
    """Return the share of a sample below the middle of each rank."""
    return np.asarray((np.arange(n) + 0.5) / n, dtype=np.float64)


HELD_OUT = "samples.parquet"
"""Name of the file with held-out documents, beside that with all documents of a corpus."""
TEXTS, WORDS = "texts cut to matched length", "words after the cuts"
"""Counts of what is cut: of texts, and of words."""


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
    signature: str,
    seed: int,
    confidence: float,
) -> None:
    """Write how well a system's texts are detected by their lengths alone, as they are and at matched length.

    The statistics are those of `classifier_two_sample_test`, with the number of words as the only feature.
    """
    tables = []
    for name, paths in ((system, (control, samples)), (matched_system(system), (matched_control, matched_samples))):
        reference, candidate = map(_read_features, paths)
        estimates = two_sample_test(reference, candidate, confidence, seed)
        sizes = len(reference), len(candidate)
        rows = rows_table(estimates, sizes, lambda _: f"fewer than {FEWEST_DOCUMENTS} texts in a collection")
        about = {"corpus": corpus, "system": name, "critic": LENGTH, "signature": signature}
        pairing = find_pairs(reference.keys, candidate.keys, name)
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

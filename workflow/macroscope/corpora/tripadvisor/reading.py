"""From hotel reviews to documents: their sentences, and which reviews are kept.

INSET's rules (text_encode.py), with words for its tokens: reviews of enough sentences, none of them too long.
"""

from collections.abc import Iterator
from pathlib import Path

from macroscope.corpora.counting import keep
from macroscope.corpora.sentences import split_sentences
from macroscope.corpora.splits import split_of
from macroscope.corpora.texts import tidy
from macroscope.corpora.tripadvisor.layouts import Review, read_reviews
from macroscope.corpora.tripadvisor.options import TripAdvisorCorpus
from macroscope.documents import Count, Document, Provenance, Section
from macroscope.progress import Progress


def read_tripadvisor(
    options: TripAdvisorCorpus, path: Path, provenance: Provenance, workers: int = 1
) -> Iterator[Document]:
    """Stream the reviews of a file; each has `sentences`, and one section with these one after the other.

    Parameters
    ----------
    provenance
        Receives the counts: reviews without text, with too few sentences, with a sentence that is too long, with an id
        that occurred before.
    workers
        Not used: reading is no faster than the decompression.

    Raises
    ------
    MacroscopeError
        Where a file is broken or of another format; see `macroscope.corpora.tripadvisor.layouts.read_reviews`.
    """
    fewest, most = options.fewest_sentences, options.most_words
    empty = Count("review without text", 0, 0)
    few = Count(f"fewer than {fewest} sentences (fewest_sentences)", 0, 0, option="fewest_sentences")
    long = Count(f"a sentence of more than {most} words (most_words)", 0, 0, option="most_words")
    duplicates = Count("review id that occurred before", 0, 0)
    provenance.counts += [empty, few, *([] if most is None else [long]), duplicates]
    provenance.source.update(file=path.name)
    seen: set[str] = set()
    with Progress(f"extract {path.name}", unit="reviews") as progress:
        for review in read_reviews(path):
            progress.advance(1)
            sentences = _sentences(review, options.language)
            if not keep(empty, bool(sentences)) or not keep(few, len(sentences) >= fewest):
                continue
            if not keep(long, most is None or max(len(sentence.split()) for sentence in sentences) <= most):
                continue
            if keep(duplicates, review.id not in seen):
                seen.add(review.id)
                split = split_of(review.id, options.valid_share, options.test_share)
                yield Document(review.id, split, None, (Section(None, " ".join(sentences)),), sentences=sentences)


def _sentences(review: Review, language: str) -> tuple[str, ...]:
    """Sentences of a review, each on one line; white space alone is none."""
    given = review.text
    found = given if isinstance(given, list) else split_sentences(tidy(given), language)
    return tuple(line for line in (" ".join(tidy(sentence).split()) for sentence in found) if line)

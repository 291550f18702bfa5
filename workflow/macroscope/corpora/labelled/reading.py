"""From a data set with labels to documents: splits, counts; each format has a module of its own beside this one."""

from collections.abc import Callable, Iterator
from pathlib import Path

from macroscope.corpora.counting import keep
from macroscope.corpora.labelled import news_category, newsgroups20, yelp_polarity
from macroscope.corpora.labelled.options import LabelledCorpus
from macroscope.corpora.labelled.texts import LabelledText
from macroscope.corpora.splits import split_of
from macroscope.corpora.texts import tidy
from macroscope.documents import Count, Document, Provenance, Section
from macroscope.progress import Progress

_READERS: dict[str, Callable[[Path], Iterator[LabelledText]]] = {
    "yelp_polarity": yelp_polarity.read_texts,
    "news_category": news_category.read_texts,
    "newsgroups20": newsgroups20.read_texts,
}


def read_labelled(options: LabelledCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the texts of a data set as documents of one section without a title, and with a label.

    Parameters
    ----------
    options
        `layout` says what the file is. With `official_splits`, the official test texts are the test split, and
        `valid_share` of the official training texts, by id hash, the validation split. Without, and where there are
        no official splits, all are split by id hash.
    provenance
        Receives the counts: texts without words, without a label, ids that occurred before.
    workers
        Not used: reading is no faster than the decompression.

    Raises
    ------
    MacroscopeError
        Where the file is broken or of another format; with the line where there is one.
    """
    empty = Count("text without words", 0, 0)
    unlabelled = Count("text without a label", 0, 0)
    duplicates = Count("text id that occurred before", 0, 0)
    provenance.counts += [empty, unlabelled, duplicates]
    provenance.source.update(file=path.name)
    seen: set[str] = set()
    with Progress(f"extract {path.name}", unit="texts") as progress:
        for found in _READERS[options.layout](path):
            progress.advance(1)
            text = tidy(found.text)
            if not keep(empty, bool(text)) or not keep(unlabelled, bool(found.label)):
                continue
            if keep(duplicates, found.id not in seen):
                seen.add(found.id)
                yield Document(found.id, _split(found, options), None, (Section(None, text),), label=found.label)


def _split(found: LabelledText, options: LabelledCorpus) -> str:
    if found.split is None or not options.official_splits:
        return split_of(found.id, options.valid_share, options.test_share)
    return split_of(found.id, options.valid_share, 0.0) if found.split == "train" else found.split

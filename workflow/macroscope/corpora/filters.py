"""Filters of deng2022, Appendix E, as steps of a stream of documents; each keeps its count."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from macroscope.corpora.options import Filters, RareTitles, Split
from macroscope.corpora.titles import normalise_title
from macroscope.corpora.tokens import CountTokens
from macroscope.documents import SPLITS, Count, Document, Section, keep
from macroscope.readers.unique_ids import UniqueIds

_DOCUMENTS_PER_BATCH = 256

Measured = tuple[Document, list[int]]
"""A document, and the numbers of tokens of its sections."""
Cut = Callable[[Iterable[Document]], Iterator[Document]]
"""Function that cuts documents into others."""


def standardise_titles(documents: Iterable[Document], language: str) -> Iterator[Document]:
    """Bring the section titles to their standard form; see `macroscope.corpora.titles.normalise_title`."""
    for document in documents:
        yield replace(document, sections=tuple(_standard(section, language) for section in document.sections))


def _standard(section: Section, language: str) -> Section:
    return section if section.title is None else Section(normalise_title(section.title, language), section.text)


class DocumentFilters:
    """Filters that judge each document by itself, in the paper's order.

    Parameters
    ----------
    options
        Thresholds.
    language
        Language of the section titles; the titles in `drop_sections` are brought to the same standard form.
    count_tokens
        Token counter; see `macroscope.corpora.tokens.make_token_counter`.
    own_ids
        True if ids are the user's. Two texts with one id are then an error, and not a duplicate of upstream.

    Attributes
    ----------
    counts
        Counts of the filters, in order; they grow while `apply` is consumed.
    """

    def __init__(self, options: Filters, language: str, count_tokens: CountTokens, own_ids: bool = False) -> None:
        self._options, self._count_tokens = options, count_tokens
        self._boilerplate = {normalise_title(title, language) for title in options.drop_sections}
        self._dropped_sections = Count("section of boilerplate", 0, 0, "sections", "filters.drop_sections")
        self._few = Count(f"fewer than {options.min_sections} sections", 0, 0, option="filters.min_sections")
        self._short = Count(
            f"a section shorter than {options.min_section_tokens} tokens", 0, 0, option="filters.min_section_tokens"
        )
        self._long = Count(
            f"a section longer than {options.max_section_tokens} tokens", 0, 0, option="filters.max_section_tokens"
        )
        self._own_ids = own_ids
        self._duplicates = Count("document id that occurred before", 0, 0)
        self.counts = [self._dropped_sections, self._few, self._short, self._long, self._duplicates]
        if options.max_section_tokens is None:
            self.counts.remove(self._long)

    def apply(self, documents: Iterable[Document], cut: Cut = iter) -> Iterator[Measured]:
        """Stream the documents that pass, with the lengths of their sections in tokens.

        Parameters
        ----------
        cut
            Function that cuts documents without boilerplate into the documents that the other filters judge.
        """
        enough = self._with_enough_sections(cut(self._without_boilerplate(documents)))
        return self._unique(self._of_moderate_length(self._measured(enough)))

    def _without_boilerplate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            kept = tuple(section for section in document.sections if section.title not in self._boilerplate)
            self._dropped_sections.kept += len(kept)
            self._dropped_sections.dropped += len(document.sections) - len(kept)
            yield replace(document, sections=kept)

    def _with_enough_sections(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            if keep(self._few, len(document.sections) >= self._options.min_sections):
                yield document

    def _measured(self, documents: Iterable[Document]) -> Iterator[Measured]:
        documents = iter(documents)
        while batch := list(islice(documents, _DOCUMENTS_PER_BATCH)):
            texts = [section.text for document in batch for section in document.sections]
            lengths = iter(self._count_tokens(texts))
            for document in batch:
                yield document, list(islice(lengths, len(document.sections)))

    def _of_moderate_length(self, documents: Iterable[Measured]) -> Iterator[Measured]:
        longest = self._options.max_section_tokens
        for document, lengths in documents:
            long_enough = keep(self._short, min(lengths) >= self._options.min_section_tokens)
            if long_enough and keep(self._long, longest is None or max(lengths) <= longest):
                yield document, lengths

    def _unique(self, documents: Iterable[Measured]) -> Iterator[Measured]:
        unique = UniqueIds(self._own_ids)
        for document, lengths in documents:
            if keep(self._duplicates, unique.is_new(document, "its files")):
                yield document, lengths


class FrequentLabels:
    """Filter of documents by label: it keeps frequent labels, and documents without a label.

    Parameters
    ----------
    fewest
        Fewest training documents per label; 0 keeps all.

    Attributes
    ----------
    count
        Kept and dropped documents.
    """

    def __init__(self, fewest: int) -> None:
        self._fewest, self._documents_of = fewest, Counter[str]()
        rare = f"a label that is rare: of fewer than {fewest} training documents"
        self.count = Count(rare, 0, 0, option="filters.min_per_label")

    def add(self, document: Document) -> None:
        """Add a document; all must be added before `choose`."""
        if document.split == "train" and document.label is not None:
            self._documents_of[document.label] += 1

    def choose(self, documents: Iterable[Measured]) -> Iterator[Measured]:
        """Stream the documents whose label is frequent."""
        self.count.kept = self.count.dropped = 0
        for document, lengths in documents:
            label = document.label
            if keep(self.count, label is None or self._documents_of[label] >= self._fewest):
                yield document, lengths


class Subset:
    """Random subset of documents by a hash of the id: the same ones every time, in any order.

    Parameters
    ----------
    size
        Most documents, or None for all.
    of_split
        Most documents per split, instead of `size`; all documents of unnamed splits are kept.

    Attributes
    ----------
    count
        Kept and dropped documents.
    """

    def __init__(self, size: int | None, of_split: Mapping[Split, int] | None = None) -> None:
        sizes: Mapping[Any, int | None] = of_split or dict.fromkeys(SPLITS, size)
        self._sizes = {split: size for split, size in sizes.items() if size is not None}
        # A heap of the lowest ranks for each split that has a size, or one heap for all splits.
        shared = list[int]()
        self._lowest = {split: list[int]() if of_split else shared for split in self._sizes}
        self.count = Count("document not in the random subset", 0, 0)

    @property
    def is_everything(self) -> bool:
        """Return whether all documents are kept, because no size is given."""
        return not self._sizes

    def add(self, document: Document) -> None:
        """Add a document; all must be added before `choose`."""
        size = self._sizes.get(document.split)
        if size is None:
            return
        lowest = self._lowest[document.split]
        if len(lowest) < size:
            heapq.heappush(lowest, -_rank(document))
        else:
            heapq.heappushpop(lowest, -_rank(document))

    def choose(self, documents: Iterable[Measured]) -> Iterator[Measured]:
        """Stream the documents of the subset."""
        self.count.kept = self.count.dropped = 0
        for document, lengths in documents:
            lowest = self._lowest.get(document.split)
            if keep(self.count, lowest is None or _rank(document) <= -lowest[0]):
                yield document, lengths


def _rank(document: Document) -> int:
    # The salt makes the rank independent of the split, which another hash of the id decides.
    return int.from_bytes(hashlib.blake2b(document.id.encode(), digest_size=8, salt=b"subset").digest(), "big")


class TitleCensus:
    """Counts of section titles over the training documents, which tell the rare ones.

    A title counts once per document. Sections without a title are ignored.
    """

    def __init__(self) -> None:
        self.train_documents = 0
        self._documents_with: Counter[str] = Counter()

    @classmethod
    def of(cls, documents: Iterable[Measured]) -> "TitleCensus":
        """Count the titles of a stream of documents."""
        census = cls()
        for document, _ in documents:
            census.add(document)
        return census

    def add(self, document: Document) -> None:
        """Count a document, if it is of the training split."""
        if document.split == "train":
            self.train_documents += 1
            self._documents_with.update(collect_titles(document))

    def threshold(self, options: RareTitles) -> float:
        """Return the fewest training documents that a title must occur in: the larger of the two limits."""
        return max(options.min_count, options.min_share * self.train_documents)

    def frequent(self, options: RareTitles) -> frozenset[str]:
        """Return the titles that are not rare."""
        threshold = self.threshold(options)
        return frozenset(title for title, documents in self._documents_with.items() if documents >= threshold)


def collect_titles(document: Document) -> set[str]:
    return {section.title for section in document.sections if section.title is not None}


def drop_rare_titles(documents: Iterable[Measured], frequent: frozenset[str], count: Count) -> Iterator[Measured]:
    for document, lengths in documents:
        if keep(count, collect_titles(document) <= frequent):
            yield document, lengths


def replace_rare_titles(
    documents: Iterable[Measured], frequent: frozenset[str], instead: str, count: Count
) -> Iterator[Measured]:
    """Replace each title that is not frequent by `instead`."""

    def replaced(section: Section) -> Section:
        if section.title is None or keep(count, section.title in frequent):
            return section
        return Section(instead, section.text)

    for document, lengths in documents:
        yield replace(document, sections=tuple(replaced(section) for section in document.sections)), lengths

"""Search of the n-grams of some texts in others, which are read once: memory grows with the former alone.

The n-grams that are searched for are sorted hashes (`natural_language.ngrams`). A table of bits tells apart most
n-grams that are not among them, without a binary search.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.critics.attributions import Span, find_section_starts, locate_in_sections
from macroscope.documents import Document
from macroscope.natural_language.ngrams import COPY, Hashes, cover_words, hash_ngrams, hash_words
from macroscope.natural_language.words import locate_words, lower_case_words

SPAN = 8
"""Length of the n-grams that make up spans, as in PaLM (Chowdhery et al. 2023)."""
LENGTHS = (5, SPAN, COPY)
"""Numbers of words: that of most idioms, and those of two searches for copies of test texts in training texts."""
COMMON_SHARE, FEWEST_COMMON = 0.01, 5
"""Share, and number, of the searched texts beyond which a passage of `SPAN` words is common, as that of a licence."""
_WORDS_AT_ONCE = 1 << 20
_PIECE = 1 << 22
"""Characters of a text that are cut into words at once."""
_SPACE = re.compile(r"\s")
Integers = NDArray[np.int64]


class _Sought:
    """The n-grams of one length that are searched for, and the first text in which each was found."""

    def __init__(self, words: Hashes, texts: Integers, prompts: Sequence[Hashes], length: int) -> None:
        self.length = length
        starts = _starts_within(texts, length)
        grams = hash_ngrams(words, length)[starts]
        of_prompts = [(k, hash_ngrams(prompt, length)) for k, prompt in enumerate(prompts) if len(prompt)]
        bounds = np.searchsorted(texts[starts], np.arange(len(prompts) + 1))
        counts = np.ones(len(starts), dtype=bool)
        for k, of_prompt in of_prompts:
            counts[bounds[k] : bounds[k + 1]] = ~np.isin(grams[bounds[k] : bounds[k + 1]], of_prompt)
        self.starts = starts[counts]
        self._grams, self._numbers = np.unique(grams[counts], return_inverse=True)
        self._first, self._last = np.full((2, len(self._grams)), -1, dtype=np.int64)
        self._holders = np.zeros(len(self._grams), dtype=np.int64)
        bits = int(np.clip(np.ceil(np.log2(16 * max(1, len(self._grams)))), 10, 30))
        self._shift = np.uint64(64 - bits)
        self._may_be = np.zeros(1 << bits, dtype=bool)
        self._may_be[self._grams >> self._shift] = True

    def find(self, words: Hashes, texts: Integers, names: Integers) -> Integers:
        """Note the n-grams of a batch of texts; return the names of those in which an n-gram was found first."""
        starts = _starts_within(texts, self.length)
        grams = hash_ngrams(words, self.length)[starts]
        likely = np.flatnonzero(self._may_be[grams >> self._shift])
        places = np.searchsorted(self._grams, grams[likely])
        places[places == len(self._grams)] = 0
        is_found = self._grams[places] == grams[likely] if len(likely) else likely > 0
        holders, most = names[texts[starts[likely[is_found]]]], int(names.max(initial=0)) + 1
        places, holders = np.divmod(np.unique(places[is_found] * most + holders), most)
        self._holders += np.bincount(places[holders != self._last[places]], minlength=len(self._holders))
        self._last[places] = holders  # the last of each place: a text may go on in the next batch
        is_new = self._first[places] < 0
        self._first[places[is_new][::-1]] = holders[is_new][::-1]  # of several texts, the first
        return holders[is_new]

    def holders(self) -> Integers:
        """Return the number of texts in which the n-gram of each of `starts` was found."""
        return self._holders[self._numbers]

    def sources(self) -> Integers:
        """Return the first text in which the n-gram of each of `starts` was found; -1 for none."""
        return self._first[self._numbers]


class Search:
    """A search of the n-grams of texts.

    Parameters
    ----------
    documents
        Texts whose n-grams are searched for; those of a text's own prompt do not count.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        words = [[word for _, _, word in locate_words(document.text)] for document in documents]
        self._sizes = np.array([len(each) for each in words], dtype=np.int64)
        self._texts = np.repeat(np.arange(len(words)), self._sizes)
        hashes = hash_words([*chain.from_iterable(words)])
        prompts = [hash_words(lower_case_words(document.prompt or "")) for document in documents]
        self._sought = {length: _Sought(hashes, self._texts, prompts, length) for length in LENGTHS}
        self._ids: dict[int, str] = {}
        self.searched, self.words = 0, 0

    def read(self, documents: Iterable[Document]) -> None:
        """Read the texts that are searched, in batches."""
        batch: list[list[str]] = []
        names: list[int] = []
        ids: dict[int, str] = {}
        size = 0
        for document in documents:
            ids[self.searched] = document.id
            for words in _cut_into_words(document.text):
                batch.append(words)
                names.append(self.searched)
                size += len(words)
                if size >= _WORDS_AT_ONCE:
                    self._find(batch, names, ids)
                    batch, names, ids, size = [], [], {self.searched: document.id}, 0
            self.searched += 1
        self._find(batch, names, ids)

    def _find(self, batch: list[list[str]], names: list[int], ids: dict[int, str]) -> None:
        hashes = hash_words([*chain.from_iterable(batch)])
        texts = np.repeat(np.arange(len(batch)), [len(words) for words in batch])
        self.words += len(hashes)
        for sought in self._sought.values():
            for name in np.unique(sought.find(hashes, texts, np.array(names, dtype=np.int64))).tolist():
                self._ids[name] = ids[name]

    def table(self) -> pd.DataFrame:
        """Return the numbers of each text.

        Returns
        -------
        data frame
            `id`; `words`; `ngrams_N` and `found_N`, numbers of its N-grams, and of those that were found and have no
            word of a common passage; `covered`, words in `COPY`-grams that were found; `longest`, words of its longest
            span: a sequence of such `SPAN`-grams.
        """
        table = pd.DataFrame({"id": [document.id for document in self._documents], "words": self._sizes})
        for length, sought in self._sought.items():
            texts = self._texts[sought.starts]
            is_found = self._is_copied(sought)
            table[f"ngrams_{length}"] = np.bincount(texts, minlength=len(table))
            table[f"found_{length}"] = np.bincount(texts[is_found], minlength=len(table))
        sought = self._sought[COPY]
        is_covered = cover_words(sought.starts[sought.sources() >= 0], COPY, len(self._texts))
        table["covered"] = np.bincount(self._texts[is_covered], minlength=len(table))
        sought = self._sought[SPAN]
        first, last = _find_runs(sought.starts[self._is_copied(sought)])
        longest = np.zeros(len(table), dtype=np.int64)
        np.maximum.at(longest, self._texts[first], last - first + SPAN)
        return table.assign(longest=longest)

    def spans(self) -> Iterator[tuple[int, Span, int, str, int, bool]]:
        """Yield the parts of spans, one per section: common passages, which do not count, are spans of their own.

        Yields
        ------
        tuple
            Number of the text; place; words; first text that has the rarest `SPAN` words of the span; number of these;
            whether the span is a common passage.
        """
        sought = self._sought[SPAN]
        sources, holders, is_copied = sought.sources(), sought.holders(), self._is_copied(sought)
        first, last = _find_runs(sought.starts[sources >= 0], is_copied[sources >= 0])
        beginnings = np.searchsorted(sought.starts, first)
        offsets = np.concatenate([[0], np.cumsum(self._sizes)])
        texts = self._texts[first]
        bounds = np.searchsorted(texts, np.arange(len(self._documents) + 1))
        for number in np.unique(texts).tolist():
            document = self._documents[number]
            starts, ends, _ = zip(*locate_words(document.text), strict=True)
            sections = find_section_starts(document)
            for k in range(bounds[number], bounds[number + 1]):
                start, end = starts[first[k] - offsets[number]], ends[last[k] + SPAN - 1 - offsets[number]]
                size = int(last[k] - first[k])
                at = beginnings[k] + np.argmin(holders[beginnings[k] : beginnings[k] + size + 1])
                source = self._ids[int(sources[at])], int(holders[at]), not is_copied[at]
                for span in locate_in_sections(sections, start, end):
                    section, *bounds_of_part = span
                    begin, stop = (bisect_left(starts, sections[section] + place) for place in bounds_of_part)
                    if begin < stop:  # a section of numbers alone has no words
                        yield number, span, stop - begin, *source

    def _is_copied(self, sought: _Sought) -> NDArray[np.bool_]:
        """Return whether each n-gram was found, and has no word of a passage that is common to the searched texts."""
        of_spans = self._sought[SPAN]
        is_common = of_spans.holders() > max(FEWEST_COMMON, COMMON_SHARE * self.searched)
        words = np.cumsum(np.append(False, cover_words(of_spans.starts[is_common], SPAN, len(self._texts))))
        return (sought.sources() >= 0) & (words[sought.starts + sought.length] == words[sought.starts])


def _find_runs(starts: Integers, kinds: NDArray[np.bool_] | None = None) -> tuple[Integers, Integers]:
    """Return the first and last n-gram of each sequence of consecutive ones, of one kind."""
    is_first = np.diff(starts, prepend=-2) > 1
    if kinds is not None:
        is_first |= np.diff(kinds.astype(int), prepend=0) != 0
    return starts[is_first], starts[np.append(is_first[1:], True)[: len(starts)]]


def _starts_within(texts: Integers, length: int) -> Integers:
    """Return the places of words from which on `length` words are of one text."""
    number = max(0, len(texts) - length + 1)
    return np.flatnonzero(texts[:number] == texts[length - 1 :][:number])


def _cut_into_words(text: str) -> Iterator[list[str]]:
    """Yield the words of a text, of a long one in parts that overlap by less than an n-gram."""
    start, overlap = 0, list[str]()
    while start < len(text):
        space = _SPACE.search(text, start + _PIECE)
        end = space.start() if space else len(text)
        words = [*overlap, *lower_case_words(text[start:end])]
        yield words
        start, overlap = end, words[-max(LENGTHS) + 1 :]

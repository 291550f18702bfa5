"""Distractors: replacements of sentences by their best match that is dissimilar enough (cai2020 §3).

As published, the match is the best among all sentences of the corpus. Then short and general sentences replace many
others, and a detector can learn which these are without reading their context. So by default the removed sentences are
permuted among each other: each replaces exactly one, and by itself reveals nothing.

The permutation is built in rounds. Each sentence without a replacement requests its best match that is still unused;
if several sentences request the same match, it goes to those with the highest scores.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import bm25s
import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.examples import NONE
from macroscope.critics.narratives import Integers
from macroscope.natural_language.words import lower_case_words
from macroscope.progress import Progress

if TYPE_CHECKING:
    from macroscope.critics.text_encoder import TextEncoder


MANY = 20_000
"""Number of sentences above which compiling the search pays off."""
QUERIES_AT_ONCE = 5_000


@dataclass(frozen=True)
class Matches:
    """The best matches of sentences, the best first.

    Attributes
    ----------
    numbers
        Numbers of the matches in the pool (queries x matches).
    scores
        BM25 scores, with k1 = 1.5 and b = .75 (queries x matches); 0 if a match has no word in common with the query.
    """

    numbers: Integers
    scores: npt.NDArray[np.float32]


class MatchIndex:
    """BM25 index of a pool of sentences, at least one."""

    def __init__(self, pool: Sequence[str]) -> None:
        self.size, self.is_large = len(pool), len(pool) > MANY
        self._index = bm25s.BM25(k1=1.5, b=0.75, backend="numba" if self.is_large else "numpy")
        self._index.index(_words(pool), show_progress=False)

    def find(self, queries: Sequence[str], most: int, threads: int = 1) -> Matches:
        """Find the sentences of the pool that match each query best; see `find_best_matches`."""
        most = min(most, self.size)
        shape = len(queries), most
        matches = Matches(np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32))
        with Progress("search for matches", len(queries), "sentences") as progress:
            for start in range(0, len(queries), QUERIES_AT_ONCE):
                batch = _words(queries[start : start + QUERIES_AT_ONCE])
                options = {"n_threads": threads, "backend_selection": "numba"} if self.is_large else {}
                numbers, scores = self._index.retrieve(batch, k=most, show_progress=False, **options)
                order = np.lexsort((numbers, -scores))
                rows = slice(start, start + len(batch))
                matches.numbers[rows] = np.take_along_axis(numbers, order, axis=1)
                matches.scores[rows] = np.take_along_axis(scores, order, axis=1)
                progress.advance(len(batch))
        return matches


def find_best_matches(pool: Sequence[str], queries: Sequence[str], most: int, threads: int = 1) -> Matches:
    """Find the sentences of a pool that match each query best.

    Parameters
    ----------
    most
        Number of matches per query; the pool's size if that is smaller.
    threads
        Number of threads for a large pool; results do not depend on it.

    Returns
    -------
    Matches
        Matches of each query; those with equal scores in the order of their numbers.
    """
    if not (pool and queries):
        most = min(most, len(pool))
        return Matches(np.empty((len(queries), most), dtype=np.int64), np.empty((len(queries), most), dtype=np.float32))
    return MatchIndex(pool).find(queries, most, threads)


def _words(sentences: Sequence[str]) -> list[list[str]]:
    """Return the words of each sentence; a sentence without words becomes one word, since bm25s rejects empty ones."""
    return [lower_case_words(sentence) or [sentence] for sentence in sentences]


Similarity = Callable[[Sequence[str], Sequence[str]], npt.NDArray[np.float64]]
_TRIES = 1000


@dataclass(frozen=True)
class Pool:
    """Candidates to replace sentences.

    Attributes
    ----------
    texts
        Unique texts of the sentences.
    carriers
        Numbers of the sentences with each text.
    owners
        Number of the family of narratives of every sentence, by the sentence's number.
    """

    texts: list[str]
    carriers: list[list[int]]
    owners: Integers

    @classmethod
    def of(cls, sentences: Sequence[str], numbers: Sequence[int], owners: Integers) -> "Pool":
        """Group sentences by their texts; a number may be repeated in `numbers`."""
        carriers: dict[str, list[int]] = {}
        for number in numbers:
            carriers.setdefault(sentences[number], []).append(int(number))
        return cls(list(carriers), list(carriers.values()), owners)


@dataclass
class Replacements:
    """The replacements of sentences, and counts of the matches passed over.

    Attributes
    ----------
    numbers
        Number of the sentence that replaces each; `NONE`: no replacement.
    same
        Number of matches passed over because they have the same text, or are of the same family of narratives.
    similar
        Number of matches passed over because their similarity was not below the limit.
    unmatched
        Number of sentences for which no match was left, replaced by the next rule.
    """

    numbers: Integers
    same: int = 0
    similar: int = 0
    unmatched: int = 0


def find_replacements(
    texts: Sequence[str],
    owners: Integers,
    pool: Pool,
    matches: Matches,
    similarity: Similarity | None,
    limit: float,
    once: bool,
    seed: int,
) -> Replacements:
    """Find a replacement for each sentence.

    Parameters
    ----------
    texts, owners
        Texts of the sentences, and number of the family of narratives of each.
    matches
        Matches of the sentences among the pool's texts.
    similarity, limit
        A match is dissimilar enough if its similarity is below the limit; None: every match is.
    once
        Whether each sentence of the pool replaces at most one (unmatched sentences then get the remaining ones, at
        random); if not, an unmatched sentence gets the least similar of its matches.
    """
    search = _Search(texts, owners, pool, matches, once)
    lowest = np.full(len(texts), np.inf)
    least = np.full(len(texts), NONE, dtype=np.int64)
    while len(queries := search.next_queries()):
        requested = search.requested(queries)
        values = np.full(len(queries), -np.inf)
        if similarity is not None:
            values = similarity([texts[q] for q in queries], [pool.texts[t] for t in requested])
        better = values < lowest[queries]
        lowest[queries[better]], least[queries[better]] = values[better], requested[better]
        for query, text, value in zip(queries, requested, values, strict=True):
            if value < limit:
                search.assign(int(query), int(text))
            else:
                search.replacements.similar += 1
                search.rank[query] += 1
    search.replacements.unmatched = int((search.replacements.numbers == NONE).sum())
    if once:
        search.assign_rest(np.random.default_rng(seed))
    else:
        for query in np.flatnonzero((search.replacements.numbers == NONE) & (least != NONE)):
            search.assign(int(query), int(least[query]))
    return search.replacements


class _Search:
    """State of the rounds: the match that each sentence requests next, and the unused sentences of the pool."""

    def __init__(self, texts: Sequence[str], owners: Integers, pool: Pool, matches: Matches, once: bool) -> None:
        self.owners, self.pool, self.matches, self.once = owners, pool, matches, once
        text_index = {text: number for number, text in enumerate(pool.texts)}
        self.text_of_query = np.array([text_index.get(text, NONE) for text in texts], dtype=np.int64)
        self.carriers = [list(numbers) for numbers in pool.carriers]
        self.text_of = {carrier: text for text, numbers in enumerate(pool.carriers) for carrier in numbers}
        self.sole_owner = np.array([self._sole_owner(text) for text in range(len(self.carriers))], dtype=np.int64)
        self.remaining = np.array([len(numbers) for numbers in pool.carriers], dtype=np.int64)
        self.rank = np.zeros(len(texts), dtype=np.int64)
        self.replacements = Replacements(np.full(len(texts), NONE, dtype=np.int64))

    def next_queries(self) -> Integers:
        """Return the sentences whose requests are granted in this round: per match, those with the highest scores."""
        waiting = self._settle(np.flatnonzero(self.replacements.numbers == NONE))
        if not self.once:
            return waiting
        requested, scores = self.requested(waiting), self.matches.scores[waiting, self.rank[waiting]]
        order = np.lexsort((waiting, -scores, requested))
        _, first, counts = np.unique(requested[order], return_index=True, return_counts=True)
        rank = np.arange(len(order)) - np.repeat(first, counts)
        return np.sort(waiting[order[rank < self.remaining[requested[order]]]])

    def requested(self, queries: Integers) -> Integers:
        return self.matches.numbers[queries, self.rank[queries]]

    def assign(self, query: int, text: int) -> None:
        """Assign a sentence with this text, of another family; if none is left, the query requests again."""
        owner = self.owners[query]
        carrier = next((c for c in self.carriers[text] if self.pool.owners[c] != owner), None)
        if carrier is None:
            return
        if self.once:
            self.carriers[text].remove(carrier)
            self.remaining[text] -= 1
            self.sole_owner[text] = self._sole_owner(text)
        self.replacements.numbers[query] = carrier

    def assign_rest(self, rng: np.random.Generator) -> None:
        """Assign the unused sentences at random to those without a replacement; swap those that clash."""
        assigned = self.replacements.numbers
        waiting = np.flatnonzero(assigned == NONE)
        rest = np.array([carrier for carriers in self.carriers for carrier in carriers], dtype=np.int64)
        assigned[waiting] = rng.permutation(rest)[: len(waiting)]
        for query in waiting:
            if not self._clash(query, assigned[query]):
                continue
            for swap in rng.choice(len(assigned), min(_TRIES, len(assigned)), replace=False):
                if not (self._clash(query, assigned[swap]) or self._clash(swap, assigned[query])):
                    assigned[[query, swap]] = assigned[[swap, query]]
                    break
        for query in waiting:
            if self._clash(query, assigned[query]):
                assigned[query] = NONE

    def _clash(self, query: Any, carrier: Any) -> bool:
        """Return whether a sentence has the query's text, or is of its family."""
        same = self.text_of[int(carrier)] == self.text_of_query[query]
        return bool(same or self.pool.owners[carrier] == self.owners[query])

    def _sole_owner(self, text: int) -> int:
        """Return the family of all unused sentences with a text; `NONE` if there are several families."""
        owners = (int(self.pool.owners[carrier]) for carrier in self.carriers[text])
        first = next(owners, NONE)
        return first if all(owner == first for owner in owners) else NONE  # stops at the first other family

    def _settle(self, queries: Integers) -> Integers:
        """Move on from matches that are unusable or used up; drop the queries without further matches."""
        width = self.matches.numbers.shape[1]
        moving = queries
        while len(moving := moving[self.rank[moving] < width]):
            requested = self.requested(moving)
            same = (requested == self.text_of_query[moving]) | (self.sole_owner[requested] == self.owners[moving])
            self.replacements.same += int(same.sum())
            is_passed = same | (self.remaining[requested] == 0)
            moving = moving[is_passed]
            self.rank[moving] += 1
        return queries[self.rank[queries] < width]


# ---- similarity ------------------------------------------------------------------------------------------------------
# Semantic similarity of two sentences: BERTScore (Zhang et al. 2020).
#
# The vectors of tokens are computed here, each sentence's once; they are matched by the library bert-score, which would
# compute them anew for every round of pairs.
#
# The raw BERTScore F1 of any two English sentences is near .8, so a limit of .7 would accept hardly any match. Hence it
# is rescaled as its authors do, (F1 - b) / (1 - b), with b the mean over random pairs; here the pairs are of the
# corpus's sentences, whatever the encoder.

RANDOM_PAIRS, RANDOM_SENTENCES = 1000, 250
"""Number of the pairs that the baseline is the mean of, and of the sentences that they are sampled from."""
_PAIRS_AT_ONCE = 64
_MOST_SENTENCES = 10_000
"""Number of sentences whose vectors are kept in memory: half a gigabyte of those of minilm."""

_TokenVectors = tuple[Any, Any]
"""Vectors of a sentence's tokens (tokens x width), and their weights: 0 for those that begin and end it."""


class BertScore:
    """BERTScore F1 of pairs of sentences.

    Parameters
    ----------
    encoder
        Name of the encoder as in the config.
    sentences
        Sentences of the corpus, whose random pairs give the baseline.
    rescale
        Whether to rescale F1 so that random pairs have 0 on average.
    layer
        Number of the layer whose vectors are compared, from 1; None: the last.

    Raises
    ------
    MacroscopeError
        If the encoder has no such layer; when the first pair is compared.
    """

    def __init__(
        self, encoder: str, sentences: Sequence[str], rescale: bool, seed: int, layer: int | None = None
    ) -> None:
        self.encoder, self.rescale, self.layer = encoder, rescale, layer
        rng = np.random.default_rng([seed, len(sentences)])
        numbers = rng.choice(len(sentences), min(RANDOM_SENTENCES, len(sentences)), replace=False)
        self._random = [[sentences[i] for i in rng.choice(numbers, RANDOM_PAIRS)] for _ in range(2)]
        self._kept: dict[str, _TokenVectors] = {}

    @cached_property
    def baseline(self) -> float:
        """Return the mean raw F1 of random pairs; 0 without rescaling."""
        return float(self._raw(*self._random).mean()) if self.rescale else 0.0

    def __call__(self, first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the F1 of each pair, at most 1."""
        if not first:
            return np.empty(0)
        return (self._raw(first, second) - self.baseline) / (1 - self.baseline)

    def _raw(self, first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.float64]:
        scores = []
        for start in range(0, len(first), _MOST_SENTENCES // 2):
            part = slice(start, start + _MOST_SENTENCES // 2)
            self._keep([*first[part], *second[part]])
            scores += [self._match(*pairs) for pairs in _batches(first[part], second[part])]
        return np.concatenate(scores).astype(np.float64)

    def _keep(self, sentences: Sequence[str]) -> None:
        """Embed the sentences that are not kept; forget the others if there are too many."""
        if len(self._kept) + len(sentences) > _MOST_SENTENCES:
            self._kept.clear()
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._kept]
        if not new:
            return
        tokenizer = self._encoder.tokenizer
        ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)
        for sentence, (ids, vectors) in zip(new, self._encoder.embed_tokens(new), strict=True):
            self._kept[sentence] = vectors, vectors.new_tensor([token not in ends for token in ids])

    def _match(self, first: Sequence[str], second: Sequence[str]) -> npt.NDArray[np.float32]:
        from bert_score.utils import greedy_cos_idf

        f1: npt.NDArray[np.float32] = greedy_cos_idf(*self._padded(first), *self._padded(second))[2].numpy()
        return f1

    def _padded(self, sentences: Sequence[str]) -> tuple[Any, Any, Any]:
        """Return vectors (sentences x tokens x width), whether each is of a token, and weights."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        vectors, weights = zip(*(self._kept[sentence] for sentence in sentences), strict=True)
        mask = pad_sequence([torch.ones(len(each), dtype=torch.bool) for each in weights], batch_first=True)
        padded = pad_sequence(list(vectors), batch_first=True, padding_value=1.0)  # a length to divide by
        return padded, mask, pad_sequence(list(weights), batch_first=True)

    @cached_property
    def _encoder(self) -> "TextEncoder":
        from macroscope.critics.text_encoder import TextEncoder

        encoder = TextEncoder(self.encoder, "mean")
        if self.layer is not None:
            encoder.keep_layers(self.layer)
        return encoder


def _batches(first: Sequence[str], second: Sequence[str]) -> list[tuple[Sequence[str], Sequence[str]]]:
    starts = range(0, len(first), _PAIRS_AT_ONCE)
    return [(first[start : start + _PAIRS_AT_ONCE], second[start : start + _PAIRS_AT_ONCE]) for start in starts]

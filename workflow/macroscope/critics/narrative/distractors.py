"""What takes the place of a sentence: its best match that is unlike enough (cai2020 §3).

Published: the best match among all sentences of the corpus. Then some sentences replace many others, the short and
general ones, and a detector can learn which these are without reading what is around them. So by default the sentences
that are taken out are exchanged with each other: each replaces one, and by itself says nothing.

The exchange goes in rounds. Every sentence without a replacement asks for the best of its matches that is left; of
several that ask for the same one, those that it matches best get it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from macroscope.critics.narrative.examples import NONE
from macroscope.critics.narrative.narratives import Integers
from macroscope.critics.narrative.retrieval import Matches

Similarity = Callable[[Sequence[str], Sequence[str]], npt.NDArray[np.float64]]
_TRIES = 1000


@dataclass(frozen=True)
class Pool:
    """Sentences that may replace others.

    Attributes
    ----------
    texts
        The different ones.
    carriers
        Numbers of the sentences that have each text.
    owners
        Number of the family of narratives of every sentence, by the sentence's number.
    """

    texts: list[str]
    carriers: list[list[int]]
    owners: Integers

    @classmethod
    def of(cls, sentences: Sequence[str], numbers: Sequence[int], owners: Integers) -> "Pool":
        """Group sentences, given by their numbers (one may stand there several times), by their texts."""
        carriers: dict[str, list[int]] = {}
        for number in numbers:
            carriers.setdefault(sentences[number], []).append(int(number))
        return cls(list(carriers), list(carriers.values()), owners)


@dataclass
class Replaced:
    """The replacements of some sentences, and how they were found.

    Attributes
    ----------
    numbers
        Of the sentence that replaces each; `NONE`: nothing does.
    same
        Matches passed over since they say the same, or are of the same family of narratives.
    alike
        Matches passed over since their similarity was not below the limit.
    without
        Sentences for which no match was left, replaced by the next rule.
    """

    numbers: Integers
    same: int = 0
    alike: int = 0
    without: int = 0


def replaced(
    texts: Sequence[str],
    owners: Integers,
    pool: Pool,
    matches: Matches,
    similarity: Similarity | None,
    limit: float,
    once: bool,
    seed: int,
) -> Replaced:
    """Find a replacement for each of some sentences.

    Parameters
    ----------
    texts, owners
        Of the sentences, and of each the number of its family of narratives.
    matches
        Of the sentences in the pool's texts.
    similarity, limit
        A match is unlike enough where this is below the limit; None: any is.
    once
        Whether every sentence of the pool replaces one at most (those that are left go to who has none, at random);
        if not, who has none gets the least similar of its matches.
    """
    search = _Search(texts, owners, pool, matches, once)
    lowest = np.full(len(texts), np.inf)
    least = np.full(len(texts), NONE, dtype=np.int64)
    while len(asking := search.asking()):
        wanted = search.wanted(asking)
        values = np.full(len(asking), -np.inf)
        if similarity is not None:
            values = similarity([texts[q] for q in asking], [pool.texts[t] for t in wanted])
        better = values < lowest[asking]
        lowest[asking[better]], least[asking[better]] = values[better], wanted[better]
        for query, text, value in zip(asking, wanted, values, strict=True):
            if value < limit:
                search.take(int(query), int(text))
            else:
                search.found.alike += 1
                search.place[query] += 1
    search.found.without = int((search.found.numbers == NONE).sum())
    if once:
        search.exchange_rest(np.random.default_rng(seed))
    else:
        for query in np.flatnonzero((search.found.numbers == NONE) & (least != NONE)):
            search.take(int(query), int(least[query]))
    return search.found


class _Search:
    """The state of the rounds: who asks for which of its matches, and what is left."""

    def __init__(self, texts: Sequence[str], owners: Integers, pool: Pool, matches: Matches, once: bool) -> None:
        self.owners, self.pool, self.matches, self.once = owners, pool, matches, once
        index = {text: number for number, text in enumerate(pool.texts)}
        self.own = np.array([index.get(text, NONE) for text in texts], dtype=np.int64)
        self.carriers = [list(some) for some in pool.carriers]
        self.text_of = {carrier: text for text, some in enumerate(pool.carriers) for carrier in some}
        self.sole = np.array([self._sole_owner(text) for text in range(len(self.carriers))], dtype=np.int64)
        self.left = np.array([len(some) for some in pool.carriers], dtype=np.int64)
        self.place = np.zeros(len(texts), dtype=np.int64)
        self.found = Replaced(np.full(len(texts), NONE, dtype=np.int64))

    def asking(self) -> Integers:
        """Sentences that ask for a match in this round; where several ask for one, the best ones."""
        waiting = self._settle(np.flatnonzero(self.found.numbers == NONE))
        if not self.once:
            return waiting
        wanted, scores = self.wanted(waiting), self.matches.scores[waiting, self.place[waiting]]
        order = np.lexsort((waiting, -scores, wanted))
        _, first, counts = np.unique(wanted[order], return_index=True, return_counts=True)
        rank = np.arange(len(order)) - np.repeat(first, counts)
        return np.sort(waiting[order[rank < self.left[wanted[order]]]])

    def wanted(self, queries: Integers) -> Integers:
        """Text of the pool that each asks for."""
        return self.matches.numbers[queries, self.place[queries]]

    def take(self, query: int, text: int) -> None:
        """Give a sentence of this text, of another family, to who asks for it; who comes too late asks again."""
        owner = self.owners[query]
        carrier = next((c for c in self.carriers[text] if self.pool.owners[c] != owner), None)
        if carrier is None:
            return
        if self.once:
            self.carriers[text].remove(carrier)
            self.left[text] -= 1
            self.sole[text] = self._sole_owner(text)
        self.found.numbers[query] = carrier

    def exchange_rest(self, rng: np.random.Generator) -> None:
        """Give what is left to those that have none, at random; who cannot take it changes with anyone who can."""
        numbers = self.found.numbers
        waiting = np.flatnonzero(numbers == NONE)
        rest = np.array([carrier for some in self.carriers for carrier in some], dtype=np.int64)
        numbers[waiting] = rng.permutation(rest)[: len(waiting)]
        for query in waiting:
            if not self._clash(query, numbers[query]):
                continue
            for other in rng.choice(len(numbers), min(_TRIES, len(numbers)), replace=False):
                if not (self._clash(query, numbers[other]) or self._clash(other, numbers[query])):
                    numbers[[query, other]] = numbers[[other, query]]
                    break
        for query in waiting:
            if self._clash(query, numbers[query]):
                numbers[query] = NONE

    def _clash(self, query: Any, carrier: Any) -> bool:
        """Whether a sentence says what this one says, or is of its family."""
        same = self.text_of[int(carrier)] == self.own[query]
        return bool(same or self.pool.owners[carrier] == self.owners[query])

    def _sole_owner(self, text: int) -> int:
        """Family that all sentences of a text are of that are left; `NONE` where these are several."""
        owners = (int(self.pool.owners[carrier]) for carrier in self.carriers[text])
        first = next(owners, NONE)
        return first if all(owner == first for owner in owners) else NONE  # ends at the first other one

    def _settle(self, queries: Integers) -> Integers:
        """Move on from matches that say the same or are gone; those whose matches are used up drop out."""
        width = self.matches.numbers.shape[1]
        moving = queries
        while len(moving := moving[self.place[moving] < width]):
            wanted = self.wanted(moving)
            same = (wanted == self.own[moving]) | (self.sole[wanted] == self.owners[moving])
            self.found.same += int(same.sum())
            past = same | (self.left[wanted] == 0)
            moving = moving[past]
            self.place[moving] += 1
        return queries[self.place[queries] < width]

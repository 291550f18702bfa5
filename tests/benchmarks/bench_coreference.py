"""Coreference: the embedded resolver's words/s and growth with length; the model of chains against dictionaries.

The reference is the released code's way: every window relabelled symbol by symbol, counts in dictionaries of tuples, a
recursion a symbol. It runs on a part of the chains, and its time is taken in proportion.
"""

import lzma
import os
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from _report import peak_megabytes, say, seconds

from macroscope.corpora.simulated.people import people_process, simulate_stories
from macroscope.critics.coreference.latents import build_vocabulary
from macroscope.critics.coreference.prior import ChainModel
from macroscope.critics.coreference.rules.lexicon import tokenize
from macroscope.critics.coreference.rules.pronouns import choose_by_sieve, load_ranker
from macroscope.critics.coreference.rules.resolve import resolve_text
from macroscope.critics.coreference.scoring import build_true_chain
from macroscope.critics.coreference.windows import Chains, Packing
from macroscope.files import REPOSITORY

ORDER, SYMBOLS, OF_REFERENCE = 5, 10_000_000, 200_000
REAL_TEXT = Path(os.environ.get("MACROSCOPE_REAL_TEXT", REPOSITORY.parent / "shared" / "data"))
ARCHIVE = REAL_TEXT / "enwiki_extracted_text" / "wikitasks_docs_min60words.txt.xz"


def chains_of(symbols: int) -> tuple[Chains, Packing]:
    """Chains of simulated stories with seven further surfaces that come by chance, so that many n-grams are rare."""
    stories = [build_true_chain(story, "all") for story in simulate_stories(people_process(), "process", 3000, 1)]
    surfaces = build_vocabulary(Counter(s for chain in stories for s in chain.surfaces), 100)
    index = {surface: number for number, surface in enumerate(surfaces)}
    kinds = np.array([index[s] for chain in stories for s in chain.surfaces], np.int32)
    entities = np.array([e for chain in stories for e in chain.entities], np.int32)
    lengths = np.array([len(chain.surfaces) for chain in stories])
    times = -(-symbols // len(kinds))
    rng = np.random.default_rng(1)
    kinds, entities = np.tile(kinds, times), np.tile(entities, times)
    mistaken = (rng.random(len(kinds)) < 0.05) & (entities >= 0)
    kinds[mistaken] = len(surfaces) + rng.integers(0, 7, int(mistaken.sum()))
    return Chains(kinds, entities, np.tile(lengths, times)), Packing(ORDER, len(surfaces) + 7)


def first(chains: Chains, symbols: int) -> Chains:
    """The first chains, of about so many symbols."""
    number = int(np.searchsorted(np.cumsum(chains.lengths), symbols)) + 1
    end = int(chains.lengths[:number].sum())
    return Chains(chains.surfaces[:end], chains.entities[:end], chains.lengths[:number])


class Dictionaries:
    """Absolute discounting over relabelled windows, in dictionaries of tuples."""

    def __init__(self, chains: Chains) -> None:
        self.counts: dict[int, Counter] = {n: Counter() for n in range(1, ORDER + 1)}
        self.following: dict[int, defaultdict] = {n: defaultdict(set) for n in range(1, ORDER + 1)}
        self.history: dict[int, Counter] = {n: Counter() for n in range(1, ORDER + 1)}
        for window in self.windows(chains):
            for n in range(1, ORDER + 1):
                ngram = window[-n:]
                self.counts[n][ngram] += 1
                self.history[n][ngram[:-1]] += 1
                self.following[n][ngram[:-1]].add(ngram[-1])
        self.discounts = {n: self._discount(counts) if n > 1 else 0.0 for n, counts in self.counts.items()}

    @staticmethod
    def windows(chains: Chains):
        surfaces, entities, start = chains.surfaces.tolist(), chains.entities.tolist(), 0
        for length in chains.lengths.tolist():
            padded = [(1, -1)] * (ORDER - 1) + list(
                zip(surfaces[start : start + length], entities[start : start + length], strict=True)
            )
            start += length
            for end in range(length):
                numbers: dict[int, int] = {}
                yield tuple(
                    (s, 0 if e < 0 else numbers.setdefault(e, len(numbers))) for s, e in padded[end : end + ORDER]
                )

    @staticmethod
    def _discount(counts: Counter) -> float:
        once, twice = (sum(count == n for count in counts.values()) for n in (1, 2))
        return once / (once + 2 * twice) if once else 0.0

    def probability(self, window: tuple, n: int = ORDER) -> float:
        ngram = window[-n:]
        if n == 1:
            count = self.counts[1].get(ngram, 0)
            return count / self.history[1][()] if count else 1e-20
        total = self.history[n].get(ngram[:-1], 0)
        shorter = self.probability(window, n - 1)
        if not total:
            return shorter
        discount, types = self.discounts[n], len(self.following[n][ngram[:-1]])
        return max(self.counts[n].get(ngram, 0) - discount, 0) / total + discount * types / total * shorter

    def score(self, chains: Chains) -> float:
        return float(sum(np.log(self.probability(window)) for window in self.windows(chains)))


def fit_and_score() -> None:
    """Fit and score all symbols."""
    chains, packing = chains_of(SYMBOLS)
    ChainModel.fit(chains, packing).log_probabilities(chains)


def bench_model() -> None:
    """Fit and score all symbols; the reference only scores a part of them."""
    chains, packing = chains_of(SYMBOLS)
    part = first(chains, OF_REFERENCE)
    ChainModel.fit(part, packing)  # compiles
    mine: dict[str, float] = {}

    def ours() -> None:
        model = ChainModel.fit(chains, packing, published=True)
        model.log_probabilities(chains)

    def theirs() -> None:
        mine["reference"] = Dictionaries(part).score(part)

    took, reference = seconds(ours), seconds(theirs) * len(chains.surfaces) / len(part.surfaces)
    log_probability = float(ChainModel.fit(part, packing, published=True).log_probabilities(part).sum())
    assert np.isclose(log_probability, mine["reference"], rtol=1e-9), "the two give different numbers"
    number = len(chains.surfaces) / 1e6
    say(f"fit and score, {number:.0f} M symbols", f"{took:.1f} s", f"{reference:.0f} s", reference / took, ">= 20")
    used = peak_megabytes(fit_and_score)
    say("memory of fit and score", f"{used:.0f} MB", "2000 MB", 2000 / used, ">= 1")


def bench_resolver() -> None:
    """Words/s on one core, and of one long text against many short ones."""
    if ARCHIVE.exists():
        with lzma.open(ARCHIVE, "rt", encoding="utf-8") as stream:
            texts = [article.partition(">")[2] for article in stream.read().split("</doc>")[:2000]]
    else:
        texts = [story.text for story in simulate_stories(people_process(), "process", 4000, 1)]
    words = sum(len(tokenize(text).words) for text in texts)
    long = "\n".join(texts)
    for name, choose in (("sieve", choose_by_sieve), ("learnt", load_ranker())):
        rate = words / seconds(lambda choose=choose: [resolve_text("", text, choose) for text in texts], 2)
        at_once = words / seconds(lambda choose=choose: resolve_text("", long, choose), 2)
        say(f"rules ({name}), words/s", f"{rate:,.0f}", "20,000", rate / 20_000, ">= 1")
        label = f"rules ({name}), one of {words:,} words"
        say(label, f"{at_once:,.0f}", f"{rate:,.0f}", at_once / rate, ">= 0.5")


if __name__ == "__main__":
    bench_resolver()
    bench_model()

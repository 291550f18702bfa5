"""How good written sentences are, against the true ones and by their variety (cai2020 Table 4; Galley et al. 2019).

NIST, BLEU and METEOR are NLTK's, over the corpus and without smoothing. METEOR's stage of synonyms needs WordNet, which
has to be there already; without it only equal words and equal stems match, and the metric is called so.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import regex

from macroscope.statistics.bootstrap import percentile_interval
from macroscope.statistics.latent import Resampling

GENERATION, GENERATED = "generation.csv", "generated.csv"
METRICS_SHOWN = {
    "nist_2": ("NIST-2", 1.0),
    "nist_4": ("NIST-4", 1.0),
    "bleu_2": ("BLEU-2, %", 100.0),
    "bleu_4": ("BLEU-4, %", 100.0),
    "meteor": ("METEOR, %", 100.0),
    "meteor_without_synonyms": ("METEOR without synonyms, %", 100.0),
    "entropy_4": ("entropy of 4-grams, nats", 1.0),
    "dist_1": ("Dist-1, %", 100.0),
    "dist_2": ("Dist-2, %", 100.0),
    "length": ("words", 1.0),
}
_TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}'’]*|\d+|[^\s\p{L}\d]")
_MOST_RESAMPLES = 200

Words = list[str]


@dataclass(frozen=True)
class _NoSynonyms:
    """Stands for WordNet where it is not there."""

    def synsets(self, word: str) -> list[Any]:
        return []


def words_of(sentence: str) -> Words:
    """Words, numbers and marks in lower case."""
    return _TOKEN.findall(sentence.lower())


def overlap(written: Sequence[Words], true: Sequence[Words]) -> dict[str, float]:
    """n-grams in common with the true sentences: NIST and BLEU of the corpus, the larger the better."""
    from nltk.translate.bleu_score import corpus_bleu
    from nltk.translate.nist_score import corpus_nist

    references = [[some] for some in true]
    found = {}
    for n in (2, 4):
        # Texts without any n-gram of that length have nothing to count.
        counted = any(len(some) >= n for some in written)
        found[f"nist_{n}"] = float(corpus_nist(references, written, n=n)) if counted else 0.0
    for n in (2, 4):
        found[f"bleu_{n}"] = (
            float(corpus_bleu(references, written, weights=(1 / n,) * n)) if _share(written, true, n) else 0.0
        )
    return found


def meteor(written: Sequence[Words], true: Sequence[Words]) -> tuple[str, np.ndarray]:
    """Name of the metric, with synonyms or without, and its value for each sentence."""
    from nltk.translate.meteor_score import single_meteor_score

    wordnet, name = _wordnet()
    pairs = zip(true, written, strict=True)
    return name, np.array([single_meteor_score(theirs, ours, wordnet=wordnet) for theirs, ours in pairs])


def diversity(written: Sequence[Words]) -> dict[str, float]:
    """How varied sentences are: entropy of their 4-grams (nats), distinct words and pairs over all, mean length."""
    counts = {n: Counter(chain.from_iterable(_ngrams(some, n) for some in written)) for n in (1, 2, 4)}
    shares = np.array(list(counts[4].values()), dtype=float) / max(1, counts[4].total())
    distinct = {f"dist_{n}": len(counts[n]) / counts[n].total() if counts[n] else float("nan") for n in (1, 2)}
    length = float(np.mean([len(some) for some in written])) if written else float("nan")
    return {"entropy_4": float(-(shares * np.log(shares)).sum()), **distinct, "length": length}


def generation_metrics(
    written: Sequence[str], true: Sequence[str], stories: npt.ArrayLike, resampling: Resampling
) -> pd.DataFrame:
    """Every metric of written sentences, and those that need no reference of the true ones.

    Parameters
    ----------
    stories
        Number of the story of each sentence.

    Returns
    -------
    data frame
        of ("generated" or "true"), metric, value, ci_low, ci_high: percentile intervals over stories, of at most 200
        resamples; NIST and the metrics of diversity have none, since a resample repeats sentences.
    """
    ours, theirs = ([words_of(sentence) for sentence in some] for some in (written, true))
    name, meteors = meteor(ours, theirs)

    def all_of(chosen: npt.NDArray[np.int64]) -> dict[str, float]:
        found = overlap([ours[i] for i in chosen], [theirs[i] for i in chosen])
        return found | {name: float(meteors[chosen].mean())}

    values = all_of(np.arange(len(ours)))
    rng = np.random.default_rng(resampling.seed)
    members = [np.flatnonzero(np.asarray(stories) == story) for story in np.unique(np.asarray(stories))]
    draws = rng.integers(len(members), size=(min(resampling.resamples, _MOST_RESAMPLES), len(members)))
    drawn = pd.DataFrame([all_of(np.concatenate([members[story] for story in draw])) for draw in draws])
    # NIST weighs n-grams by how rare they are in the true sentences: a resample repeats some, and none is as rare.
    drawn[[metric for metric in drawn if str(metric).startswith("nist")]] = np.nan
    rows = [
        ("generated", metric, value, *percentile_interval(drawn[metric], resampling.confidence))
        for metric, value in values.items()
    ]
    for of, some in (("generated", ours), ("true", theirs)):
        rows += [(of, metric, value, np.nan, np.nan) for metric, value in diversity(some).items()]
    return pd.DataFrame(rows, columns=["of", "metric", "value", "ci_low", "ci_high"])


def _share(written: Sequence[Words], true: Sequence[Words], n: int) -> bool:
    """Whether any n-gram is in a written sentence and its true one: else BLEU is 0, and NLTK warns."""
    return any(set(_ngrams(ours, n)) & set(_ngrams(theirs, n)) for ours, theirs in zip(written, true, strict=True))


def _ngrams(words: Words, n: int) -> Sequence[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def _wordnet() -> tuple[Any, str]:
    from nltk.corpus import wordnet

    try:
        wordnet.synsets("sentence")
    except LookupError:
        return _NoSynonyms(), "meteor_without_synonyms"
    return wordnet, "meteor"

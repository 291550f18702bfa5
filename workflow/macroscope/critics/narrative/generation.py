"""Quality of generated sentences: overlap with the true ones, and diversity (cai2020 Table 4; Galley et al. 2019).

BLEU is sacreBLEU's (lower case, tokens 13a), NIST and METEOR are NLTK's; all are over the corpus and without smoothing.
METEOR's synonym stage needs WordNet, which is downloaded with `synonyms: wordnet`; without it only equal words and
equal stems match, and the metric has another name.
"""

import warnings
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import regex

from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.bootstrap import percentile_interval

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
ORDERS = (2, 4)
"""Largest n of the n-grams of NIST and of BLEU."""

Words = list[str]


@dataclass(frozen=True)
class _NoSynonyms:
    """Replacement for WordNet: no word has a synonym."""

    def synsets(self, word: str) -> list[Any]:
        return []


def read_wordnet(archive: Path) -> Any:
    """Read WordNet from the zip of NLTK's data."""
    from nltk import data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class EnglishWordNet(WordNetCorpusReader):
        """Reader without a map to an installed WordNet, which only other languages need."""

        def map_wn(self, version: str = "wordnet") -> None:
            return None

    data.path.append(str(archive.parent.resolve()))  # NLTK opens no file elsewhere
    try:
        with warnings.catch_warnings():
            # The reader warns that other languages are missing.
            warnings.simplefilter("ignore", UserWarning)
            return EnglishWordNet(data.ZipFilePathPointer(str(archive.resolve()), "wordnet/"), None)
    except (OSError, zipfile.BadZipFile) as error:
        raise MacroscopeError(f"{archive}: not the wordnet.zip of NLTK's data ({error}); retrieve it again") from None


def split_words(sentence: str) -> Words:
    """Split a sentence into words, numbers and punctuation marks, in lower case."""
    return _TOKEN.findall(sentence.lower())


def compute_nist(written: Sequence[Words], true: Sequence[Words]) -> dict[str, float]:
    """Compute NIST over the corpus: overlap with the true sentences in n-grams, weighted by their rarity there."""
    from nltk.translate.nist_score import corpus_nist

    references = [[words] for words in true]
    # NLTK fails if no text has an n-gram of this length.
    counted = {n: any(len(words) >= n for words in written) for n in ORDERS}
    return {f"nist_{n}": float(corpus_nist(references, written, n=n)) if counted[n] else 0.0 for n in ORDERS}


def count_ngram_matches(written: Sequence[str], true: Sequence[str]) -> npt.NDArray[np.int64]:
    """Count what BLEU is computed from, which adds up over sentences.

    Returns
    -------
    array sentences x 10
        Right n-grams and all n-grams of each order from 1 to 4; length of the sentence, and of the true one, in tokens.
    """
    from sacrebleu import BLEU

    bleu = BLEU(lowercase=True, smooth_method="none", effective_order=True)
    pairs = zip(written, ([sentence] for sentence in true), strict=True)
    scores = [bleu.sentence_score(*pair) for pair in pairs]
    rows = [[*score.counts, *score.totals, score.sys_len, score.ref_len] for score in scores]
    return np.array(rows, dtype=np.int64).reshape(-1, 10)


def compute_bleu(matches: npt.NDArray[np.int64]) -> dict[str, float]:
    """Compute BLEU, in [0, 1], from the sums of `count_ngram_matches` over sentences."""
    from sacrebleu import BLEU

    right, counted, (length, true_length) = matches[:4].tolist(), matches[4:8].tolist(), matches[8:].tolist()
    scores = {
        n: BLEU.compute_bleu(right[:n], counted[:n], length, true_length, smooth_method="none", max_ngram_order=n)
        for n in ORDERS
    }
    return {f"bleu_{n}": score.score / 100 for n, score in scores.items()}


def compute_meteor(written: Sequence[Words], true: Sequence[Words], wordnet: Any = None) -> tuple[str, np.ndarray]:
    """Compute METEOR: name of the metric, with synonyms or without, and value of each sentence."""
    from nltk.translate.meteor_score import single_meteor_score

    name = "meteor_without_synonyms" if wordnet is None else "meteor"
    synonyms = _NoSynonyms() if wordnet is None else wordnet
    pairs = zip(true, written, strict=True)
    return name, np.array([single_meteor_score(*pair, wordnet=synonyms) for pair in pairs])


def compute_diversity(written: Sequence[Words]) -> dict[str, float]:
    """Compute diversity: entropy of 4-grams (nats), shares of distinct words and bigrams, mean length (words)."""
    counts = {n: Counter(chain.from_iterable(_ngrams(words, n) for words in written)) for n in (1, 2, 4)}
    shares = np.array(list(counts[4].values()), dtype=float) / max(1, counts[4].total())
    distinct = {f"dist_{n}": len(counts[n]) / counts[n].total() if counts[n] else float("nan") for n in (1, 2)}
    length = float(np.mean([len(words) for words in written])) if written else float("nan")
    return {"entropy_4": float(-(shares * np.log(shares)).sum()), **distinct, "length": length}


def compute_generation_metrics(
    written: Sequence[str], true: Sequence[str], stories: npt.ArrayLike, resampling: Resampling, wordnet: Any = None
) -> pd.DataFrame:
    """Compute all metrics of generated sentences, and those that need no reference of the true ones.

    Parameters
    ----------
    stories
        Number of each sentence's story.
    wordnet
        Reader of WordNet, for METEOR's synonyms; None: METEOR without them.

    Returns
    -------
    data frame
        of ("generated" or "true"), metric, value, ci_low, ci_high: percentile intervals over stories, of at most 200
        resamples; NIST and the metrics of diversity have none, since a resample repeats sentences.
    """
    generated_words, true_words = ([split_words(sentence) for sentence in sentences] for sentences in (written, true))
    name, meteors = compute_meteor(generated_words, true_words, wordnet)
    matches = count_ngram_matches(written, true)

    def compute_metrics(indices: npt.NDArray[np.int64]) -> dict[str, float]:
        return compute_bleu(matches[indices].sum(axis=0)) | {name: float(meteors[indices].mean())}

    values = compute_metrics(np.arange(len(generated_words)))
    rng = np.random.default_rng(resampling.seed)
    members = [np.flatnonzero(np.asarray(stories) == story) for story in np.unique(np.asarray(stories))]
    resamples = rng.integers(len(members), size=(min(resampling.resamples, _MOST_RESAMPLES), len(members)))
    resampled = pd.DataFrame(
        [compute_metrics(np.concatenate([members[story] for story in resample])) for resample in resamples]
    )
    # NIST weights n-grams by their rarity among the true sentences, which a resample, repeating sentences, distorts.
    nist = compute_nist(generated_words, true_words)
    rows: list[tuple[str, str, float, float, float]] = [
        ("generated", metric, value, np.nan, np.nan) for metric, value in nist.items()
    ]
    rows += [
        ("generated", metric, value, *percentile_interval(resampled[metric], resampling.confidence))
        for metric, value in values.items()
    ]
    for source, sentences in (("generated", generated_words), ("true", true_words)):
        rows += [(source, metric, value, np.nan, np.nan) for metric, value in compute_diversity(sentences).items()]
    return pd.DataFrame(rows, columns=["of", "metric", "value", "ci_low", "ci_high"])


def _ngrams(words: Words, n: int) -> Sequence[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

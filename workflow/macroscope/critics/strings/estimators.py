"""Distributions over strings, estimated from texts: what stands in for p and q, which nobody knows (§3.2.2)."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from macroscope.critics.strings.options import StringsOptions
from macroscope.errors import MacroscopeError
from macroscope.statistics.bootstrap import Array
from macroscope.systems.ngram.arpa import BackoffModel, backoff_model, numbered, read_arpa, words_of
from macroscope.systems.ngram.counts import count_ngrams
from macroscope.systems.ngram.model import estimate

LMPLZ = "lmplz"
LEAST_LEFT = -3.0
"""log10 of what a context leaves to words that never followed it, where its counts say nothing."""
_SUBSTITUTED = re.compile(r"Substituting fallback discounts for order (\d+)")
_FEWEST_MEGABYTES, _MOST_MEGABYTES, _BYTES_PER_BYTE = 100, 2000, 50


class Distribution(Protocol):
    """An estimated distribution over texts."""

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """Natural logarithm of the probability of each text, with its end."""


class Estimator(Protocol):
    """Estimates the distributions of two sides."""

    name: str

    def fit(self, reference: Sequence[str], candidate: Sequence[str], seed: int) -> tuple[Distribution, Distribution]:
        """Estimate from texts of either side."""


@dataclass(frozen=True)
class NgramDistribution:
    """A Kneser-Ney model over words.

    Attributes
    ----------
    fallback_orders
        Orders whose counts give no discounts, as those of few texts do: they have fixed ones; and orders of which a
        discount is 0, so that some contexts would leave nothing to other words: they leave `LEAST_LEFT`.
    """

    model: BackoffModel
    fallback_orders: tuple[int, ...]

    @classmethod
    def of(cls, model: BackoffModel, fallback_orders: Sequence[int]) -> "NgramDistribution":
        """Give every text a probability above 0."""
        closed = [n for n, some in enumerate(model.backoffs, 2) if np.isneginf(some).any()]
        backoffs = [np.where(np.isneginf(some), LEAST_LEFT, some) for some in model.backoffs]
        return cls(replace(model, backoffs=backoffs), tuple(sorted({*fallback_orders, *closed})))

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """See `Distribution`."""
        return self.model.score([words_of(text) for text in texts])


class NgramEstimator:
    """Kneser-Ney with three discounts an order, through KenLM where it is there.

    Both ways give the same model, up to the digits that an ARPA file has. KenLM's needs less memory: it sorts on disk.

    Parameters
    ----------
    shared
        Whether both sides have one vocabulary: the words of either side's texts. The uniform distribution beneath the
        unigrams is over it, so that a word that one side alone has costs the other as much as any word that it has not
        seen, and a word that neither has is the same unknown word to both. Otherwise each side's is over its own
        words: the fewer words a side has, the likelier it finds those that it does not know.
    """

    def __init__(self, order: int, shared: bool = True) -> None:
        self.order, self.shared = order, shared
        self.lmplz = shutil.which(LMPLZ)
        self.name = f"{order}-gram, " + ("KenLM" if self.lmplz else "own estimator")

    def fit(
        self, reference: Sequence[str], candidate: Sequence[str], seed: int
    ) -> tuple[NgramDistribution, NgramDistribution]:
        """See `Estimator`; nothing is random."""
        first, second = ([words_of(text) for text in side] for side in (reference, candidate))
        size = _different(first, second) if self.shared else 0
        return self._estimate(first, size), self._estimate(second, size)

    def _estimate(self, texts: Sequence[Sequence[str]], size: int) -> NgramDistribution:
        """Estimate from texts of words, over at least so many different words."""
        if self.lmplz:
            return self._through_kenlm(texts, size)
        numbers, words = numbered(texts)  # with the beginning and the end
        trie = count_ngrams(numbers, self.order, max(len(words), size + 2), 0)
        model = estimate(trie, "kneser_ney", unknown=True)
        with np.errstate(divide="ignore"):  # a context may leave nothing
            return NgramDistribution.of(backoff_model(model, words), model.fallback_orders)

    def _through_kenlm(self, texts: Sequence[Sequence[str]], size: int) -> NgramDistribution:
        lines = "".join(" ".join(words) + "\n" for words in texts)
        # Its default, most of the machine's memory, takes seconds to get; what does not fit is sorted on disk.
        megabytes = min(_MOST_MEGABYTES, max(_FEWEST_MEGABYTES, _BYTES_PER_BYTE * len(lines) >> 20))
        with tempfile.TemporaryDirectory() as folder:
            command = [
                str(self.lmplz),
                "-o",
                str(min(self.order, max(map(len, texts)) + 2)),  # longer n-grams there are none
                "--discount_fallback",
                "--vocab_pad",
                str(size + 2),  # the end and the unknown word are predicted as well
                "-T",
                folder,
                "-S",
                f"{megabytes}M",
            ]
            done = subprocess.run(command, input=lines.encode(), capture_output=True, check=False)
            if done.returncode:
                said = done.stderr.decode(errors="replace").strip().splitlines()
                raise MacroscopeError(f"lmplz failed: {said[-1] if said else f'exit status {done.returncode}'}")
            arpa = Path(folder) / "model.arpa"
            arpa.write_bytes(done.stdout)
            # lmplz says on its way which orders had to fall back, and counts them from 0.
            substituted = _SUBSTITUTED.findall(done.stderr.decode(errors="replace"))
            return NgramDistribution.of(read_arpa(arpa), [int(order) + 1 for order in substituted])


def _different(*sides: Sequence[Sequence[str]]) -> int:
    """Number of different words."""
    return len({word for texts in sides for words in texts for word in words})


def estimator(options: StringsOptions, texts: Sequence[str]) -> Estimator:
    """Return the estimator that is asked for.

    Parameters
    ----------
    texts
        Of both sides: what a tokenizer that both share is made from.
    """
    if options.estimator == "ngram":
        return NgramEstimator(options.order, options.shared_vocabulary and options.convention == "definition")
    from macroscope.critics.strings.lstm import LstmEstimator

    return LstmEstimator(options.lstm, texts)

"""Distributions over strings, estimated from texts: what stands in for p and q, which nobody knows (§3.2.2)."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from macroscope.critics.strings.options import StringsOptions
from macroscope.errors import MacroscopeError
from macroscope.statistics.bootstrap import Array
from macroscope.systems.ngram.arpa import BackoffModel, backoff_model, count_words, read_arpa, words_of
from macroscope.systems.ngram.model import estimate

LMPLZ = "lmplz"
_FEWEST_MEGABYTES, _MOST_MEGABYTES, _BYTES_PER_BYTE = 100, 2000, 50


class Distribution(Protocol):
    """An estimated distribution over texts."""

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """Natural logarithm of the probability of each text, with its end."""


class Estimator(Protocol):
    """Estimates distributions."""

    name: str

    def fit(self, texts: Sequence[str], seed: int) -> Distribution:
        """Estimate from texts."""


@dataclass(frozen=True)
class NgramDistribution:
    """A Kneser-Ney model over words.

    Attributes
    ----------
    fallback_orders
        Orders whose counts give no discounts, as those of few texts do: they have fixed ones.
    """

    model: BackoffModel
    fallback_orders: tuple[int, ...]

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        """See `Distribution`."""
        return self.model.score([words_of(text) for text in texts])


class NgramEstimator:
    """Kneser-Ney with three discounts an order, through KenLM where it is there.

    Both ways give the same model, up to the digits that an ARPA file has. KenLM's needs less memory: it sorts on disk.
    """

    def __init__(self, order: int) -> None:
        self.order = order
        self.lmplz = shutil.which(LMPLZ)
        self.name = f"{order}-gram, " + ("KenLM" if self.lmplz else "own estimator")

    def fit(self, texts: Sequence[str], seed: int) -> NgramDistribution:
        """See `Estimator`; nothing is random."""
        if self.lmplz:
            return self._through_kenlm(texts)
        trie, words = count_words([words_of(text) for text in texts], self.order)
        model = estimate(trie, "kneser_ney", unknown=True)
        return NgramDistribution(backoff_model(model, words), model.fallback_orders)

    def _through_kenlm(self, texts: Sequence[str]) -> NgramDistribution:
        lines = "".join(" ".join(words_of(text)) + "\n" for text in texts)
        # Its default, most of the machine's memory, takes seconds to get; what does not fit is sorted on disk.
        megabytes = min(_MOST_MEGABYTES, max(_FEWEST_MEGABYTES, _BYTES_PER_BYTE * len(lines) >> 20))
        with tempfile.TemporaryDirectory() as folder:
            command = [
                str(self.lmplz),
                "-o",
                str(self.order),
                "--discount_fallback",
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
            # lmplz says on its way which orders had to fall back.
            substituted = done.stderr.decode(errors="replace").count("Substituting fallback discounts for order")
            return NgramDistribution(read_arpa(arpa), tuple(range(1, substituted + 1)))


def estimator(options: StringsOptions, texts: Sequence[str]) -> Estimator:
    """Return the estimator that is asked for.

    Parameters
    ----------
    texts
        Of both sides: what a tokenizer that both share is made from.
    """
    if options.estimator == "ngram":
        return NgramEstimator(options.order)
    from macroscope.critics.strings.lstm import LstmEstimator

    return LstmEstimator(options.lstm, texts)

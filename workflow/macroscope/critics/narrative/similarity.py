"""Semantic similarity of two sentences: BERTScore (Zhang et al. 2020), through the library bert-score.

The raw BERTScore F1 of any two English sentences is near .8, so a limit of .7 would accept hardly any match. Hence it
is rescaled as its authors do, (F1 - b) / (1 - b), with b the mean over random pairs; here the pairs are of the corpus's
sentences, whatever the encoder.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from macroscope.errors import MacroscopeError
from macroscope.models import load_error, resolve

RANDOM_PAIRS = 1000


class BertScore:
    """BERTScore F1 of pairs of sentences.

    Parameters
    ----------
    encoder
        Name of the encoder as in the config; its last layer is used.
    sentences
        Sentences of the corpus, whose random pairs give the baseline.
    rescale
        Whether to rescale F1 so that random pairs have 0 on average.
    """

    def __init__(self, encoder: str, sentences: Sequence[str], rescale: bool, seed: int) -> None:
        self.encoder, self.rescale = encoder, rescale
        rng = np.random.default_rng([seed, len(sentences)])
        self._random = [[sentences[i] for i in rng.integers(len(sentences), size=RANDOM_PAIRS)] for _ in range(2)]

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
        return np.asarray(self._scorer.score(list(first), list(second), batch_size=64)[2], dtype=np.float64)

    @cached_property
    def _scorer(self) -> Any:
        from bert_score import BERTScorer
        from transformers import AutoConfig

        source = resolve(self.encoder)
        if source.location is None:
            raise MacroscopeError(f"encoder {self.encoder!r} has no pretrained weights; give an encoder that has")
        try:
            layers = AutoConfig.from_pretrained(source.location, revision=source.revision or "main").num_hidden_layers
            return BERTScorer(model_type=source.location, num_layers=layers)
        except (OSError, ValueError) as error:
            raise load_error(source, error) from None

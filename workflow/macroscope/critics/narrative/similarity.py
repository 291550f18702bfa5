"""Semantic similarity of two sentences: BERTScore (Zhang et al. 2020).

The vectors of tokens are computed here, each sentence's once; they are matched by the library bert-score, which would
compute them anew for every round of pairs.

The raw BERTScore F1 of any two English sentences is near .8, so a limit of .7 would accept hardly any match. Hence it
is rescaled as its authors do, (F1 - b) / (1 - b), with b the mean over random pairs; here the pairs are of the corpus's
sentences, whatever the encoder.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from macroscope.critics.text_encoder import TextEncoder

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

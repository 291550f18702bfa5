"""Training data of language models: a split as a stream of tokens on disk, cut into windows.

Memory does not grow with the corpus.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from macroscope.systems.formats import read_training_texts

TEXTS_PER_BATCH = 512


def encode_texts(texts: Iterable[str], tokenizer: Any, boundary: int) -> Iterator[tuple[str, list[int]]]:
    """Encode training texts in batches; yield (text, tokens), where the tokens end with the boundary token."""
    texts = iter(texts)
    while batch := list(islice(texts, TEXTS_PER_BATCH)):
        encoded = tokenizer(batch, add_special_tokens=False, verbose=False)["input_ids"]
        for text, tokens in zip(batch, encoded, strict=True):
            yield text, [*tokens, boundary]


class TokenStream:
    """Tokens of a split on disk: the documents one after the other, each followed by the boundary token.

    Attributes
    ----------
    tokens
        Tokens of all documents in file order; memory-mapped, int32.
    bounds
        Positions of the documents' bounds (documents + 1): document i is tokens[bounds[i]:bounds[i + 1]].
    """

    def __init__(self, folder: Path, split: str) -> None:
        self.tokens: NDArray[np.int32] = np.memmap(folder / f"{split}.tokens", dtype=np.int32, mode="r")
        self.bounds: NDArray[np.int64] = np.load(folder / f"{split}.bounds.npy")

    @classmethod
    def write(
        cls, documents: Path, split: str, tokenizer: Any, titles: bool, boundary: int, folder: Path
    ) -> "TokenStream":
        """Tokenise a split into `folder` and open the result."""
        folder.mkdir(parents=True, exist_ok=True)
        lengths = []
        with (folder / f"{split}.tokens").open("wb") as file:
            for _, tokens in encode_texts(read_training_texts(documents, split, titles), tokenizer, boundary):
                lengths.append(len(tokens))
                np.asarray(tokens, dtype=np.int32).tofile(file)
        np.save(folder / f"{split}.bounds.npy", np.concatenate([[0], np.cumsum(lengths)]))
        return cls(folder, split)


class Windows(Dataset[dict[str, torch.Tensor]]):
    """Consecutive windows of a stream of documents (truncated BPTT, deng2022 App. E).

    The documents are joined in a given order, and windows may cross their ends. A window has `context` tokens and
    predicts all but its first. It starts at the last token of the previous window, so that every token of the stream is
    predicted exactly once. The last window may be shorter; its padding does not count in the loss.

    Alternatively, each document has its own windows. The first one begins with the boundary before the document, so
    that the model learns beginnings at the position at which it will generate them; the last one may be shorter.

    Parameters
    ----------
    stream
        Tokens of the split.
    order
        Order of the documents.
    context
        Number of tokens of a window.
    boundary
        Token before the first document.
    by_document
        Whether each document has its own windows.
    """

    def __init__(
        self, stream: TokenStream, order: NDArray[np.int64], context: int, boundary: int, by_document: bool = False
    ) -> None:
        self.stream, self.order, self.context, self.boundary = stream, order, context, boundary
        lengths = np.diff(stream.bounds)[order]
        self.starts = np.concatenate([[1], 1 + np.cumsum(lengths)])
        self.parts = self.starts if by_document else self.starts[[0, -1]]
        """Beginning of each part that is cut into windows by itself, and the end of the last one."""
        self.first = np.concatenate([[0], np.cumsum(-(-np.diff(self.parts) // (context - 1)))])
        """First window of each part, and the number of all windows."""

    def __len__(self) -> int:
        return int(self.first[-1])

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        """Return inputs, and labels in the form of transformers: the same tokens, or -100 for those not predicted.

        A model never predicts the first token of a window. The Trainer divides by the number of labels, so the first
        one must be -100.
        """
        if not 0 <= index < len(self):
            raise IndexError(index)
        part = int(np.searchsorted(self.first, index, side="right")) - 1
        start = int(self.parts[part] - 1 + (index - self.first[part]) * (self.context - 1))
        tokens = self._slice(start, int(min(start + self.context, self.parts[part + 1]))).astype(np.int64)
        missing = (0, self.context - len(tokens))
        labels = np.pad(tokens, missing, constant_values=-100)
        labels[0] = -100
        inputs = np.pad(tokens, missing, constant_values=self.boundary)
        return {"input_ids": torch.from_numpy(inputs), "labels": torch.from_numpy(labels)}

    def _slice(self, start: int, stop: int) -> NDArray[np.int32]:
        pieces = [] if start else [np.array([self.boundary], dtype=np.int32)]
        position = int(np.searchsorted(self.starts, max(start, 1), side="right")) - 1
        while position < len(self.order) and self.starts[position] < stop:
            document = self.order[position]
            begin = self.stream.bounds[document] - self.starts[position]
            low, high = max(start, self.starts[position]), min(stop, self.starts[position + 1])
            pieces.append(self.stream.tokens[begin + low : begin + high])
            position += 1
        return np.concatenate(pieces)


def fingerprint(stream: TokenStream) -> str:
    """Compute a hash of the tokens and bounds of a stream."""
    digest = hashlib.sha256(np.ascontiguousarray(stream.tokens).data)
    digest.update(stream.bounds.tobytes())
    return digest.hexdigest()

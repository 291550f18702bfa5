"""Pairs of originals and translations, as pieces of words."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.utils.data import Dataset

from macroscope.documents import Document, read_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.translation.network import END, PAD

log = logging.getLogger("macroscope")
_SPECIAL = ["\x00pad", "\x00begin", "\x00end"]
"""Nothing that a text has: an Arrow string of tidied text holds no zero byte."""
Tokens = list[int]
Integers = NDArray[np.int32]


@dataclass(frozen=True)
class Pairs(Dataset[dict[str, Integers]]):
    """Originals and translations.

    Attributes
    ----------
    originals, translations
        Tokens of each; a translation ends with `END`.
    left_out
        Number of pairs that are too long.
    """

    originals: Sequence[Integers]
    translations: Sequence[Integers]
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.originals)

    def __getitem__(self, index: int) -> dict[str, Integers]:
        return {"originals": self.originals[index], "labels": self.translations[index]}


def collate(examples: Sequence[dict[str, Integers]]) -> dict[str, torch.Tensor]:
    """Batch of examples, padded."""
    return {name: padded([example[name] for example in examples]) for name in examples[0]}


def padded(rows: Sequence[Tokens | Integers]) -> torch.Tensor:
    """Rows x tokens of the longest."""
    tensors = [torch.as_tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=PAD)


def translated(documents: Path, split: str) -> Iterator[tuple[Document, str]]:
    """Documents of a split with their originals.

    Raises
    ------
    MacroscopeError
        Where a document has none.
    """
    for document in read_documents(documents, split):
        if not document.original:
            raise MacroscopeError(
                f"{documents}: document {document.id} has no original; a system of kind translation needs a corpus of"
                " translations (docs/systems.md)"
            )
        yield document, document.original


def train_pieces(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Byte-level BPE: any text can be written."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=_SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def pairs_of(documents: Path, split: str, tokenizer: Tokenizer, longest: int) -> Pairs:
    """Pairs of a split; those that are longer on either side are left out, and the log says how many."""
    originals, translations, left_out = [], [], 0
    for document, original in translated(documents, split):
        first, second = tokenizer.encode(original).ids, [*tokenizer.encode(document.text).ids, END]
        if max(len(first), len(second)) > longest:
            left_out += 1
            continue
        originals.append(np.array(first, dtype=np.int32))
        translations.append(np.array(second, dtype=np.int32))
    if left_out:
        log.warning(
            "%s: %d pairs of split %s are longer than %d pieces and left out", documents, left_out, split, longest
        )
    if not originals:
        raise MacroscopeError(f"{documents}: no pairs in split '{split}' that are at most {longest} pieces long")
    return Pairs(originals, translations, left_out)

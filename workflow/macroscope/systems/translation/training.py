"""Training of translation models (deng2022 Appendix C), on pairs of originals and translations as word pieces."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.utils.data import Dataset
from transformers import set_seed

from macroscope.documents import Document, read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.systems.translation import TranslationSystem
from macroscope.systems.translation.network import END, PAD, Size, Translator
from macroscope.tables import write_csv
from macroscope.trainer import train
from macroscope.training import Checkpoints, Examples, Schedule, discard

log = logging.getLogger("macroscope")
_SPECIAL = ["\x00pad", "\x00begin", "\x00end"]
"""Special tokens; they occur in no text, because tidied text has no zero byte."""
Tokens = list[int]
Integers = NDArray[np.int32]


@dataclass(frozen=True)
class Pairs(Dataset[dict[str, Integers]]):
    """Originals and their translations.

    Attributes
    ----------
    originals, translations
        Tokens of each; a translation ends with `END`.
    left_out
        Number of pairs that were left out because they are too long.
    """

    originals: Sequence[Integers]
    translations: Sequence[Integers]
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.originals)

    def __getitem__(self, index: int) -> dict[str, Integers]:
        return {"originals": self.originals[index], "labels": self.translations[index]}


def collate(examples: Sequence[dict[str, Integers]]) -> dict[str, torch.Tensor]:
    return {name: pad_rows([example[name] for example in examples]) for name in examples[0]}


def pad_rows(rows: Sequence[Tokens | Integers]) -> torch.Tensor:
    """Pad rows to the longest one: rows x tokens."""
    tensors = [torch.as_tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=PAD)


def read_pairs(documents: Path, split: str) -> Iterator[tuple[Document, str]]:
    """Read the documents of a split with their originals."""
    for document in read_documents(documents, split):
        if not document.original:
            raise MacroscopeError(
                f"{documents}: document {document.id} has no original; a system of kind translation needs a corpus of"
                " translations (docs/systems.md)"
            )
        yield document, document.original


def train_piece_tokenizer(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Train a byte-level BPE tokenizer, which can encode any text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=_SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def encode_pairs(documents: Path, split: str, tokenizer: Tokenizer, longest: int) -> Pairs:
    """Read and encode the pairs of a split; leave out, with a warning, those with a text of over `longest` tokens."""
    originals, translations, left_out = [], [], 0
    for document, original in read_pairs(documents, split):
        first, second = tokenizer.encode(original).ids, [*tokenizer.encode(document.text).ids, END]
        if max(len(first), len(second)) > longest:
            left_out += 1
            continue
        originals.append(np.array(first, dtype=np.int32))
        translations.append(np.array(second, dtype=np.int32))
    if left_out:
        log.warning("%s: %d pairs of split %s are left out: longer than %d pieces", documents, left_out, split, longest)
    if not originals:
        raise MacroscopeError(
            f"{documents}: split '{split}' has no pairs of at most {longest} pieces; raise max_tokens, or give more"
        )
    return Pairs(originals, translations, left_out)


def train_translator(
    documents: Path, output: Path, options: TranslationSystem, *, seed: int, checkpoints: Path
) -> None:
    """Train a translation model on the train split; keep the checkpoint of the lowest validation loss.

    Writes into the folder `output`: tokenizer.json, model.safetensors, size.json (`network.Size`), training_log.csv
    (step, epoch, train_loss, valid_loss; nats per token) and training.json (numbers of parameters, of pairs, and of
    pairs that were left out because they are longer than max_tokens).
    """
    texts = (text for document, original in read_pairs(documents, "train") for text in (original, document.text))
    tokenizer = train_piece_tokenizer(texts, options.vocabulary)
    train_set, valid_set = (
        encode_pairs(documents, split, tokenizer, options.max_tokens) for split in ("train", "valid")
    )
    size = Size(
        tokenizer.get_vocab_size(),
        options.max_tokens,
        options.layers,
        options.heads,
        options.width,
        options.hidden,
        options.dropout,
        options.autoregressive,
        options.positions,
        options.lengths,
    )
    set_seed(seed)
    model = Translator(size)
    training = options.training
    schedule = Schedule.of(training)
    identity = {"options": options.model_dump(mode="json"), "seed": seed, "train": _digest(train_set)}
    history = train(model, Examples(train_set, valid_set, collate), schedule, Checkpoints(checkpoints, identity), seed)
    with atomic(output) as folder:
        folder.mkdir()
        tokenizer.save(str(folder / "tokenizer.json"))
        save_model(model.cpu(), str(folder / "model.safetensors"))
        write_json(folder / "size.json", size.as_dict())
        summary = {
            "parameters": sum(p.numel() for p in model.parameters()),
            "training_pairs": len(train_set),
            "training_pairs_too_long": train_set.left_out,
            "validation_pairs": len(valid_set),
            "validation_pairs_too_long": valid_set.left_out,
        }
        write_json(folder / "training.json", summary)
        write_csv(history, folder / "training_log.csv")
    discard(checkpoints)


def _digest(pairs: Pairs) -> str:
    digest = sha256()
    for row in (*pairs.originals, *pairs.translations):
        digest.update(row.tobytes() + b"|")
    return digest.hexdigest()

"""Training of language models and their tokenizers: fine-tuning, or training from scratch (deng2022 App. E)."""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import PartialState
from numpy.typing import NDArray
from torch.utils.data import Dataset
from transformers import default_data_collator

from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.models import resolve
from macroscope.pretrained import load_pretrained_tokenizer, load_saved_tokenizer, require_known_words
from macroscope.systems.formats import read_training_texts
from macroscope.systems.language_model.model import context_window, describe_size, load_base, require_steps, save_model
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.tokenizer import boundary_id, train_bpe, train_words
from macroscope.tables import write_csv
from macroscope.trainer import train
from macroscope.training import Checkpoints, Examples, Schedule, discard, is_main_process, launch, use_threads

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


log = logging.getLogger("macroscope")

_CHECKED_TOKENS = 1_000_000
"""Number of tokens of the training texts that are checked for words unknown to the tokenizer."""


def train_tokenizer(documents: Path, output: Path, options: LanguageModelSystem, weights: Path | None = None) -> None:
    """Write the tokenizer of a language model into the folder `output`.

    If the registry entry of the base gives a `vocabulary`, a tokenizer of that size is trained on the train split: a
    byte-level BPE, or with `tokens: words` a closed vocabulary of words. Otherwise it is the base's own tokenizer.

    Parameters
    ----------
    documents
        Documents of the corpus.
    options
        Options of the system; `titles` determines the training text.
    weights
        Retrieved weights of the base, if the registry of models has it so.
    """
    source = resolve(options.base, weights)
    if source.location is None:
        train_of_kind = train_words if source.configuration.get("tokens") == "words" else train_bpe
        texts = read_training_texts(documents, "train", options.titles)
        tokenizer: Any = train_of_kind(texts, source.configuration["vocabulary"])
    else:
        tokenizer = load_pretrained_tokenizer(source)
    with atomic(output) as folder:
        tokenizer.save_pretrained(folder)


def finetune(
    documents: Path,
    tokenizer: Path,
    output: Path,
    options: LanguageModelSystem,
    *,
    seed: int,
    checkpoints: Path,
    weights: Path | None = None,
    threads: int = 1,
    processes: int = 1,
) -> None:
    """Train a language model on the train split; keep the checkpoint of the lowest validation loss.

    The training documents are shuffled once, joined by the boundary token and cut into windows of the context length,
    all together or each by itself. Writes into the folder `output`: the model (safetensors), its tokenizer,
    training_log.csv (step, epoch, train_loss, valid_loss; nats per token) and size.json (parameters, vocabulary,
    context).

    Parameters
    ----------
    tokenizer
        Folder of the tokenizer, from `train_tokenizer`.
    checkpoints
        Folder that survives a kill; the next run resumes from its last checkpoint.
    weights
        Retrieved weights of the base, if the registry of models has it so.
    processes
        Number of GPUs to train on, with one process each.
    """
    launch(processes)
    use_threads(threads)
    if options.training is None:
        raise MacroscopeError("training: null means that the model is not trained; use the stage copy_base instead")
    words = load_saved_tokenizer(tokenizer)
    source = resolve(options.base, weights)
    model = load_base(source, words, seed)
    if source.location is not None:
        require_steps(model, options.base)
    context = context_window(model.config, options.context)
    work = checkpoints.with_name(checkpoints.name + "-tokens")
    streams = _write_streams(documents, words, options.titles, work)
    require_known_words(words, [streams[0].tokens[:_CHECKED_TOKENS]], options.base)
    by_document = options.training.windows == "documents"
    train_set, valid_set = (
        Windows(stream, order, context, boundary_id(words), by_document)
        for stream, order in zip(streams, _document_orders(streams, seed), strict=True)
    )
    size = describe_size(model, words, context)
    _log_sizes(options.base, size, streams[0], train_set)
    history = train(
        model,
        Examples(train_set, valid_set, default_data_collator),
        Schedule.of(options.training, bfloat16=options.training.precision == "bfloat16"),
        Checkpoints(checkpoints, _identify(options, seed, streams)),
        seed,
    )
    if not is_main_process():
        return
    with atomic(output) as folder:
        save_model(folder, model, words, size)
        write_csv(history, folder / "training_log.csv")
    discard(checkpoints)
    discard(work)


def _write_streams(documents: Path, words: Any, titles: bool, folder: Path) -> tuple[TokenStream, TokenStream]:
    """Write the tokens of the train and the valid split, once for all processes, and return both."""
    with PartialState().main_process_first():
        if is_main_process():
            for split in ("train", "valid"):
                TokenStream.write(documents, split, words, titles, boundary_id(words), folder)
    return TokenStream(folder, "train"), TokenStream(folder, "valid")


def _log_sizes(base: str, size: Mapping[str, float], stream: TokenStream, windows: Windows) -> None:
    log.info(
        "%s: %.2f M parameters, context %d; training on %d documents, %s tokens, %d windows",
        base,
        size["parameters"] / 1e6,
        size["context"],
        len(stream.bounds) - 1,
        f"{len(stream.tokens):,}",
        len(windows),
    )


def _identify(options: LanguageModelSystem, seed: int, streams: Sequence[TokenStream]) -> dict[str, Any]:
    """Return the properties of a training by which its checkpoints are recognised."""
    return {
        "options": options.model_dump(mode="json", include={"base", "titles", "context", "training"}),
        "seed": seed,
        "train": fingerprint(streams[0]),
        "valid": fingerprint(streams[1]),
    }


def _document_orders(streams: Sequence[TokenStream], seed: int) -> list[np.ndarray]:
    """Return the orders of the documents: shuffled for training, file order for validation."""
    train, valid = (len(stream.bounds) - 1 for stream in streams)
    return [np.random.default_rng(seed).permutation(train), np.arange(valid)]

"""Training of language models and their tokenizers: fine-tuning, or training from scratch (deng2022 App. E)."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from accelerate import PartialState
from transformers import default_data_collator

from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.models import resolve
from macroscope.pretrained import load_pretrained_tokenizer, load_saved_tokenizer, require_known_words
from macroscope.systems.formats import read_training_texts
from macroscope.systems.language_model.decoder import require_steps
from macroscope.systems.language_model.model import context_window, describe_size, load_base, save_model
from macroscope.systems.language_model.options import LanguageModelSystem, Training
from macroscope.systems.language_model.stream import TokenStream, Windows, fingerprint
from macroscope.systems.tokenizer import boundary_id, train_bpe, train_words
from macroscope.tables import write_csv
from macroscope.trainer import train
from macroscope.training import Checkpoints, Examples, Schedule, discard, is_main_process, launch, use_threads

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

    Raises
    ------
    MacroscopeError
        If the options have no training, the model cannot be sampled token by token, or the tokenizer does not know most
        words of the training texts.
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
        _schedule(options.training),
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


def _schedule(training: Training) -> Schedule:
    return Schedule(
        epochs=training.epochs,
        batch_size=training.batch_size,
        device_batch_size=training.device_batch_size,
        learning_rate=training.learning_rate,
        warmup_share=training.warmup_share,
        weight_decay=training.weight_decay,
        beta2=training.beta2,
        gradient_norm=training.gradient_norm,
        decay=training.decay,
        evaluations=training.evaluations,
        bfloat16=training.precision == "bfloat16",
    )


def _document_orders(streams: Sequence[TokenStream], seed: int) -> list[np.ndarray]:
    """Return the orders of the documents: shuffled for training, file order for validation."""
    train, valid = (len(stream.bounds) - 1 for stream in streams)
    return [np.random.default_rng(seed).permutation(train), np.arange(valid)]

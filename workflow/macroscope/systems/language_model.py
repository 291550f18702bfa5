"""Language models: fine-tuned from a pretrained one, trained from scratch (deng2022 App. E), or as published."""

import logging
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import PartialState
from transformers import AutoConfig, AutoModelForCausalLM, default_data_collator

import macroscope.systems.architectures  # noqa: F401 - makes them known to transformers
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.models import ModelSource, load_error, resolve
from macroscope.systems.options import LanguageModelSystem, Training
from macroscope.systems.stream import TokenStream, Windows, fingerprint
from macroscope.systems.tokenizer import boundary_id, load_tokenizer, published_tokenizer
from macroscope.training import Schedule, discard, train

log = logging.getLogger("macroscope")

SIZE = "size.json"
LONGEST_CONTEXT = 1024
"""Context window of a model whose positions are unlimited, unless the config says otherwise."""


def finetune(
    documents: Path, tokenizer: Path, output: Path, options: LanguageModelSystem, *, seed: int, checkpoints: Path
) -> None:
    """Train a language model on the train split; keep the checkpoint of the lowest validation loss.

    The training documents are shuffled once, joined by the boundary token and cut into windows of the context length.
    Writes into the folder `output`: the model (safetensors), its tokenizer, training_log.csv (step, epoch, train_loss,
    valid_loss; nats per token) and size.json (parameters, vocabulary, context).

    Parameters
    ----------
    checkpoints
        Folder that survives a kill; the next run goes on from its last checkpoint.
    """
    if options.training is None:
        raise MacroscopeError("training: null is for a model that is not trained; take it with systems copy-base")
    words = load_tokenizer(tokenizer)
    boundary = boundary_id(words)
    model = load_base(resolve(options.base), words, seed)
    context = context_window(model.config, options.context)
    work = checkpoints.with_name(checkpoints.name + "-tokens")
    with PartialState().main_process_first():
        if _is_main_process():
            for split in ("train", "valid"):
                TokenStream.write(documents, split, words, options.titles, boundary, work)
    streams = [TokenStream(work, split) for split in ("train", "valid")]
    train_set, valid_set = (
        Windows(stream, order, context, boundary) for stream, order in zip(streams, _orders(streams, seed), strict=True)
    )
    size = _size(model, words, context)
    log.info(
        "%s: %.2f M parameters, context %d; training on %d documents, %s tokens, %d windows",
        options.base,
        size["parameters"] / 1e6,
        context,
        len(streams[0].bounds) - 1,
        f"{len(streams[0].tokens):,}",
        len(train_set),
    )
    history = train(
        model,
        train_set,
        valid_set,
        default_data_collator,
        _schedule(options.training),
        seed=seed,
        checkpoints=checkpoints,
        fingerprint={
            "options": options.model_dump(mode="json", include={"base", "titles", "context", "training"}),
            "seed": seed,
            "train": fingerprint(streams[0]),
            "valid": fingerprint(streams[1]),
        },
    )
    if not _is_main_process():
        return
    with atomic(output) as folder:
        _save(folder, model, words, size)
        history.to_csv(folder / "training_log.csv", index=False)
    discard(checkpoints)
    discard(work)


def copy_base(output: Path, options: LanguageModelSystem) -> None:
    """Take a base model as it was published, without any training.

    Writes into the folder `output` what `finetune` writes, but for training_log.csv, which it has none to write.

    Raises
    ------
    MacroscopeError
        Where the base has no weights, or no token that ends a text.
    """
    source = resolve(options.base)
    if source.location is None:
        raise MacroscopeError(
            f"model {source.name!r}: it is trained from scratch and has no published weights; name a base that has, or"
            " give it a training"
        )
    words = published_tokenizer(source)
    boundary_id(words)
    model = load_base(source, words, 0)
    size = _size(model, words, context_window(model.config, options.context))
    log.info("%s as published: %.2f M parameters, context %d", options.base, size["parameters"] / 1e6, size["context"])
    with atomic(output) as folder:
        _save(folder, model, words, size)


def load_base(source: ModelSource, tokenizer: Any, seed: int) -> Any:
    """Load pretrained weights, or make a model from its configuration with random ones."""
    torch.manual_seed(seed)
    if source.location is not None:
        try:
            return AutoModelForCausalLM.from_pretrained(source.location, revision=source.revision or "main")
        except (OSError, ValueError) as error:
            raise load_error(source, error) from None
    sizes = {
        key: value for key, value in source.configuration.items() if key not in ("model_type", "vocabulary", "tokens")
    }
    boundary = boundary_id(tokenizer)
    config = AutoConfig.for_model(
        source.configuration["model_type"],
        vocab_size=len(tokenizer),
        bos_token_id=boundary,
        eos_token_id=boundary,
        **sizes,
    )
    return AutoModelForCausalLM.from_config(config)


def load_model(folder: Path) -> tuple[Any, Any]:
    """Load the model of a system (in eval mode, on a GPU where there is one) and its tokenizer."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise MacroscopeError(f"{folder}: not a language model ({str(error).splitlines()[0]})") from None
    return model.to(device).eval(), load_tokenizer(folder)


def context_window(config: Any, wanted: int | None) -> int:
    """Context window in tokens: what the options ask for, at most what the model has positions for.

    Raises
    ------
    MacroscopeError
        Where more is asked for than the model has.
    """
    available = getattr(config, "max_position_embeddings", None) or LONGEST_CONTEXT
    if wanted is not None and wanted > available:
        raise MacroscopeError(f"context: {wanted} tokens are asked for, and the model has {available} positions")
    return int(wanted or available)


def launch(processes: int) -> None:
    """Start this command again in `processes` processes, one a GPU, through accelerate; one process: do nothing."""
    if processes <= 1 or "LOCAL_RANK" in os.environ:
        return
    flags = ["--num_processes", str(processes), "--num_machines", "1", "--mixed_precision", "no"]
    command = ["-m", "accelerate.commands.launch", *flags, "--dynamo_backend", "no", "--multi_gpu", "-m", "macroscope"]
    os.execv(sys.executable, [sys.executable, *command, *sys.argv[1:]])


def _size(model: Any, tokenizer: Any, context: int) -> dict[str, int]:
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return {"parameters": parameters, "vocabulary": len(tokenizer), "context": context}


def _save(folder: Path, model: Any, tokenizer: Any, size: dict[str, int]) -> None:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_json(folder / SIZE, size)


def _schedule(training: Training) -> Schedule:
    return Schedule(
        epochs=training.epochs,
        batch_size=training.batch_size,
        device_batch_size=training.device_batch_size,
        learning_rate=training.learning_rate,
        warmup_share=training.warmup_share,
        weight_decay=training.weight_decay,
        evaluations=training.evaluations,
        bfloat16=training.precision == "bfloat16",
    )


def _orders(streams: list[TokenStream], seed: int) -> list[np.ndarray]:
    """Training documents are shuffled; validation documents stay in file order."""
    train, valid = (len(stream.bounds) - 1 for stream in streams)
    return [np.random.default_rng(seed).permutation(train), np.arange(valid)]


def _is_main_process() -> bool:
    return int(os.environ.get("RANK", "0")) == 0

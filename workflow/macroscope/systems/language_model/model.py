"""Models of systems: load, describe and save them, or copy a published one."""

import logging
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

import macroscope.systems.language_model.architectures  # noqa: F401 - registers them with transformers
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.models import ModelSource, resolve
from macroscope.pretrained import (
    SINGLE,
    load_pretrained,
    load_pretrained_tokenizer,
    load_saved,
    require_matching_tokenizer,
)
from macroscope.systems.language_model.decoder import require_steps
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.tokenizer import boundary_id

log = logging.getLogger("macroscope")

SIZE = "size.json"
LONGEST_CONTEXT = 1024
"""Default context window of a model with unlimited positions."""


def copy_base(output: Path, options: LanguageModelSystem, weights: Path | None = None) -> None:
    """Copy a base model as published, without any training; weights in GGUF become safetensors.

    Writes the same files as `finetune` into the folder `output`, except for training_log.csv.

    Parameters
    ----------
    weights
        Retrieved weights of the base, if the registry of models has it so.

    Raises
    ------
    MacroscopeError
        If the base has no weights, no end-of-text token, or cannot be sampled token by token.
    """
    source = resolve(options.base, weights)
    if source.location is None:
        raise MacroscopeError(
            f"model {source.name!r}: it is trained from scratch and has no published weights; name a base with weights,"
            " or give it a training"
        )
    tokenizer = load_pretrained_tokenizer(source)
    boundary_id(tokenizer)
    model = load_base(source, tokenizer, 0, dtype="auto")
    require_steps(model, options.base)
    size = describe_size(model, tokenizer, context_window(model.config, options.context))
    log.info("%s as published: %.2f M parameters, context %d", options.base, size["parameters"] / 1e6, size["context"])
    with atomic(output) as folder:
        save_model(folder, model, tokenizer, size)


def load_base(source: ModelSource, tokenizer: Any, seed: int, dtype: str = SINGLE) -> Any:
    """Load a pretrained model, or create one with random weights from its configuration.

    Parameters
    ----------
    seed
        Seed of the random weights.
    dtype
        Type of pretrained weights; "auto": as published.
    """
    torch.manual_seed(seed)
    if source.location is not None:
        model = load_pretrained(source, AutoModelForCausalLM, dtype=dtype)
        require_matching_tokenizer(source, model, tokenizer)
        return model
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
    """Load the model of a system, in eval mode and on a GPU if there is one, and its tokenizer."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = load_saved(folder, AutoModelForCausalLM)
    return model.to(device).eval(), tokenizer


def context_window(config: Any, wanted: int | None) -> int:
    """Return the context window in tokens: as in the options, or by default all positions of the model.

    Raises
    ------
    MacroscopeError
        If the options request more tokens than the model has positions.
    """
    available = getattr(config, "max_position_embeddings", None) or LONGEST_CONTEXT
    if wanted is not None and wanted > available:
        raise MacroscopeError(
            f"context: {wanted} tokens are more than the {available} positions of the model; give a smaller context"
        )
    return int(wanted or available)


def describe_size(model: Any, tokenizer: Any, context: int) -> dict[str, int]:
    """Return the number of parameters, the size of the vocabulary, and the context window in tokens."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return {"parameters": parameters, "vocabulary": len(tokenizer), "context": context}


def save_model(folder: Path, model: Any, tokenizer: Any, size: dict[str, int]) -> None:
    """Write a model, its tokenizer and its size into a folder."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_json(folder / SIZE, size)

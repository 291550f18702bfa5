"""The model of a system: loaded, measured, saved, or taken as it was published."""

import logging
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

import macroscope.systems.language_model.architectures  # noqa: F401 - makes them known to transformers
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.models import ModelSource, resolve
from macroscope.pretrained import SINGLE, load_own, load_pretrained, load_pretrained_tokenizer, require_fitting
from macroscope.systems.language_model.decoder import require_steps
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.tokenizer import boundary_id

log = logging.getLogger("macroscope")

SIZE = "size.json"
LONGEST_CONTEXT = 1024
"""Context window of a model whose positions are unlimited, unless the config says otherwise."""


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
    words = load_pretrained_tokenizer(source)
    boundary_id(words)
    model = load_base(source, words, 0, dtype="auto")
    require_steps(model, options.base)
    size = size_of(model, words, context_window(model.config, options.context))
    log.info("%s as published: %.2f M parameters, context %d", options.base, size["parameters"] / 1e6, size["context"])
    with atomic(output) as folder:
        save_model(folder, model, words, size)


def load_base(source: ModelSource, tokenizer: Any, seed: int, dtype: str = SINGLE) -> Any:
    """Load pretrained weights, or make a model from its configuration with random ones.

    Parameters
    ----------
    dtype
        Type of pretrained weights; "auto": the one that they were published in.
    """
    torch.manual_seed(seed)
    if source.location is not None:
        model = load_pretrained(source, AutoModelForCausalLM, dtype=dtype)
        require_fitting(source, model, tokenizer)
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
    """Load the model of a system (in eval mode, on a GPU where there is one) and its tokenizer."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = load_own(folder, AutoModelForCausalLM)
    return model.to(device).eval(), tokenizer


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


def size_of(model: Any, tokenizer: Any, context: int) -> dict[str, int]:
    """Parameters, size of the vocabulary, and context window in tokens."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return {"parameters": parameters, "vocabulary": len(tokenizer), "context": context}


def save_model(folder: Path, model: Any, tokenizer: Any, size: dict[str, int]) -> None:
    """Write a model, its tokenizer and its size into a folder."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_json(folder / SIZE, size)

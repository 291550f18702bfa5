"""Loading of pretrained models and their tokenizers, completely or not at all.

If a folder lacks weights or a tokenizer, `transformers` continues with random values or an empty tokenizer, with a
warning at most, and the results would be meaningless. Here that is an error.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import transformers.modeling_utils  # noqa: F401 - loading any model imports it: the job server does so once for all jobs
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from macroscope.errors import MacroscopeError
from macroscope.models import ModelSource, load_error, resolve

_LEAST_SHARE = 0.5
"""Least number of a tokenizer's tokens, as a share of the tokens that the model has vectors for."""
_MOST_UNKNOWN = 0.5
"""Largest share of unknown tokens at which vectors of texts are still informative."""
_BUFFERS = ("position_ids", "attn.bias", "attn.masked_bias", "attention.bias", "attention.masked_bias", "inv_freq")
"""Constants that older versions of `transformers` saved among the weights."""
SINGLE = "float32"
"""Type of weights that are trained, and of encoders. By default `transformers` keeps the type of the saved weights, but
in half precision most updates of a training are lost in rounding."""
POOLER = "pooler"
"""Layer for whole sequences in BERT and similar models; many checkpoints lack it."""


def load_pretrained(source: ModelSource, kind: Any, new_head: bool = False, **options: Any) -> Any:
    """Load a model and require all of its weights, except for a pooling layer, which is not used here.

    Parameters
    ----------
    kind
        Class of `transformers`, such as AutoModel.
    new_head
        Whether the head on the base model is still to be trained, and may be missing or of another shape.
    options
        Further arguments of `from_pretrained`.

    Raises
    ------
    MacroscopeError
        If the model cannot be loaded, if weights are missing or of another shape, or if there are weights for layers
        that its config does not have.
    """
    assert source.location is not None  # a model from scratch is not loaded
    try:
        model, report = kind.from_pretrained(
            source.location,
            revision=source.revision or "main",
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are checked below
            **_file_option(source),
            **options,
        )
    except Exception as error:  # transformers, safetensors, hub and file errors have no common base
        raise load_error(source, error) from None
    prefix = f"{model.base_model_prefix}."

    def is_needed(key: str) -> bool:
        is_head = new_head and not key.startswith(prefix)
        return not is_head and POOLER not in key.split(".")

    missing = [key for key in report["missing_keys"] if is_needed(key)]
    _require_none(source, missing, "lacks the weights", "they would be random")
    mismatched = [key for key, *_ in report["mismatched_keys"] if is_needed(key)]
    _require_none(source, mismatched, "has weights of another shape than its config says:", "they would not be used")
    # An unused head of another task is fine; a layer that the config does not have is an error.
    layers = {name for name, _ in (*model.named_children(), *model.base_model.named_children())}
    unused = [key for key in report["unexpected_keys"] if key.removeprefix(prefix).split(".")[0] in layers]
    unused = [key for key in unused if is_needed(key) and not key.endswith(_BUFFERS)]
    _require_none(source, unused, "has weights that its config has no place for:", "they would not be used")
    if source.gguf:
        _forget_quantization(model)
    return model


def _file_option(source: ModelSource) -> dict[str, str]:
    return {"gguf_file": source.gguf} if source.gguf else {}


def _forget_quantization(model: Any) -> None:
    """Make a model from a GGUF file like any other: its weights are not quantized any more, and can be saved."""
    model.hf_quantizer = None
    model.is_quantized = False
    del model.config.quantization_config


def load_pretrained_tokenizer(source: ModelSource) -> Any:
    """Load the tokenizer that a model was published with.

    Raises
    ------
    MacroscopeError
        If there is none.
    """
    assert source.location is not None
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(
            source.location, revision=source.revision or "main", trust_remote_code=False, **_file_option(source)
        )
    except Exception as error:
        raise load_error(source, error, "tokenizer of the model") from None
    # For a folder without a tokenizer, transformers makes one that has special tokens only.
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise _wrong_tokenizer(source, "it has no tokenizer")
    return tokenizer


def require_matching_tokenizer(source: ModelSource, model: Any, tokenizer: Any) -> None:
    """Check that a tokenizer fits a model.

    Raises
    ------
    MacroscopeError
        If the tokenizer has more tokens than the model has vectors, or far fewer.
    """
    vectors, tokens = int(model.get_input_embeddings().weight.shape[0]), len(tokenizer)
    if not _LEAST_SHARE * vectors <= tokens <= vectors:
        raise _wrong_tokenizer(source, f"its tokenizer has {tokens:,} tokens, and the model vectors for {vectors:,}")


def load_pretrained_encoder(
    name: str, kind: Any = AutoModel, new_head: bool = False, **options: Any
) -> tuple[Any, Any]:
    """Load an encoder and its tokenizer by the name in the config.

    Parameters
    ----------
    kind, new_head, options
        Arguments of `load_pretrained`.

    Returns
    -------
    (model, tokenizer)

    Raises
    ------
    MacroscopeError
        If the model has no pretrained weights, or model or tokenizer are incomplete.
    """
    source = resolve(name)
    if source.location is None:
        raise MacroscopeError(f"encoder {name!r} has no pretrained weights; give one that has them, such as minilm")
    model = load_pretrained(source, kind, new_head, dtype=SINGLE, **options)
    tokenizer = load_pretrained_tokenizer(source)
    require_matching_tokenizer(source, model, tokenizer)
    return model, tokenizer


def load_saved(folder: Path, kind: Any) -> tuple[Any, Any]:
    """Load a model and its tokenizer that an earlier job has saved.

    Raises
    ------
    MacroscopeError
        If the folder is incomplete.
    """
    return load_pretrained(_saved_source(folder), kind), load_saved_tokenizer(folder)


def load_saved_tokenizer(folder: Path) -> Any:
    """Load a tokenizer that an earlier job has saved."""
    return load_pretrained_tokenizer(_saved_source(folder))


def require_known_words(tokenizer: Any, tokens: Iterable[Sequence[int] | NDArray[np.integer]], name: str) -> None:
    """Check that a tokenizer knows most tokens of texts.

    Parameters
    ----------
    tokens
        Token ids of each text.
    name
        Name of the model, for the error message.

    Raises
    ------
    MacroscopeError
        If more than half of all tokens are unknown: the texts are in another script, or the tokenizer is of another
        model.
    """
    unknown = tokenizer.unk_token_id
    if unknown is None or unknown == tokenizer.eos_token_id:
        return
    counts = [(int(np.count_nonzero(np.asarray(text) == unknown)), len(text)) for text in tokens]
    missing, total = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    if missing > _MOST_UNKNOWN * total:
        raise MacroscopeError(
            f"model {name!r}: its tokenizer does not know {missing:,} of {total:,} tokens of these texts; give a model"
            " that was trained on their language and script"
        )


def _saved_source(folder: Path) -> ModelSource:
    return ModelSource(str(folder), str(folder))


def _require_none(source: ModelSource, keys: list[str], what: str, consequence: str) -> None:
    if keys:
        listed = ", ".join(sorted(keys)[:3]) + (" ..." if len(keys) > 3 else "")
        raise MacroscopeError(
            f"model {source.name!r}: {source.location} {what} {listed} ({len(keys)} in all), so that {consequence};"
            " give the complete model with its own config"
        )


def _wrong_tokenizer(source: ModelSource, what: str) -> MacroscopeError:
    return MacroscopeError(
        f"model {source.name!r}: {what}; put its own tokenizer (tokenizer.json and tokenizer_config.json, or the like)"
        f" into {source.location}"
    )

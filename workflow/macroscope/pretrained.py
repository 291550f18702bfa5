"""Pretrained models and their tokenizers: loaded whole, or not at all.

`transformers` gives what a folder lacks random values, or a tokenizer without words, and warns at most: numbers would
come out all the same. Here that is an error.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from macroscope.errors import MacroscopeError
from macroscope.models import ModelSource, load_error, resolve

_LEAST_SHARE = 0.5
"""Of the tokens that a model has vectors for, those that its tokenizer must have at least."""
_MOST_UNKNOWN = 0.5
"""Share of unknown tokens from which on a text's vectors say nothing of it."""
_BUFFERS = ("position_ids", "attn.bias", "attn.masked_bias", "attention.bias", "attention.masked_bias", "inv_freq")
"""Constants that older versions of `transformers` saved among the weights."""
SINGLE = "float32"
"""The type of weights that are trained, and of encoders: by itself `transformers` takes the one that they are saved in,
and in half precision most updates of a training are lost in rounding."""
POOLER = "pooler"
"""The layer that BERT and its like add for whole sequences, and that many checkpoints lack."""


def load_pretrained(source: ModelSource, kind: Any, new_head: bool = False, **options: Any) -> Any:
    """Load a model whose weights are all there, but for a pooling layer, which nothing of ours looks at.

    Parameters
    ----------
    kind
        Class of `transformers`, such as AutoModel.
    new_head
        Whether what stands upon the base model is to be trained, and may be missing or of another shape.
    options
        What else `from_pretrained` takes.

    Raises
    ------
    MacroscopeError
        Where it cannot be loaded, where weights are missing or of another shape, or where the model has no place for
        weights of its own layers.
    """
    assert source.location is not None  # a model from scratch is not loaded
    try:
        model, found = kind.from_pretrained(
            source.location,
            revision=source.revision or "main",
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are looked at below
            **options,
        )
    except Exception as error:  # transformers, safetensors, hub and file errors have no common base
        raise load_error(source, error) from None
    prefix = f"{model.base_model_prefix}."

    def is_needed(key: str) -> bool:
        is_head = new_head and not key.startswith(prefix)
        return not is_head and POOLER not in key.split(".")

    missing = [key for key in found["missing_keys"] if is_needed(key)]
    _require_none(source, missing, "lacks the weights", "random values would stand in their place")
    mismatched = [key for key, *_ in found["mismatched_keys"] if is_needed(key)]
    _require_none(source, mismatched, "has weights of another shape than its config says:", "they would not be used")
    # A head of another task may go; a layer that the config does not count may not.
    own = {name for name, _ in (*model.named_children(), *model.base_model.named_children())}
    spare = [key for key in found["unexpected_keys"] if key.removeprefix(prefix).split(".")[0] in own]
    spare = [key for key in spare if is_needed(key) and not key.endswith(_BUFFERS)]
    _require_none(source, spare, "has weights that its config has no place for:", "they would not be used")
    return model


def load_pretrained_tokenizer(source: ModelSource) -> Any:
    """Load the tokenizer that a model was published with.

    Raises
    ------
    MacroscopeError
        Where there is none.
    """
    assert source.location is not None
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(
            source.location, revision=source.revision or "main", trust_remote_code=False
        )
    except Exception as error:
        raise load_error(source, error, "tokenizer of the model") from None
    # Of a folder without one, transformers makes a tokenizer that knows its marks alone.
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise _wrong_tokenizer(source, "no tokenizer is there")
    return tokenizer


def require_fitting(source: ModelSource, model: Any, tokenizer: Any) -> None:
    """Stop where a tokenizer is not that of the model.

    Raises
    ------
    MacroscopeError
        Where the model has no vectors for some of its tokens, or many more than it has tokens.
    """
    vectors, known = int(model.get_input_embeddings().weight.shape[0]), len(tokenizer)
    if not _LEAST_SHARE * vectors <= known <= vectors:
        raise _wrong_tokenizer(source, f"its tokenizer has {known:,} tokens, and the model vectors for {vectors:,}")


def load_pretrained_encoder(
    name: str, kind: Any = AutoModel, new_head: bool = False, **options: Any
) -> tuple[Any, Any]:
    """Load a model that reads texts, and its tokenizer, by the name in the config.

    Parameters
    ----------
    kind, new_head, options
        As in `load_pretrained`.

    Returns
    -------
    (model, tokenizer)

    Raises
    ------
    MacroscopeError
        Where it has no weights of its own, or not all of it is there.
    """
    source = resolve(name)
    if source.location is None:
        raise MacroscopeError(f"encoder {name!r} has no pretrained weights; give one that has, such as minilm")
    model = load_pretrained(source, kind, new_head, dtype=SINGLE, **options)
    tokenizer = load_pretrained_tokenizer(source)
    require_fitting(source, model, tokenizer)
    return model, tokenizer


def load_own(folder: Path, kind: Any) -> tuple[Any, Any]:
    """Load a model and its tokenizer that a job of ours has saved.

    Raises
    ------
    MacroscopeError
        Where the folder is not whole.
    """
    return load_pretrained(_own(folder), kind), load_own_tokenizer(folder)


def load_own_tokenizer(folder: Path) -> Any:
    """Load a tokenizer that a job of ours has saved."""
    return load_pretrained_tokenizer(_own(folder))


def require_known_words(tokenizer: Any, tokens: Iterable[Sequence[int] | NDArray[np.integer]], name: str) -> None:
    """Stop where a tokenizer does not know most of what texts say.

    Raises
    ------
    MacroscopeError
        Where more than half of all tokens are unknown: texts of another script, or another model's tokenizer.
    """
    unknown = tokenizer.unk_token_id
    if unknown is None or unknown == tokenizer.eos_token_id:
        return
    counts = [(int(np.count_nonzero(np.asarray(text) == unknown)), len(text)) for text in tokens]
    missed, total = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    if missed > _MOST_UNKNOWN * total:
        raise MacroscopeError(
            f"model {name!r}: its tokenizer does not know {missed:,} of {total:,} tokens of these texts; give a model"
            " that was trained on their language and script"
        )


def _own(folder: Path) -> ModelSource:
    return ModelSource(str(folder), str(folder))


def _require_none(source: ModelSource, keys: list[str], what: str, else_: str) -> None:
    if keys:
        some = ", ".join(sorted(keys)[:3]) + (" ..." if len(keys) > 3 else "")
        raise MacroscopeError(
            f"model {source.name!r}: {source.location} {what} {some} ({len(keys)} in all), so that {else_}; give the"
            " whole model, with the config that belongs to it"
        )


def _wrong_tokenizer(source: ModelSource, what: str) -> MacroscopeError:
    return MacroscopeError(
        f"model {source.name!r}: {what}; put the tokenizer that belongs to it (tokenizer.json and"
        f" tokenizer_config.json, or the like) into {source.location}"
    )

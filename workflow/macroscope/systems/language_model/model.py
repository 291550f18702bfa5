"""Models of systems: load, describe and save them, copy a published one; and decode stepwise.

A step gives one token to each row of a batch, for rows of different lengths side by side.
"""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.activations import NewGELUActivation
from transformers.cache_utils import DynamicCache

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
from macroscope.systems.language_model.architectures.recurrent import RecurrentLM
from macroscope.systems.language_model.attention import RollingCache, use_row_attention
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.tokenizer import boundary_id

Integers = NDArray[np.int64]

BLOCK = 64
"""Columns of the cache that a step on a GPU reads or leaves together: kernels are slower at odd numbers."""
SLIDING = "sliding_attention"
"""Type, in transformers, of layers that attend to the last `config.sliding_window` tokens only."""


def fuse_activations(model: torch.nn.Module) -> None:
    """Compute GPT-2's GELU in one pass instead of eight, as in transformers; the results are equal up to rounding."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, NewGELUActivation):
                setattr(module, name, torch.nn.GELU(approximate="tanh"))


@torch.no_grad()
def require_steps(model: Any, name: str) -> None:
    """Check that a model, in eval mode, can be fed token by token, before hours are spent on training it."""
    if isinstance(model, RecurrentLM):
        return
    token, none = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    try:
        decoder = Decoder(model, 3)
        decoder.step(token, none)
        decoder.encode(0, token)
        decoder.step(token, none + 1)
    except Exception as error:  # a model's code may fail in any way with a cache or mask that it does not expect
        raise MacroscopeError(
            f"model {name!r}: models of type {model.config.model_type} cannot be sampled token by token here"
            f" ({type(error).__name__}: {str(error).partition(chr(10))[0]}); use another base, or run it behind a"
            " server (kind: server)"
        ) from None


class StateDecoder:
    """Decoder of a recurrent model, which carries a state, one token per row and step.

    Parameters
    ----------
    model
        Recurrent model in eval mode.
    """

    def __init__(self, model: RecurrentLM) -> None:
        self.model = model
        self.state: tuple[torch.Tensor, ...] = ()

    def step(self, tokens: NDArray[np.int32], cached: Integers) -> torch.Tensor:
        """Feed a token to every row; see `Decoder.step`. A row with no cached tokens starts from the initial state."""
        initial = self.model.initial_state(len(tokens))
        is_new = torch.from_numpy(cached == 0).to(self.model.device)
        state = self.state or initial
        self.state = tuple(
            torch.where(is_new.view(-1, *[1] * (part.ndim - 1)), fresh, part)
            for part, fresh in zip(state, initial, strict=True)
        )
        inputs = torch.from_numpy(tokens.astype(np.int64)).to(self.model.device)
        logits, self.state = self.model.advance(inputs, self.state)
        return logits

    def encode(self, row: int, tokens: NDArray[np.int32]) -> None:
        """Raise `NotImplementedError`: a state has no window that could be full."""
        raise NotImplementedError

    def copy_row(self, source: int, target: int, cached: int) -> None:
        """Copy the state of a row to another row; see `Decoder.copy_row`."""
        for part in self.state:
            part[target] = part[source]


class Decoder:
    """Decoder of a causal model of transformers, one token per row and step.

    Parameters
    ----------
    model
        Causal model in eval mode.
    columns
        Largest number of tokens that a step attends to, including the new one.

    Attributes
    ----------
    reads_all
        Whether each step reads all columns of the cache, so that the arithmetic of a row never depends on the other
        rows. On a GPU, where the same bytes are not promised, a step reads no more blocks than the longest row fills.
    """

    def __init__(self, model: Any, columns: int) -> None:
        self.model, self.columns = model, columns
        self.reads_all = model.device.type == "cpu"
        self.backbone = getattr(model, model.base_model_prefix, model)
        self.cache = RollingCache(model.config.num_hidden_layers, columns)

    def speed_up(self) -> "Decoder":
        """Replace parts of the model by faster ones with equal results up to rounding; return the decoder."""
        use_row_attention(self.backbone)
        fuse_activations(self.backbone)
        return self

    def step(self, tokens: NDArray[np.int32], cached: Integers) -> torch.Tensor:
        """Feed a token to every row.

        Parameters
        ----------
        tokens
            One token per row.
        cached
            Number of earlier tokens that each row sees; less than `columns`.

        Returns
        -------
        Logits of the next token: rows x vocabulary.
        """
        device = self.model.device
        columns = self.columns if self.reads_all else min(self.columns, -(-int(cached.max() + 1) // BLOCK) * BLOCK)
        self.cache.read(columns)
        return self.model(
            input_ids=torch.from_numpy(tokens.astype(np.int64))[:, None].to(device),
            attention_mask=self._masks(cached + 1, columns),
            position_ids=torch.from_numpy(cached.astype(np.int64))[:, None].to(device),
            past_key_values=self.cache,
            use_cache=True,
        ).logits[:, -1]

    def encode(self, row: int, tokens: NDArray[np.int32]) -> None:
        """Replace the tokens that a row sees, as if it had been fed these tokens only.

        Encodes one row at a time, always at the same length, so that the arithmetic does not depend on the batch.
        """
        if len(tokens) == 0:
            return
        encoded = DynamicCache()
        inputs = torch.from_numpy(tokens.astype(np.int64))[None].to(self.model.device)
        self.backbone(input_ids=inputs, past_key_values=encoded, use_cache=True)
        self.cache.write_row(row, encoded)

    def copy_row(self, source: int, target: int, cached: int) -> None:
        self.cache.copy_row(source, target, cached)

    def _masks(self, lengths: Integers, columns: int) -> torch.Tensor | dict[str, torch.Tensor]:
        """Return one mask for all layers, or one per type if some have a sliding window (Mistral, Gemma)."""
        config, mask = self.model.config, self._mask(lengths, columns)
        window, layer_types = getattr(config, "sliding_window", None), getattr(config, "layer_types", None)
        if not window or window >= self.columns or (layer_types and SLIDING not in layer_types):
            return mask
        sliding_mask = self._mask(np.minimum(lengths, window), columns)
        return (
            sliding_mask
            if not layer_types or set(layer_types) == {SLIDING}
            else {"full_attention": mask, SLIDING: sliding_mask}
        )

    def _mask(self, lengths: Integers, columns: int) -> torch.Tensor:
        """Return the additive mask, rows x 1 x 1 x columns, with which each row sees its own last columns.

        Transformers uses a mask of four dimensions as it is. It would drop a two-dimensional one if all rows happen to
        be full, and the arithmetic of a row would depend on the other rows.
        """
        dtype, device = self.model.dtype, self.model.device
        hidden = torch.arange(columns) < columns - torch.from_numpy(lengths)[:, None]
        mask = torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min)
        return mask[:, None, None].to(device)


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
    """Return the context window in tokens: as in the options, or by default all positions of the model."""
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

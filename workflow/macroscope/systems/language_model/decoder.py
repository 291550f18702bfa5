"""Steps of a causal model: one token a row, for rows of different lengths side by side."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.activations import NewGELUActivation
from transformers.cache_utils import DynamicCache

from macroscope.errors import MacroscopeError
from macroscope.systems.language_model.architectures.recurrent import RecurrentLM
from macroscope.systems.language_model.attention import use_own_columns
from macroscope.systems.language_model.cache import RollingCache

Integers = NDArray[np.int64]

SLIDING = "sliding_attention"
"""What transformers calls layers with a window of their own, `config.sliding_window` tokens."""


def fuse_activations(model: torch.nn.Module) -> None:
    """Compute GPT-2's GELU in one pass over the numbers where transformers makes eight: the same but for rounding."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, NewGELUActivation):
                setattr(module, name, torch.nn.GELU(approximate="tanh"))


@torch.no_grad()
def require_steps(model: Any, name: str) -> None:
    """Stop where a model, in eval mode, cannot be fed token by token: before it is trained, not hours later.

    Raises
    ------
    MacroscopeError
        Where its layers remember other things than keys and values, or read more from a mask than what they see.
    """
    if isinstance(model, RecurrentLM):
        return
    token, none = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    try:
        decoder = Decoder(model, 3)
        decoder.step(token, none)
        decoder.encode(0, token)
        decoder.step(token, none + 1)
    except Exception as error:  # whatever the code of a model does with a cache or a mask that it does not expect
        raise MacroscopeError(
            f"model {name!r}: models of type {model.config.model_type} cannot be sampled token by token here"
            f" ({type(error).__name__}: {str(error).partition(chr(10))[0]}); take another base, or run it behind a"
            " server (kind: server)"
        ) from None


class StateDecoder:
    """Feeds a model that carries a state one token a row.

    Parameters
    ----------
    model
        In eval mode.
    """

    def __init__(self, model: RecurrentLM) -> None:
        self.model = model
        self.state: tuple[torch.Tensor, ...] = ()

    def step(self, tokens: NDArray[np.int32], cached: Integers) -> torch.Tensor:
        """Feed a token to every row; see `Decoder.step`. A row that was fed nothing before begins anew."""
        fresh = self.model.initial_state(len(tokens))
        new = torch.from_numpy(cached == 0).to(self.model.device)
        old = self.state or fresh
        self.state = tuple(
            torch.where(new.view(-1, *[1] * (part.ndim - 1)), begun, part)
            for part, begun in zip(old, fresh, strict=True)
        )
        inputs = torch.from_numpy(tokens.astype(np.int64)).to(self.model.device)
        logits, self.state = self.model.advance(inputs, self.state)
        return logits

    def encode(self, row: int, tokens: NDArray[np.int32]) -> None:
        """Never needed: a state has no end."""
        raise NotImplementedError

    def copy_row(self, source: int, target: int, cached: int) -> None:
        """Let a row know what another one does; see `Decoder.copy_row`."""
        for part in self.state:
            part[target] = part[source]


class Decoder:
    """Feeds a causal model of transformers one token a row.

    Parameters
    ----------
    model
        In eval mode.
    columns
        Tokens that one step attends to at most, the new one included.
    """

    def __init__(self, model: Any, columns: int) -> None:
        self.model, self.columns = model, columns
        self.backbone = getattr(model, model.base_model_prefix, model)
        self.cache = RollingCache(model.config.num_hidden_layers, columns)

    def speed_up(self) -> "Decoder":
        """Change parts of the model for faster ones of the same results but for rounding; return the decoder."""
        use_own_columns(self.backbone)
        fuse_activations(self.backbone)
        return self

    def step(self, tokens: NDArray[np.int32], cached: Integers) -> torch.Tensor:
        """Feed a token to every row.

        Parameters
        ----------
        tokens
            One a row.
        cached
            Tokens that each row was fed before and still sees; less than `columns`.

        Returns
        -------
        tensor, rows x vocabulary: logits of the next token.
        """
        device = self.model.device
        return self.model(
            input_ids=torch.from_numpy(tokens.astype(np.int64))[:, None].to(device),
            attention_mask=self._masks(cached + 1),
            position_ids=torch.from_numpy(cached.astype(np.int64))[:, None].to(device),
            past_key_values=self.cache,
            use_cache=True,
        ).logits[:, -1]

    def encode(self, row: int, tokens: NDArray[np.int32]) -> None:
        """Let a row see some tokens and nothing else, as if it had been fed them.

        One row at a time, at a length that is always the same, for the sake of the same arithmetic in every batch.
        """
        if len(tokens) == 0:
            return
        encoded = DynamicCache()
        inputs = torch.from_numpy(tokens.astype(np.int64))[None].to(self.model.device)
        self.backbone(input_ids=inputs, past_key_values=encoded, use_cache=True)
        self.cache.write_row(row, encoded)

    def copy_row(self, source: int, target: int, cached: int) -> None:
        """Let a row, `target`, see what another one does: `cached` tokens."""
        self.cache.copy_row(source, target, cached)

    def _masks(self, lengths: Integers) -> torch.Tensor | dict[str, torch.Tensor]:
        """Mask of all layers, or one for each kind: some see the last tokens alone, as Mistral's and Gemma's do."""
        config, mask = self.model.config, self._mask(lengths)
        window, kinds = getattr(config, "sliding_window", None), getattr(config, "layer_types", None)
        if not window or window >= self.columns or (kinds and SLIDING not in kinds):
            return mask
        near = self._mask(np.minimum(lengths, window))
        return near if not kinds or set(kinds) == {SLIDING} else {"full_attention": mask, SLIDING: near}

    def _mask(self, lengths: Integers) -> torch.Tensor:
        """Additive mask, rows x 1 x 1 x columns: each row sees its own last columns.

        Four dimensions, so that transformers takes the mask as it is. A two-dimensional one it leaves out where all
        rows happen to be full, and the arithmetic of a row would depend on the others again.
        """
        dtype, device = self.model.dtype, self.model.device
        hidden = torch.arange(self.columns) < self.columns - torch.from_numpy(lengths)[:, None]
        mask = torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min)
        return mask[:, None, None].to(device)

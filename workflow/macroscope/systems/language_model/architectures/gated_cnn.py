"""A gated convolutional language model (Dauphin et al. 2017), without its weight normalisation.

Each layer sees the last k outputs of the one before: h = x + (x * A + a) sigmoid(x * B + b), with the layer norm of x
in place of weight normalisation, which safetensors and resumed training do not agree with.
"""

from typing import Any

import torch
from torch import nn
from torch.nn.functional import glu
from transformers import PretrainedConfig

from macroscope.systems.language_model.architectures.recurrent import RecurrentLM, State


class GatedCnnConfig(PretrainedConfig):
    """Sizes of a gated CNN language model.

    Parameters
    ----------
    vocab_size, hidden_size, num_hidden_layers
        Sizes.
    kernel_size
        k: tokens that one layer sees. All together see num_hidden_layers x (k - 1) + 1.
    dropout
        Before every layer.
    max_position_embeddings
        Tokens of a window in training. Sampling goes on beyond it.
    """

    model_type = "macroscope-gated-cnn"

    def __init__(
        self,
        vocab_size: int = 1024,
        hidden_size: int = 128,
        num_hidden_layers: int = 8,
        kernel_size: int = 4,
        dropout: float = 0.1,
        max_position_embeddings: int = 256,
        **kwargs: Any,
    ) -> None:
        self.vocab_size, self.hidden_size, self.num_hidden_layers = vocab_size, hidden_size, num_hidden_layers
        self.kernel_size, self.dropout = kernel_size, dropout
        self.max_position_embeddings = max_position_embeddings
        super().__init__(**kwargs)


class GatedLayer(nn.Module):
    """One gated convolution with its residual connection; the window ends at the present token."""

    def __init__(self, size: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)
        self.convolution = nn.Conv1d(size, 2 * size, kernel)

    def forward(self, x: torch.Tensor, before: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Go over some tokens.

        Parameters
        ----------
        x
            rows x tokens x size.
        before
            What the convolution read of the k - 1 tokens before: rows x (k - 1) x size.

        Returns
        -------
        output, rows x tokens x size; the last k - 1 inputs of the convolution.
        """
        read = torch.cat([before, self.dropout(self.norm(x))], dim=1)
        gated = glu(self.convolution(read.transpose(1, 2)), dim=1).transpose(1, 2)
        return x + gated, read[:, read.shape[1] - before.shape[1] :]


class GatedCnnForCausalLM(RecurrentLM):
    """A gated convolutional language model."""

    config_class = GatedCnnConfig

    def __init__(self, config: GatedCnnConfig) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.network = nn.ModuleList(
            GatedLayer(config.hidden_size, config.kernel_size, config.dropout) for _ in range(config.num_hidden_layers)
        )
        self.norm = nn.LayerNorm(config.hidden_size)
        self.output = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.1)
        elif isinstance(module, nn.Linear | nn.Conv1d):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

    def hidden_states(self, embedded: torch.Tensor) -> torch.Tensor:
        """See `RecurrentLM`."""
        return self._layers(embedded, self.initial_state(len(embedded)))[0]

    def initial_state(self, rows: int) -> State:
        """Inputs of every layer's convolution: zeros, rows x (k - 1) x size each."""
        shape = (rows, self.config.kernel_size - 1, self.config.hidden_size)
        layers = self.config.num_hidden_layers
        return tuple(torch.zeros(shape, device=self.device, dtype=self.dtype) for _ in range(layers))

    def advance_hidden(self, embedded: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """See `RecurrentLM`."""
        hidden, state = self._layers(embedded[:, None], state)
        return hidden[:, 0], state

    def _layers(self, x: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        after = []
        for layer, before in zip(self.network, state, strict=True):
            x, last = layer(x, before)
            after.append(last)
        return self.norm(x), tuple(after)

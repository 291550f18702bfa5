"""Recurrent models, which carry a state from token to token: their base class, and an LSTM.

The LSTM (Hochreiter and Schmidhuber 1997) of meister2021 has three layers.
"""

from abc import abstractmethod
from typing import Any

import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

State = tuple[torch.Tensor, ...]
"""State of a batch: tensors whose first axis is the row."""


class RecurrentLM(PreTrainedModel):
    """A causal language model that predicts the next token from a state that summarises all earlier tokens."""

    base_model_prefix = "network"
    embedding: nn.Embedding
    output: nn.Module

    @abstractmethod
    def hidden_states(self, embedded: torch.Tensor) -> torch.Tensor:
        """Compute the inputs of the output layer from the embedded tokens of whole windows (rows x tokens x size)."""

    @abstractmethod
    def initial_state(self, rows: int) -> State:
        """Return the state before the first token."""

    @abstractmethod
    def advance_hidden(self, embedded: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """Process one embedded token per row (rows x size); return the output layer's inputs and the next state."""

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor | None = None, **kwargs: Any) -> CausalLMOutput:
        """Compute the logits of the next token at every position of each window, and the loss if labels are given."""
        logits = self.output(self.hidden_states(self.embedding(input_ids)))
        for name in ("use_cache", "attention_mask"):
            kwargs.pop(name, None)
        loss = None
        if labels is not None:
            loss = self.loss_function(logits=logits, labels=labels, vocab_size=self.config.vocab_size, **kwargs)
        return CausalLMOutput(loss=loss, logits=logits)

    def advance(self, tokens: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """Feed one token per row; return the logits of the next token (rows x vocabulary) and the state."""
        hidden, state = self.advance_hidden(self.embedding(tokens), state)
        return self.output(hidden), state


class LstmConfig(PretrainedConfig):
    """Sizes of an LSTM language model.

    Parameters
    ----------
    vocab_size, embedding_size, hidden_size, num_hidden_layers
        Sizes.
    dropout
        Dropout between the layers, before the first, and after the last.
    max_position_embeddings
        Number of tokens of a training window. Sampling continues beyond it, because the state has no limit.
    """

    model_type = "macroscope-lstm"

    def __init__(
        self,
        vocab_size: int = 1024,
        embedding_size: int = 128,
        hidden_size: int = 256,
        num_hidden_layers: int = 3,
        dropout: float = 0.1,
        max_position_embeddings: int = 256,
        **kwargs: Any,
    ) -> None:
        self.vocab_size, self.embedding_size, self.hidden_size = vocab_size, embedding_size, hidden_size
        self.num_hidden_layers, self.dropout = num_hidden_layers, dropout
        self.max_position_embeddings = max_position_embeddings
        super().__init__(**kwargs)


class LstmForCausalLM(RecurrentLM):
    """An LSTM language model."""

    config_class = LstmConfig

    def __init__(self, config: LstmConfig) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(config.vocab_size, config.embedding_size)
        self.dropout = nn.Dropout(config.dropout)
        self.network = nn.LSTM(
            config.embedding_size,
            config.hidden_size,
            config.num_hidden_layers,
            batch_first=True,
            dropout=config.dropout if config.num_hidden_layers > 1 else 0.0,
        )
        self.output = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Initialise recurrences orthogonally and forget gates open: small random values make training start slowly."""
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight)
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LSTM):
            size = module.hidden_size
            for name, parameter in module.named_parameters():
                if name.startswith("weight_hh"):
                    nn.init.orthogonal_(parameter)
                elif name.startswith("weight_ih"):
                    nn.init.xavier_uniform_(parameter)
                else:
                    nn.init.zeros_(parameter)
                if name.startswith("bias_ih"):
                    nn.init.ones_(parameter[size : 2 * size])

    def hidden_states(self, embedded: torch.Tensor) -> torch.Tensor:
        """Compute the inputs of the output layer; see `RecurrentLM`."""
        return self.dropout(self.network(self.dropout(embedded))[0])

    def initial_state(self, rows: int) -> State:
        """Return zeros as hidden and cell state: rows x layers x size each."""
        shape = (rows, self.config.num_hidden_layers, self.config.hidden_size)
        return tuple(torch.zeros(shape, device=self.device, dtype=self.dtype) for _ in range(2))

    def advance_hidden(self, embedded: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """Process one token per row; see `RecurrentLM`."""
        hidden, cell = (part.transpose(0, 1).contiguous() for part in state)
        output, (hidden, cell) = self.network(embedded[:, None], (hidden, cell))
        return output[:, 0], (hidden.transpose(0, 1), cell.transpose(0, 1))

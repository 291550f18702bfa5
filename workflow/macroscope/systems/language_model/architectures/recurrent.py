"""What models have in common that carry a state from token to token."""

from abc import abstractmethod
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

State = tuple[torch.Tensor, ...]
"""Tensors whose first axis is the row."""


class RecurrentLM(PreTrainedModel):
    """A causal language model that predicts a token from a state, which holds all that it knows of those before."""

    base_model_prefix = "network"
    embedding: nn.Embedding
    output: nn.Module

    @abstractmethod
    def hidden_states(self, embedded: torch.Tensor) -> torch.Tensor:
        """From the embedded tokens of whole windows (rows x tokens x size) to what the output layer reads."""

    @abstractmethod
    def initial_state(self, rows: int) -> State:
        """State before the first token."""

    @abstractmethod
    def advance_hidden(self, embedded: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """One token a row (rows x size): what the output layer reads, and the next state."""

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor | None = None, **kwargs: Any) -> CausalLMOutput:
        """Logits of the next token at every place of each window, and the loss where labels are given."""
        logits = self.output(self.hidden_states(self.embedding(input_ids)))
        for name in ("use_cache", "attention_mask"):
            kwargs.pop(name, None)
        loss = None
        if labels is not None:
            loss = self.loss_function(logits=logits, labels=labels, vocab_size=self.config.vocab_size, **kwargs)
        return CausalLMOutput(loss=loss, logits=logits)

    def advance(self, tokens: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """Feed one token a row; returns the logits of the next (rows x vocabulary), and the state."""
        hidden, state = self.advance_hidden(self.embedding(tokens), state)
        return self.output(hidden), state

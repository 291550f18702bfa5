"""Base class of models that carry a state from token to token."""

from abc import abstractmethod
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel
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

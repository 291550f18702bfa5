"""An LSTM language model (Hochreiter and Schmidhuber 1997); that of meister2021 has three layers."""

from typing import Any

import torch
from torch import nn
from transformers import PretrainedConfig

from macroscope.systems.language_model.architectures.recurrent import RecurrentLM, State


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

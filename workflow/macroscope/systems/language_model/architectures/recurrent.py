"""Models that carry a state from token to token: their base class, an LSTM, and a gated convolutional model.

The LSTM (Hochreiter and Schmidhuber 1997) of meister2021 has three layers.

In the gated convolutional model (Dauphin et al. 2017), each layer computes (x * A + a) sigmoid(x * B + b) from the last
k outputs x of the previous layer, and adds x. As published, the weights are normalised (Salimans and Kingma 2016): the
weight of each output is g v / |v|, with a learnt length g and direction v. As in fairseq, which meister2021 used, the
sum is scaled by sqrt(1/2), so that it does not grow with depth, and the initial variance of the weights compensates for
the gates. With `normalisation: layer`, there is a layer norm of x instead.
"""

from abc import abstractmethod
from math import sqrt
from typing import Any, Literal

import torch
from torch import nn
from torch.nn.functional import conv1d, glu, linear
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


class GatedCnnConfig(PretrainedConfig):
    """Sizes of a gated CNN language model.

    Parameters
    ----------
    vocab_size, hidden_size, num_hidden_layers
        Sizes.
    kernel_size
        k, the number of tokens that a layer sees. All layers together see num_hidden_layers x (k - 1) + 1 tokens.
    dropout
        Dropout before every layer.
    normalisation
        weight: normalised weights of every layer and of the output, as published. layer: layer norm before every layer
        and before the output.
    max_position_embeddings
        Number of tokens of a training window. Sampling continues beyond it.
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
        normalisation: Literal["weight", "layer"] = "weight",
        **kwargs: Any,
    ) -> None:
        self.normalisation = normalisation
        self.vocab_size, self.hidden_size, self.num_hidden_layers = vocab_size, hidden_size, num_hidden_layers
        self.kernel_size, self.dropout = kernel_size, dropout
        self.max_position_embeddings = max_position_embeddings
        super().__init__(**kwargs)


class NormedWeight(nn.Module):
    """A weight g v / |v| with one length per output.

    The parameters are plain ones, so that saved models contain them unchanged.

    Parameters
    ----------
    outputs, shape
        Shape of the weight: outputs x shape.
    """

    def __init__(self, outputs: int, *shape: int) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.empty(outputs, *shape))
        self.length = nn.Parameter(torch.empty(outputs, *[1] * len(shape)))
        self.bias = nn.Parameter(torch.empty(outputs))

    def begin(self, deviation: float) -> None:
        """Draw the initial weight with a standard deviation, as if it were not normalised."""
        nn.init.normal_(self.direction, std=deviation)
        nn.init.zeros_(self.bias)
        with torch.no_grad():
            self.length.copy_(self._norm())

    def forward(self) -> torch.Tensor:
        """Return the weight."""
        return self.length * self.direction / self._norm()

    def _norm(self) -> torch.Tensor:
        return self.direction.flatten(1).norm(dim=1).view_as(self.length)


class GatedLayer(nn.Module):
    """One gated convolution with its residual connection; the window ends at the present token."""

    def __init__(self, config: GatedCnnConfig) -> None:
        super().__init__()
        size, kernel = config.hidden_size, config.kernel_size
        self.dropout = nn.Dropout(config.dropout)
        self.weight_normed = config.normalisation == "weight"
        self.norm = nn.Identity() if self.weight_normed else nn.LayerNorm(size)
        self.convolution = (
            NormedWeight(2 * size, size, kernel) if self.weight_normed else nn.Conv1d(size, 2 * size, kernel)
        )

    def forward(self, x: torch.Tensor, before: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Process consecutive tokens.

        Parameters
        ----------
        x
            Inputs: rows x tokens x size.
        before
            Inputs of the convolution at the k - 1 tokens before: rows x (k - 1) x size.

        Returns
        -------
        output, rows x tokens x size; the last k - 1 inputs of the convolution
        """
        inputs = torch.cat([before, self.dropout(self.norm(x))], dim=1)
        rows = inputs.transpose(1, 2)
        weight = self.convolution
        convolved = conv1d(rows, weight(), weight.bias) if isinstance(weight, NormedWeight) else weight(rows)
        added = x + glu(convolved, dim=1).transpose(1, 2)
        return added * sqrt(0.5) if self.weight_normed else added, inputs[:, inputs.shape[1] - before.shape[1] :]


class NormedLinear(nn.Module):
    """Output layer with normalised weights."""

    def __init__(self, config: GatedCnnConfig) -> None:
        super().__init__()
        self.weight = NormedWeight(config.vocab_size, config.hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map ... x size to ... x vocabulary."""
        return linear(x, self.weight(), self.weight.bias)


class GatedCnnForCausalLM(RecurrentLM):
    """A gated convolutional language model."""

    config_class = GatedCnnConfig

    def __init__(self, config: GatedCnnConfig) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.network = nn.ModuleList(GatedLayer(config) for _ in range(config.num_hidden_layers))
        normed = config.normalisation == "weight"
        self.norm = nn.Identity() if normed else nn.LayerNorm(config.hidden_size)
        self.output = NormedLinear(config) if normed else nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.1)
        elif isinstance(module, NormedWeight):
            # A gate halves a signal, which divides its variance by four.
            gates = 4 if module.direction.ndim == 3 else 1
            module.begin(sqrt(gates * (1 - self.config.dropout) / module.direction[0].numel()))
        elif isinstance(module, nn.Linear | nn.Conv1d):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

    def hidden_states(self, embedded: torch.Tensor) -> torch.Tensor:
        return self._layers(embedded, self.initial_state(len(embedded)))[0]

    def initial_state(self, rows: int) -> State:
        """Return zeros as the earlier inputs of every layer's convolution: rows x (k - 1) x size each."""
        shape = (rows, self.config.kernel_size - 1, self.config.hidden_size)
        layers = self.config.num_hidden_layers
        return tuple(torch.zeros(shape, device=self.device, dtype=self.dtype) for _ in range(layers))

    def advance_hidden(self, embedded: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        """Process one token per row; see `RecurrentLM`."""
        hidden, state = self._layers(embedded[:, None], state)
        return hidden[:, 0], state

    def _layers(self, x: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        after = []
        for layer, before in zip(self.network, state, strict=True):
            x, last = layer(x, before)
            after.append(last)
        return self.norm(x), tuple(after)

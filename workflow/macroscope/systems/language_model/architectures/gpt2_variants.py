"""Variants of GPT-2: an adaptive softmax, and the decoder of fairseq's `transformer_lm` (Ott et al. 2019).

The adaptive softmax (Grave et al. 2017; Baevski and Auli 2019) is for closed vocabularies of words, which must be
numbered by frequency, the most frequent first, as by `tokenizer.train_words`.

Four things differ between GPT-2 and fairseq's decoder: each sum is normalised after it is taken (Vaswani et al. 2017),
positions are sinusoids, embeddings are scaled by the square root of the width, and the initial weights. With
`norm_first`, inputs of layers are normalised instead, and the last sum: fairseq 0.10 did so for this architecture,
whatever the command line said.
"""

from math import sqrt
from typing import Any

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model, GPT2PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.models.gpt2.modeling_gpt2 import GPT2Block

from macroscope.systems.translation.network import Sinusoids

SHRINK = 4.0
"""Factor by which the vectors of each cluster of rarer words are smaller."""


class AdaptiveGpt2Config(GPT2Config):
    """Sizes of a GPT-2 with an adaptive softmax.

    Parameters
    ----------
    cutoffs
        Word numbers at which the clusters of rarer words begin.
    kwargs
        Sizes of GPT-2.
    """

    model_type = "macroscope-adaptive-gpt2"

    def __init__(self, cutoffs: tuple[int, ...] = (500, 2000), **kwargs: Any) -> None:
        self.cutoffs = list(cutoffs)
        super().__init__(**kwargs)


class AdaptiveGpt2ForCausalLM(GPT2PreTrainedModel):
    """A GPT-2 with an adaptive softmax."""

    config_class = AdaptiveGpt2Config

    def __init__(self, config: AdaptiveGpt2Config) -> None:
        super().__init__(config)
        self.transformer = GPT2Model(config)
        cutoffs = [cutoff for cutoff in config.cutoffs if cutoff < config.vocab_size]
        self.output = nn.AdaptiveLogSoftmaxWithLoss(config.n_embd, config.vocab_size, cutoffs, div_value=SHRINK)
        self.post_init()

    def forward(
        self,
        input_ids: torch.Tensor,
        labels: torch.Tensor | None = None,
        num_items_in_batch: torch.Tensor | int | None = None,
        **kwargs: Any,
    ) -> CausalLMOutputWithPast:
        """Compute the log-probabilities of the next token as logits, or, given labels, only the loss."""
        output = self.transformer(input_ids, **kwargs)
        hidden = output.last_hidden_state
        if labels is None:
            logs = self.output.log_prob(hidden.flatten(0, 1)).view(*hidden.shape[:2], -1)
            return CausalLMOutputWithPast(logits=logs, past_key_values=output.past_key_values)
        counted = labels[:, 1:] != -100
        logs = self.output(hidden[:, :-1][counted], labels[:, 1:][counted]).output
        total = counted.sum() if num_items_in_batch is None else num_items_in_batch
        return CausalLMOutputWithPast(loss=-logs.sum() / total)


class FairseqConfig(GPT2Config):
    """Sizes of a decoder of fairseq.

    Parameters
    ----------
    norm_first
        Whether the inputs of each layer are normalised in place of its sums.
    kwargs
        Sizes of GPT-2.
    """

    model_type = "macroscope-fairseq"

    def __init__(self, norm_first: bool = False, **kwargs: Any) -> None:
        self.norm_first = norm_first
        super().__init__(**kwargs)


class ScaledEmbedding(nn.Embedding):
    """Embedding of tokens that is scaled by the square root of the width; the output layer shares the unscaled one."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Embed tokens: ... -> ... x width."""
        return super().forward(input) * sqrt(self.embedding_dim)


class NormLastBlock(GPT2Block):
    """A block of GPT-2 whose sums are normalised after they are taken."""

    def forward(self, hidden_states: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Process rows x tokens x width; the other arguments are those of `GPT2Block`."""
        past_key_values, attention_mask, *_ = args
        kwargs.pop("encoder_attention_mask", None)
        attended, _ = self.attn(hidden_states, past_key_values=past_key_values, attention_mask=attention_mask, **kwargs)
        hidden_states = self.ln_1(hidden_states + attended)
        return self.ln_2(hidden_states + self.mlp(hidden_states))


def set_initial_weights(decoder: Any) -> None:
    """Set the weights of embeddings, attentions and hidden layers as fairseq does before a training."""
    width = decoder.config.n_embd
    nn.init.normal_(decoder.wte.weight, std=width**-0.5)
    for block in decoder.h:
        attention = block.attn
        # Queries, keys and values stand side by side; each is a layer of its own in fairseq.
        for part in attention.c_attn.weight.split(width, dim=1):
            nn.init.xavier_uniform_(part, gain=sqrt(0.5))
        nn.init.uniform_(attention.c_attn.bias, -(width**-0.5), width**-0.5)
        nn.init.xavier_uniform_(attention.c_proj.weight)
        for layer in (block.mlp.c_fc, block.mlp.c_proj):
            bound = len(layer.weight) ** -0.5
            nn.init.uniform_(layer.weight, -bound, bound)
            nn.init.uniform_(layer.bias, -bound, bound)


class FairseqModel(GPT2Model):
    """The decoder of fairseq, without its output layer."""

    config_class = FairseqConfig

    def __init__(self, config: FairseqConfig) -> None:
        super().__init__(config)
        self.wte = ScaledEmbedding(config.vocab_size, config.n_embd)
        self.wpe = Sinusoids(config.n_embd)  # type: ignore[assignment]
        if not config.norm_first:
            self.h = nn.ModuleList(NormLastBlock(config, layer_idx=i) for i in range(config.n_layer))
            self.ln_f = nn.Identity()  # type: ignore[assignment]
        self.post_init()
        set_initial_weights(self)


class FairseqForCausalLM(GPT2LMHeadModel):
    """A language model with the decoder of fairseq."""

    config_class = FairseqConfig

    def __init__(self, config: FairseqConfig) -> None:
        super().__init__(config)
        self.transformer = FairseqModel(config)
        self.post_init()

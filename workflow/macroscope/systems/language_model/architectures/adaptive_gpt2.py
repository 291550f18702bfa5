"""A GPT-2 with an adaptive softmax (Grave et al. 2017; Baevski and Auli 2019), for closed vocabularies of words.

Words must be numbered by frequency, the most frequent first, as by `tokenizer.train_words`.
"""

from typing import Any

import torch
from torch import nn
from transformers import GPT2Config, GPT2Model, GPT2PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

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

"""Encoders of which only the first token's vector is looked at, as by a classification head."""

from typing import Any

import torch

_BUILT_AS_BERT = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra"})


def only_first_token(model: Any) -> None:
    """Let the last layer compute what follows its attention for the first token alone, in an encoder built as BERT is.

    That is most of a layer, and of what it gives the heads of these models read the first token's vector alone. Other
    models stay as they are.
    """
    if model.config.model_type in _BUILT_AS_BERT:
        model.base_model.encoder.layer[-1].attention.output.register_forward_pre_hook(_first)


def _first(_: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """What attention gives, and what is added to it (texts x tokens x width)."""
    return tuple(states[:, :1] for states in inputs)

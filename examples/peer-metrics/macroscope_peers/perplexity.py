"""Perplexity of a text under a causal language model (Jelinek, Mercer, Bahl and Baker 1977).

The model is the user's: a short name of `resources/models.yaml`, a name of the hub, or a folder.
"""

import math
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

from macroscope.documents import Collection
from macroscope.pretrained import load_pretrained_encoder
from macroscope_peers.numbers import numbers_schema, write_numbers
from macroscope_peers.options import PerplexityOptions

LATENTS = numbers_schema("nll_per_token")


def project(texts: Collection, *, options: PerplexityOptions, signature: str, output: Path) -> None:
    """Write the mean negative log-likelihood of every text, in nats per token after the first one."""
    model, tokenizer = load_pretrained_encoder(options.model, AutoModelForCausalLM)

    def measure(text: str) -> float:
        tokens = torch.tensor([tokenizer(text, truncation=True, max_length=options.max_tokens)["input_ids"]])
        if tokens.shape[1] < 2:
            return math.nan
        with torch.inference_mode():
            return float(model(input_ids=tokens.to(model.device), labels=tokens.to(model.device)).loss)

    write_numbers(texts, LATENTS, lambda document: [measure(document.text)], signature, output)

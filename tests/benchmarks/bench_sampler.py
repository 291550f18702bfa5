"""Sampling: tokens/s against transformers.generate in batch, and against one document at a time without a cache.

The model has random weights and ends a document with a known probability, so that documents have geometric lengths as
real samples do: short ones finish early, which is where a fixed batch loses.
"""

import os
from collections import deque

import torch
from _report import say, seconds
from transformers import GPT2Config, GPT2LMHeadModel

from macroscope.systems.language_model.options import Ancestral
from macroscope.systems.language_model.sampler import Request
from macroscope.systems.language_model.token_sampler import TokenSampler

VOCABULARY, CONTEXT, BATCH, SAMPLES, MEAN_TOKENS = 1024, 256, 32, 96, 200
LONG_TOKENS = 500
THREADS = os.cpu_count() or 1


def model(mean_tokens: float) -> GPT2LMHeadModel:
    """A GPT-2 whose every next token is the boundary with probability 1 / mean_tokens."""
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=VOCABULARY, n_positions=CONTEXT, n_embd=128, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0
    )
    network = GPT2LMHeadModel(config).eval()
    wanted = torch.log(torch.tensor(VOCABULARY / mean_tokens))
    original = network.forward

    def forward(*arguments, **options):
        output = original(*arguments, **options)
        output.logits[..., 0] = (
            output.logits[..., 1:].logsumexp(-1) - torch.log(torch.tensor(VOCABULARY - 1.0)) + wanted
        )
        return output

    network.forward = forward
    return network


def ours(network, samples, max_tokens, stride=CONTEXT // 2):
    """Tokens drawn by the sampler."""
    sampler = TokenSampler(
        network, 0, context=CONTEXT, stride=stride, batch_size=BATCH, max_tokens=max_tokens,
        decoding=Ancestral(rule="ancestral"), seed=1, stream="bench",
    )  # fmt: skip
    return sum(len(draw.tokens) + 1 for draw in sampler.run(deque(Request(i) for i in range(samples))))


def generate(network, samples, max_tokens):
    """Tokens drawn by transformers.generate in fixed batches, as many as a document has; padding does not count."""
    drawn = 0
    for start in range(0, samples, BATCH):
        rows = min(BATCH, samples - start)
        output = network.generate(
            torch.zeros((rows, 1), dtype=torch.long), attention_mask=torch.ones((rows, 1), dtype=torch.long),
            do_sample=True, top_k=0, max_new_tokens=max_tokens, pad_token_id=1023, eos_token_id=0,
        )  # fmt: skip
        for row in output[:, 1:]:
            ends = (row == 0).nonzero()
            drawn += int(ends[0]) + 1 if len(ends) else max_tokens
    return drawn


@torch.inference_mode()
def papers_way(network, samples, tokens):
    """deng2022's loop: one document at a time; beyond the window the last tokens are read again for each new one."""
    for _ in range(samples):
        sequence = [0]
        cache, read = None, 0
        while len(sequence) <= tokens:
            if len(sequence) < CONTEXT:
                output = network(torch.tensor([sequence[read:]]), past_key_values=cache, use_cache=True)
                cache, read = output.past_key_values, len(sequence)
            else:
                output = network(torch.tensor([sequence[-(CONTEXT - 1) :]]), use_cache=False)
            probabilities = output.logits[0, -1].softmax(-1)
            probabilities[0] = 0
            sequence.append(int(torch.multinomial(probabilities, 1)))
    return samples * tokens


def main() -> None:
    """Print tokens/s of all three."""
    torch.set_num_threads(THREADS)
    counts = {}

    def timed(name, function, *arguments):
        taken = seconds(lambda: counts.__setitem__(name, function(*arguments)))
        return counts[name] / taken

    network = model(MEAN_TOKENS)
    timed("warm", ours, network, 8, 20)
    mine = timed("ours", ours, network, SAMPLES, CONTEXT - 2)
    peer = timed("generate", generate, network, SAMPLES, CONTEXT - 2)
    say("tokens/s within the window", f"{mine:,.0f}", f"{peer:,.0f}", mine / peer, "> 1: generate in batch")
    endless = model(1e9)
    mine = timed("long", ours, endless, BATCH, LONG_TOKENS)
    paper = timed("paper", papers_way, endless, 1, LONG_TOKENS)
    say("tokens/s beyond the window", f"{mine:,.0f}", f"{paper:,.0f}", mine / paper, "10: the paper's way")


if __name__ == "__main__":
    main()

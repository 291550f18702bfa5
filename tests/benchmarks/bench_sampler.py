"""Sampling: tokens/s against transformers.generate in batch, and against one document at a time without a cache; beam
sampling against beam search with sampling of transformers.

The model has random weights and ends a document with a known probability, so that documents have geometric lengths as
real samples do: short ones finish early, which is where a fixed batch loses.
"""

import os
from collections import deque

import torch
from _report import say, seconds
from transformers import GPT2Config, GPT2LMHeadModel

from macroscope.systems.language_model.beam_sampler import BeamSampler
from macroscope.systems.language_model.options import Ancestral, BeamSampling
from macroscope.systems.language_model.sampler import Request, TokenSampler

VOCABULARY, CONTEXT, BATCH, SAMPLES, MEAN_TOKENS = 1024, 256, 32, 96, 200
LONG_TOKENS = 500
BEAMS = 4
TURNS = 3
"""Of each, of which the best counts: what else the machine does comes and goes."""
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


def our_beams(network, samples, tokens):
    """Tokens of the samples of stochastic beams, all of the same length."""
    sampler = BeamSampler(
        network, 0, context=CONTEXT, stride=CONTEXT // 2, batch_size=BATCH, max_tokens=tokens,
        decoding=BeamSampling(rule="beam_sampling", beams=BEAMS), seed=1, stream="bench",
    )  # fmt: skip
    return sum(len(draw.tokens) for draw in sampler.run(deque(Request(i) for i in range(samples))))


def generate_beams(network, samples, tokens):
    """Tokens of as many samples from beam search with sampling, in as many rows; sums of log-probabilities compete."""
    rows = BATCH // BEAMS
    for _ in range(0, samples, rows):
        network.generate(
            torch.zeros((rows, 1), dtype=torch.long), attention_mask=torch.ones((rows, 1), dtype=torch.long),
            do_sample=True, num_beams=BEAMS, top_k=0, max_new_tokens=tokens, pad_token_id=1023, eos_token_id=0,
            length_penalty=0.0, early_stopping="never",
        )  # fmt: skip
    return samples * tokens


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
    """Print tokens/s of each and its reference; each has its own model, as sampling changes a model's attention."""
    torch.set_num_threads(THREADS)
    counts = {}

    def timed(function, *arguments):
        taken = seconds(lambda: counts.__setitem__(function, function(*arguments)))
        return counts[function] / taken

    def compare(name, goal, mine, peer):
        turns = [(timed(*mine), timed(*peer)) for _ in range(TURNS)]
        ours, reference = (max(rates) for rates in zip(*turns, strict=True))
        say(f"tokens/s {name}", f"{ours:,.0f}", f"{reference:,.0f}", ours / reference, goal)

    ending, endless = (lambda: model(MEAN_TOKENS)), (lambda: model(1e9))
    ours(ending(), 8, 20)
    within = SAMPLES, CONTEXT - 2
    compare("within the window", "2: generate in batch", (ours, ending(), *within), (generate, ending(), *within))
    mine, paper = (ours, endless(), BATCH, LONG_TOKENS), (papers_way, endless(), 1, LONG_TOKENS)
    compare("beyond the window", "10: the paper's way", mine, paper)
    beams = BATCH // BEAMS * 2, CONTEXT - 2
    compare("of beams", "2: generate's beams", (our_beams, endless(), *beams), (generate_beams, endless(), *beams))


if __name__ == "__main__":
    main()

"""Log-probabilities of a language model's samples under the model: the true log q(w) of pimentel2022, Figure 1."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from macroscope.documents import Document, in_batches, read_documents, read_provenance, require_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.progress import progress
from macroscope.systems.formats import format_training_text, read_training_texts
from macroscope.systems.language_model.model import context_window, load_model
from macroscope.systems.language_model.options import Ancestral, LanguageModelSystem
from macroscope.systems.language_model.sampler import Sampler, Window
from macroscope.systems.language_model.sampling import make_sampler
from macroscope.systems.language_model.training import encode_texts
from macroscope.systems.prompts import EncodedPrompt, Prompt, read_encoded_prompts
from macroscope.systems.rejection_sampling import parse_sample_number
from macroscope.systems.tokenizer import boundary_id, end_ids
from macroscope.training import use_threads

WINDOWS_PER_BATCH = 8
WHOLE = np.zeros(1, dtype=np.int64)
"""Beginnings of the parts of a stream of one part."""


def measure_perplexity(
    documents: Path, model: Path, output: Path, options: LanguageModelSystem, *, split: str, threads: int = 1
) -> None:
    """Measure the negative log-likelihood of every document of a split.

    As in training, the documents are joined by the boundary token and cut into windows of the context length, all
    together or each by itself. A token is predicted only from the tokens before it in its window. The tokens of a
    document are those of its training text (W/ Title: including titles) and the boundary token after it; its words are
    those of its training text, split at white space.

    Writes
    ------
    id; nll (nats); tokens; words. The perplexity per token is exp(sum nll / sum tokens), per word
    exp(sum nll / sum words).
    """
    use_threads(threads)
    network, tokenizer = load_model(model)
    boundary = boundary_id(tokenizer)
    encoded = list(encode_texts(read_training_texts(documents, split, options.titles), tokenizer, boundary))
    lengths = np.array([len(tokens) for _, tokens in encoded])
    stream = np.concatenate([[boundary], *(tokens for _, tokens in encoded)])
    starts = np.cumsum(lengths) - lengths
    parts = starts if options.training and options.training.windows == "documents" else starts[:1]
    nll = token_nll(network, stream, context_window(network.config, options.context), parts)
    table = pd.DataFrame(
        {
            "id": [document.id for document in read_documents(documents, split)],
            "nll": np.add.reduceat(nll, starts),
            "tokens": lengths,
            "words": [len(text.split()) for text, _ in encoded],
        }
    )
    with atomic(output) as temporary:
        table.to_parquet(temporary, index=False)


def token_nll(
    model: Any, stream: NDArray[np.int64], context: int, parts: NDArray[np.int64] = WHOLE
) -> NDArray[np.float64]:
    """Compute -log P of each token of a stream but the first, in nats.

    Parameters
    ----------
    stream
        n tokens.
    context
        Number of tokens of a window. Windows overlap by one token, so that each predicts `context` - 1 tokens.
    parts
        Positions at which a new part begins, the first of them 0; windows do not cross the bounds of parts.

    Returns
    -------
    array of n - 1 values
    """
    nll = np.empty(len(stream) - 1)
    ends = [*parts[1:].tolist(), len(nll)]
    spans = [
        (start, min(start + context - 1, end))
        for part, end in zip(parts.tolist(), ends, strict=True)
        for start in range(part, end, context - 1)
    ]
    batches = [spans[i : i + WINDOWS_PER_BATCH] for i in range(0, len(spans), WINDOWS_PER_BATCH)]
    for batch in progress(batches, "measure perplexity", unit="batches"):
        windows = np.full((len(batch), context), stream[0])
        for row, (start, stop) in enumerate(batch):
            windows[row, : stop - start + 1] = stream[start : stop + 1]
        batch_nll = window_nll(model, windows)
        for row, (start, stop) in enumerate(batch):
            nll[start:stop] = batch_nll[row, : stop - start]
    return nll


@torch.inference_mode()
def window_nll(model: Any, windows: NDArray[np.int64], ends: Collection[int] = ()) -> NDArray[np.float64]:
    """Compute -log P, in nats, of each token of each window but the first, given those before it in the window.

    Parameters
    ----------
    windows
        Tokens: rows x n.
    ends
        Tokens that mean the same: any of them has the probability of all.

    Returns
    -------
    array, rows x (n - 1)
    """
    inputs = torch.from_numpy(windows).to(model.device)
    logs = model(input_ids=inputs, use_cache=False).logits[:, :-1].float().log_softmax(-1)
    predicted = logs.gather(-1, inputs[:, 1:, None])[..., 0]
    if len(ends) > 1:
        same = torch.tensor(sorted(ends), device=inputs.device)
        predicted = predicted.where(~torch.isin(inputs[:, 1:], same), logs[..., same].logsumexp(-1))
    return -predicted.double().cpu().numpy()


def measure_log_probabilities(
    samples: Path,
    model: Path,
    output: Path,
    options: LanguageModelSystem,
    *,
    prompts: Path | None = None,
    threads: int = 1,
) -> None:
    """Measure the log-probability of every sample under the distribution that it was sampled from.

    Each token is predicted from the tokens that the sampler saw before it: from the whole document within the context
    window, and beyond it from the sampler's window at that point (`Sampler.windows`). The tokens of a prompt are given
    and do not count. For a sample that was cut, no end is counted, so that the probabilities of all possible samples
    sum to one. An end is the boundary or any control token, since the text is the same. Texts are tokenised again, and
    need not have the same tokens as in sampling.

    Parameters
    ----------
    options
        Options of sampling; the decoding rule must be `ancestral`.
    prompts
        Documents that provide the prompts, as for sampling.

    Writes
    ------
    id; log_probability (nats); tokens, over which it is the sum; prompt_tokens, on which it is conditional; ended,
    whether the end is among the tokens.
    """
    if not isinstance(options.decoding, Ancestral):
        raise MacroscopeError(
            f"decoding: {options.decoding.rule} does not sample the model's own distribution, to which these"
            " log-probabilities belong; use a system with the rule ancestral"
        )
    use_threads(threads)
    documents = require_documents(list(read_documents(samples)), samples, "test")
    cut = set(_read_cut_samples(samples))
    network, tokenizer = load_model(model)
    boundary = boundary_id(tokenizer)
    context = context_window(network.config, options.context)
    sampler = make_sampler(network, boundary, context, options, 0, "", end_ids(tokenizer))
    beginnings = read_encoded_prompts(prompts, options, tokenizer)
    numbers = [parse_sample_number(document.id) for document in documents]
    sample_prompts = [beginnings[number % len(beginnings)] for number in numbers]
    ended = [number not in cut for number in numbers]
    texts = encode_texts(_read_texts(samples, documents, options.titles, sample_prompts), tokenizer, boundary)
    encoded = []
    for (text, (*tokens, end)), prompt, ends in zip(texts, sample_prompts, ended, strict=True):
        sampled = sample_tokens(text, tokens, prompt, tokenizer)
        encoded.append(np.array([boundary, *sampled, end] if ends else [boundary, *sampled]))
    nll = document_nll(sampler, encoded)
    prompt_lengths = np.array([len(prompt.tokens) for prompt in sample_prompts])
    table = pd.DataFrame(
        {
            "id": [document.id for document in documents],
            "log_probability": [-values[start:].sum() for values, start in zip(nll, prompt_lengths, strict=True)],
            "tokens": [len(values) for values in nll] - prompt_lengths,
            "prompt_tokens": prompt_lengths,
            "ended": ended,
        }
    )
    with atomic(output) as temporary:
        table.to_parquet(temporary, index=False)


def document_nll(sampler: Sampler, documents: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float64]]:
    """Compute -log P, in nats, of each token but the first of each document, given the sampler's window.

    Parameters
    ----------
    documents
        Tokens of each document, including the boundary before them.
    """
    nll = [np.empty(len(tokens) - 1) for tokens in documents]
    windows = [(i, window) for i, tokens in enumerate(documents) for window in sampler.windows(len(tokens))]
    # Windows of similar lengths are batched together, which keeps the padding short.
    windows.sort(key=lambda item: item[1].start - item[1].stop)
    batches = list(in_batches(windows, WINDOWS_PER_BATCH))
    for batch in progress(batches, "measure log-probabilities", unit="batches"):
        inputs = _pad([documents[i][window.start : window.stop] for i, window in batch], sampler.boundary)
        for (i, window), nll_of_window in zip(batch, window_nll(sampler.model, inputs, sampler.ends), strict=True):
            nll[i][window.first - 1 : window.stop - 1] = _select_predicted(nll_of_window, window)
    return nll


def sample_tokens(text: str, tokens: Sequence[int], prompt: EncodedPrompt, tokenizer: Any) -> list[int]:
    """Return the tokens of a sample, beginning with exactly the tokens of its prompt.

    Parameters
    ----------
    tokens
        Tokens of the whole text. They begin otherwise if the sample continues the last word of its prompt.
    """
    length = len(prompt.tokens)
    if tuple(tokens[:length]) == prompt.tokens:
        return list(tokens)
    rest = tokenizer(text[len(prompt.text) :], add_special_tokens=False, verbose=False)["input_ids"]
    return [*prompt.tokens, *rest]


def _pad(windows: Sequence[NDArray[np.int64]], boundary: int) -> NDArray[np.int64]:
    """Pad windows to one array; padding after a window does not change the predictions in it."""
    padded = np.full((len(windows), max(map(len, windows))), boundary, dtype=np.int64)
    for row, window in enumerate(windows):
        padded[row, : len(window)] = window
    return padded


def _select_predicted(nll: NDArray[np.float64], window: Window) -> NDArray[np.float64]:
    return nll[window.first - window.start - 1 : window.stop - window.start - 1]


def _read_cut_samples(samples: Path) -> list[int]:
    source = read_provenance(samples).source
    if "cut_samples" not in source:
        raise MacroscopeError(
            f"{samples}: the metadata do not say which samples were cut; give samples of a language model, or sample"
            " again if these are from an earlier version"
        )
    return list(source["cut_samples"])


def _read_texts(samples: Path, documents: Sequence[Document], titles: bool, prompts: Sequence[Prompt]) -> list[str]:
    texts = [format_training_text(document, titles) for document in documents]
    for document, text, prompt in zip(documents, texts, prompts, strict=True):
        if not text.startswith(prompt.text):
            raise MacroscopeError(
                f"{samples}, sample {document.id!r}: it does not begin with the prompt from document"
                f" {prompt.document!r}; give the documents that provided the prompts when sampling"
            )
    return texts

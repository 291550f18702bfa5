"""Perplexity of a language model on held-out documents."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from macroscope.documents import read_documents
from macroscope.files import atomic
from macroscope.progress import progress
from macroscope.systems.formats import read_training_texts
from macroscope.systems.language_model.model import context_window, load_model
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.language_model.stream import encode_texts
from macroscope.systems.tokenizer import boundary_id
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

"""The log-probability that a language model gives to its own samples: the true log q(w) of pimentel2022, Figure 1."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.documents import Document, in_batches, read_documents, read_provenance, require_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.progress import progress
from macroscope.systems.formats import training_text
from macroscope.systems.language_model.model import context_window, load_model
from macroscope.systems.language_model.options import Ancestral, LanguageModelSystem
from macroscope.systems.language_model.perplexity import WINDOWS_PER_BATCH, window_nll
from macroscope.systems.language_model.prompts import EncodedPrompt, encode_prompts
from macroscope.systems.language_model.sampler import Sampler, Window
from macroscope.systems.language_model.sampling import make_sampler, sample_number
from macroscope.systems.language_model.stream import encode_texts
from macroscope.systems.prompts import Prompt, read_prompts
from macroscope.systems.tokenizer import boundary_id
from macroscope.training import use_threads


def measure_log_probabilities(
    samples: Path,
    model: Path,
    output: Path,
    options: LanguageModelSystem,
    *,
    prompts: Path | None = None,
    threads: int = 1,
) -> None:
    """Log-probability of every sample under the distribution that it was drawn from.

    Each token is predicted from what the sampler saw before it: within the context window, from the whole document;
    beyond it, from the window that the sampler had there (`Sampler.windows`). Where there are prompts, the tokens of
    the prompt are given and not counted. A sample that was cut has no end, and none is counted: so the probabilities of
    all that can be drawn sum to one. Texts are tokenised anew, which need not give the tokens that were drawn.

    Parameters
    ----------
    options
        As those of sampling; the decoding rule is `ancestral`.
    prompts
        As for sampling.

    Writes
    ------
    id; log_probability (nats); tokens, over which it is the sum; prompt_tokens, on which it is conditional; ended,
    whether the end is among the tokens.
    """
    if not isinstance(options.decoding, Ancestral):
        raise MacroscopeError(
            f"decoding: {options.decoding.rule} does not draw from the model's own distribution, and these are its"
            " log-probabilities; take a system with the rule ancestral"
        )
    use_threads(threads)
    documents = require_documents(list(read_documents(samples)), samples, "test")
    cut = set(_cut_samples(samples))
    network, tokenizer = load_model(model)
    boundary = boundary_id(tokenizer)
    sampler = make_sampler(network, boundary, context_window(network.config, options.context), options, 0, "")
    beginnings = encode_prompts(read_prompts(prompts, options.prompt_words, options.titles), tokenizer)
    numbers = [sample_number(document.id) for document in documents]
    given = [beginnings[number % len(beginnings)] for number in numbers]
    ended = [number not in cut for number in numbers]
    texts = encode_texts(_texts(samples, documents, options.titles, given), tokenizer, boundary)
    encoded = []
    for (text, (*tokens, end)), prompt, ends in zip(texts, given, ended, strict=True):
        drawn = sample_tokens(text, tokens, prompt, tokenizer)
        encoded.append(np.array([boundary, *drawn, end] if ends else [boundary, *drawn]))
    nll = document_nll(sampler, encoded)
    conditional = np.array([len(prompt.tokens) for prompt in given])
    table = pd.DataFrame(
        {
            "id": [document.id for document in documents],
            "log_probability": [-values[start:].sum() for values, start in zip(nll, conditional, strict=True)],
            "tokens": [len(values) for values in nll] - conditional,
            "prompt_tokens": conditional,
            "ended": ended,
        }
    )
    with atomic(output) as temporary:
        table.to_parquet(temporary, index=False)


def document_nll(sampler: Sampler, documents: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float64]]:
    """-log P of each token of each document but its first, from what the sampler sees before it; nats.

    Parameters
    ----------
    documents
        Tokens of each, the boundary before them included.
    """
    nll = [np.empty(len(tokens) - 1) for tokens in documents]
    windows = [(i, window) for i, tokens in enumerate(documents) for window in sampler.windows(len(tokens))]
    # Windows of like lengths together: little is filled up.
    windows.sort(key=lambda item: item[1].start - item[1].stop)
    batches = list(in_batches(windows, WINDOWS_PER_BATCH))
    for batch in progress(batches, "measure log-probabilities", unit="batches"):
        inputs = _filled_up([documents[i][window.start : window.stop] for i, window in batch], sampler.boundary)
        for (i, window), found in zip(batch, window_nll(sampler.model, inputs), strict=True):
            nll[i][window.first - 1 : window.stop - 1] = _predicted(found, window)
    return nll


def sample_tokens(text: str, tokens: Sequence[int], prompt: EncodedPrompt, tokenizer: Any) -> list[int]:
    """Tokens of a sample, those of its prompt as the sampler was given them.

    Parameters
    ----------
    tokens
        Those of the whole text: the same, unless the sample goes on within the last word of its prompt.
    """
    length = len(prompt.tokens)
    if tuple(tokens[:length]) == prompt.tokens:
        return list(tokens)
    rest = tokenizer(text[len(prompt.text) :], add_special_tokens=False, verbose=False)["input_ids"]
    return [*prompt.tokens, *rest]


def _filled_up(windows: Sequence[NDArray[np.int64]], boundary: int) -> NDArray[np.int64]:
    """Windows as one array; what stands behind a shorter one does not change what is predicted in it."""
    filled = np.full((len(windows), max(map(len, windows))), boundary, dtype=np.int64)
    for row, window in enumerate(windows):
        filled[row, : len(window)] = window
    return filled


def _predicted(found: NDArray[np.float64], window: Window) -> NDArray[np.float64]:
    return found[window.first - window.start - 1 : window.stop - window.start - 1]


def _cut_samples(samples: Path) -> list[int]:
    source = read_provenance(samples).source
    if "cut_samples" not in source:
        raise MacroscopeError(
            f"{samples}: its metadata do not say which samples were cut; give samples of a language model, and if these"
            " are some, sample them again"
        )
    return list(source["cut_samples"])


def _texts(samples: Path, documents: Sequence[Document], titles: bool, prompts: Sequence[Prompt]) -> list[str]:
    texts = [training_text(document, titles) for document in documents]
    for document, text, prompt in zip(documents, texts, prompts, strict=True):
        if not text.startswith(prompt.text):
            raise MacroscopeError(
                f"{samples}, sample {document.id!r}: it does not begin with the prompt from document"
                f" {prompt.document!r}; give the documents that it was sampled with"
            )
    return texts

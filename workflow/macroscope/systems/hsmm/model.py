"""A hidden semi-Markov language model over n-grams (deng2022 Appendix D), and its exact perplexity."""

import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors.torch import load_model, save_model
from torch import nn

from macroscope.documents import read_documents
from macroscope.files import atomic, read_json, write_json
from macroscope.systems.formats import read_training_texts
from macroscope.systems.hsmm import HsmmSystem
from macroscope.systems.hsmm.marginal import Batch, LogProbabilities, log_marginal
from macroscope.systems.hsmm.ngrams import Ngrams, Texts, collate, read_split_words

LONG = 1000
"""Largest number of tokens of a text for single precision, in which rounding of the whole text's sum is too large."""


@dataclass(frozen=True)
class Size:
    """Sizes of a model, sufficient to create it.

    Attributes
    ----------
    states
        Number of hidden states.
    ngrams
        Number of n-grams of each length, from one token.
    ends
        Whether the model has a probability of ending a text after each segment. Otherwise, as published, P(x) is
        conditional on the length of the text.
    """

    states: int
    ngrams: tuple[int, ...]
    ends: bool


class Hsmm(nn.Module):
    """A hidden semi-Markov model as the logits of all distributions, Xavier-initialised.

    Attributes
    ----------
    initial
        First state: states.
    transition
        Next state, and the end if the model has ends: states x states [+ 1].
    length
        Length of a segment: longest x states.
    emission
        For each length, n-grams of that length: n-grams x states.
    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        shapes = [(size.states, size.states + size.ends), (len(size.ngrams), size.states)]
        self.initial = nn.Parameter(torch.zeros(size.states))
        self.transition, self.length = (nn.Parameter(_xavier(*shape)) for shape in shapes)
        self.emission = nn.ParameterList(_xavier(number, size.states) for number in size.ngrams)

    @property
    def states(self) -> int:
        """Return the number of hidden states."""
        return self.size.states

    def normalisers(self) -> list[torch.Tensor]:
        """Compute, for each length, the logsumexp of its emissions: states."""
        return [torch.logsumexp(logits, dim=0) for logits in self.emission]

    def log_probabilities(self, rows: torch.Tensor, normalisers: list[torch.Tensor]) -> LogProbabilities:
        """Compute all distributions, with emissions of the given rows only (sorted, without duplicates)."""
        transition = torch.log_softmax(self.transition, dim=1)
        onwards, end = transition, torch.zeros_like(self.initial)
        if self.size.ends:
            onwards, end = transition[:, :-1], transition[:, -1]
        return LogProbabilities(
            torch.log_softmax(self.initial, dim=0),
            onwards,
            end,
            torch.log_softmax(self.length, dim=0),
            self._emissions(rows, normalisers),
        )

    def forward(self, rows: torch.Tensor, sizes: torch.Tensor, return_loss: bool = True) -> dict[str, torch.Tensor]:
        """Compute the mean negative log-likelihood per token (`loss`) and that of each text (`nll`), in nats.

        Parameters
        ----------
        rows
            Row of each n-gram, or -1 if there is none: texts x tokens x longest.
        sizes
            Number of tokens of each text.
        return_loss
            Signal to the Trainer that there is a loss without labels; not used here.
        """
        log_marginals = log_marginal(*self.batch(rows, sizes, self.normalisers()))
        return {"loss": -log_marginals.sum() / sizes.sum(), "nll": -log_marginals}

    def batch(
        self, rows: torch.Tensor, sizes: torch.Tensor, normalisers: list[torch.Tensor]
    ) -> tuple[LogProbabilities, Batch]:
        """Return the model restricted to the n-grams of some texts, and the texts with n-grams numbered accordingly."""
        occurring = torch.unique(rows)
        occurring = occurring[occurring >= 0]
        places = torch.searchsorted(occurring, rows.clamp(min=0).contiguous())
        model = self.log_probabilities(occurring, normalisers)
        if rows.shape[1] > LONG:
            model = LogProbabilities(*(table.double() for table in model))
        return model, Batch(places.masked_fill(rows < 0, -1), sizes)

    def _emissions(self, rows: torch.Tensor, normalisers: list[torch.Tensor]) -> torch.Tensor:
        emissions, first = [], 0
        for logits, normaliser in zip(self.emission, normalisers, strict=True):
            indices = rows[(rows >= first) & (rows < first + len(logits))] - first
            emissions.append(logits[indices] - normaliser)
            first += len(logits)
        return torch.cat(emissions)

    def save(self, folder: Path, ngrams: Ngrams) -> None:
        """Write model.safetensors, size.json, words.json and ngrams.npz into a folder."""
        save_model(self.cpu(), str(folder / "model.safetensors"))
        write_json(folder / "size.json", asdict(self.size))
        ngrams.save(folder)

    @classmethod
    def load(cls, folder: Path) -> tuple["Hsmm", Ngrams]:
        """Load the model and the n-grams that `save` wrote."""
        raw: dict[str, Any] = read_json(folder / "size.json")
        model = cls(Size(raw["states"], tuple(raw["ngrams"]), raw["ends"]))
        load_model(model, str(folder / "model.safetensors"))
        return model.eval(), Ngrams.load(folder)


def _xavier(*shape: int) -> torch.Tensor:
    return nn.init.xavier_uniform_(torch.empty(shape)) if min(shape) else torch.empty(shape)


log = logging.getLogger("macroscope")

_TEXTS_PER_BATCH = 32


def measure_perplexity(documents: Path, model: Path, output: Path, options: HsmmSystem, *, split: str) -> None:
    """Measure the negative log-likelihood of every document of a split.

    Writes
    ------
    id; nll (nats) and tokens, both including the end of the text if `ends`; words (split at white space); unknown
    (number of tokens that are not in the train split).
    """
    fitted, ngrams = Hsmm.load(model)
    texts, held_out = (
        Texts(read_split_words(documents, split), ngrams),
        list(read_training_texts(documents, split, titles=False)),
    )
    table = pd.DataFrame(
        {
            "id": [document.id for document in read_documents(documents, split)],
            "nll": compute_nll(fitted, texts),
            "tokens": texts.sizes + options.ends,
            "words": [len(text.split()) for text in held_out],
            "unknown": [int((numbers == 0).sum()) for numbers in texts.numbers],
        }
    )
    log.info("%d of %d tokens are unknown words", table["unknown"].sum(), table["tokens"].sum())
    with atomic(output) as temporary:
        table.to_parquet(temporary, index=False)


@torch.inference_mode()
def compute_nll(model: Hsmm, texts: Texts) -> np.ndarray:
    """Compute -log P(x) of each text, in nats, on a GPU if there is one."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = model.to(device)
    nll, normalisers = np.empty(len(texts)), model.normalisers()
    for indices in texts.by_length(_TEXTS_PER_BATCH, model.states):
        batch = {name: tensor.to(device) for name, tensor in collate([texts[index] for index in indices]).items()}
        nll[indices] = -log_marginal(*model.batch(normalisers=normalisers, **batch)).double().cpu().numpy()
    return nll

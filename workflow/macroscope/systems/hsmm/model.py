"""A hidden semi-Markov language model over n-grams (deng2022 Appendix D)."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_model, save_model
from torch import nn

from macroscope.files import read_json, write_json
from macroscope.systems.hsmm.marginal import Batch, LogProbabilities, log_marginal
from macroscope.systems.hsmm.ngrams import Ngrams

LONG = 1000
"""Tokens of a text from which on single precision is not enough: log-probabilities of the whole text are added up."""


@dataclass(frozen=True)
class Size:
    """What a model looks like: enough to make it again.

    Attributes
    ----------
    states
        Hidden states.
    ngrams
        N-grams of each length, from one token on.
    ends
        Whether it knows where a text ends: after each segment it may end, or go on with another one. Otherwise it is
        told, as published: P(x) is then that of a text as long.
    """

    states: int
    ngrams: tuple[int, ...]
    ends: bool


class Hsmm(nn.Module):
    """Logits of all distributions, Xavier-initialised.

    Attributes
    ----------
    initial
        Of the first state (states).
    transition
        Of the next state, and of the end if the model knows it (states x states [+ 1]).
    length
        Tokens of a segment (longest x states).
    emission
        N-grams of a length, for each length (n-grams x states).
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
        """Number of hidden states."""
        return self.size.states

    def normalisers(self) -> list[torch.Tensor]:
        """Log of what the emissions of a length add up to, for each length (states)."""
        return [torch.logsumexp(logits, dim=0) for logits in self.emission]

    def log_probabilities(self, rows: torch.Tensor, normalisers: list[torch.Tensor]) -> LogProbabilities:
        """All distributions, of the n-grams those of the given rows alone (sorted, no doubles)."""
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
        """Mean negative log-likelihood a token, and that of each text, in nats.

        Parameters
        ----------
        rows
            Texts x tokens x longest: row of each n-gram, -1 where there is none.
        sizes
            Tokens of each text.
        return_loss
            Tells the training loop that there is a loss without labels.
        """
        found = log_marginal(*self.batch(rows, sizes, self.normalisers()))
        return {"loss": -found.sum() / sizes.sum(), "nll": -found}

    def batch(
        self, rows: torch.Tensor, sizes: torch.Tensor, normalisers: list[torch.Tensor]
    ) -> tuple[LogProbabilities, Batch]:
        """The model for texts, and these texts as it numbers their n-grams."""
        known = torch.unique(rows)
        known = known[known >= 0]
        places = torch.searchsorted(known, rows.clamp(min=0).contiguous())
        model = self.log_probabilities(known, normalisers)
        if rows.shape[1] > LONG:
            model = LogProbabilities(*(some.double() for some in model))
        return model, Batch(places.masked_fill(rows < 0, -1), sizes)

    def _emissions(self, rows: torch.Tensor, normalisers: list[torch.Tensor]) -> torch.Tensor:
        found, first = [], 0
        for logits, normaliser in zip(self.emission, normalisers, strict=True):
            some = rows[(rows >= first) & (rows < first + len(logits))] - first
            found.append(logits[some] - normaliser)
            first += len(logits)
        return torch.cat(found)

    def save(self, folder: Path, ngrams: Ngrams) -> None:
        """Write model.safetensors, size.json, words.json and ngrams.npz into a folder."""
        save_model(self.cpu(), str(folder / "model.safetensors"))
        write_json(folder / "size.json", asdict(self.size))
        ngrams.save(folder)

    @classmethod
    def load(cls, folder: Path) -> tuple["Hsmm", Ngrams]:
        """Read what `save` wrote."""
        raw: dict[str, Any] = read_json(folder / "size.json")
        model = cls(Size(raw["states"], tuple(raw["ngrams"]), raw["ends"]))
        load_model(model, str(folder / "model.safetensors"))
        return model.eval(), Ngrams.load(folder)


def _xavier(*shape: int) -> torch.Tensor:
    return nn.init.xavier_uniform_(torch.empty(shape)) if min(shape) else torch.empty(shape)

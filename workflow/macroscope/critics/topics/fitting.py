"""Variational EM for a correlated topic model (Blei and Lafferty 2006), in batches.

The E step climbs the bound of every document from where the last one left it, so that neither step lowers the bound of
the corpus, as long as neither smoothing nor shrinkage asks the M step for something else. What the M step needs is
added up batch by batch: memory is that of a batch, of the topics, and of the means and variances of all documents,
which stand on disk. An iteration that is finished is never done again.
"""

import hashlib
import logging
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.format import open_memmap

from macroscope.critics.topics.inference import Convergence, Posterior, expected_topics, infer
from macroscope.critics.topics.initialisation import Initialisation, initial_model
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.word_counts import Integers, WordCounts
from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json
from macroscope.progress import Progress

log = logging.getLogger("macroscope")
Tensor = torch.Tensor
_STATE = "state.json"


@dataclass(frozen=True)
class Settings:
    """How a model is fitted.

    Attributes
    ----------
    topics
        K.
    iterations, tolerance
        Of EM: most iterations, and the relative change of the bound that ends them.
    inference
        Of each document in the E step.
    pinned
        Whether the last topic's strength is fixed at 0.
    initialisation
        See `macroscope.critics.topics.initialisation`.
    shrinkage
        Share of the covariances that is taken away from all pairs of topics, in [0, 1).
    smoothing
        Pseudo-count of every word in every topic.
    """

    topics: int
    iterations: int = 1000
    tolerance: float = 1e-5
    inference: Convergence = field(default_factory=lambda: Convergence(1e-6, 60))
    pinned: bool = True
    initialisation: Initialisation = "clusters"
    shrinkage: float = 0.0
    smoothing: float = 0.0


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes
    ----------
    model
        It, on the CPU.
    bounds
        Bound of the corpus at the E step of each iteration, in nats.
    dead
        Topics that no word belongs to any more.
    """

    model: CorrelatedTopicModel
    bounds: list[float]
    dead: list[int]


def fit(counts: WordCounts, vocabulary: int, settings: Settings, seed: int, checkpoints: Path, device: str) -> Fit:
    """Fit a model to documents.

    Parameters
    ----------
    vocabulary
        Number of word types.
    checkpoints
        Folder in which every iteration leaves what the next one needs; a killed fit goes on there. The caller removes
        it once the model is safe.
    device
        Of torch: "cpu" or "cuda".

    Raises
    ------
    MacroscopeError
        Where there are too few documents to start from.
    """
    if len(counts) < settings.topics:
        raise MacroscopeError(
            f"the topic model has {settings.topics} topics and {len(counts)} training documents with words of its"
            " vocabulary; set critics.topics.topics to fewer, or give more documents"
        )
    state = _State.begin(counts, vocabulary, settings, seed, checkpoints)
    model = state.model(device)
    while not state.finished(settings):
        with Progress("topic model, EM", len(counts), "documents") as progress:
            sums = _Sums.nothing(model)
            for some in counts.batches(settings.topics):
                sums.add(*_e_step(counts, some, model, settings, state))
                progress.advance(len(some))
        model, dead = sums.model(model, settings)
        state.advance(model, float(sums.bound), dead)
        log.info("topic model: iteration %d, bound %.6e", len(state.bounds), state.bounds[-1])
    return Fit(model.to("cpu"), state.bounds, state.dead)


def _e_step(
    counts: WordCounts, some: Integers, model: CorrelatedTopicModel, settings: Settings, state: "_State"
) -> tuple[Posterior, Tensor, Tensor]:
    """Posteriors of a batch, its word types, and the expected topics at each."""
    device = model.mean.device
    words = counts.some(some).to(device)
    found = infer(words, model, settings.inference, state.start(some, model))
    state.keep(some, found)
    return found, words.types, expected_topics(words, model, found.mean)


@dataclass
class _Sums:
    """What an M step needs of all documents."""

    documents: int
    bound: Tensor
    mean: Tensor
    outer: Tensor
    variance: Tensor
    words: Tensor  # vocabulary x topics

    @classmethod
    def nothing(cls, model: CorrelatedTopicModel) -> "_Sums":
        size, zeros = model.dimensions, model.mean.new_zeros
        return cls(0, zeros(()), zeros(size), zeros(size, size), zeros(size), zeros(*model.topics.T.shape))

    def add(self, found: Posterior, types: Tensor, topics: Tensor) -> None:
        self.documents += len(types)
        self.bound += found.bound.sum()
        self.mean += found.mean.sum(dim=0)
        self.outer += found.mean.T @ found.mean
        self.variance += found.variance.sum(dim=0)
        self.words.index_add_(0, types.flatten(), topics.flatten(0, 1))

    def model(self, before: CorrelatedTopicModel, settings: Settings) -> tuple[CorrelatedTopicModel, list[int]]:
        """The best model given the posteriors, and its topics without a word, which stay what they were."""
        mean = self.mean / self.documents
        covariance = self.outer / self.documents - torch.outer(mean, mean)
        covariance = (covariance + covariance.T) / 2 + torch.diag(self.variance / self.documents)
        diagonal = torch.diag(covariance.diagonal())
        covariance = (1 - settings.shrinkage) * covariance + settings.shrinkage * diagonal
        words = self.words.T + settings.smoothing
        totals = words.sum(dim=1, keepdim=True)
        dead = totals[:, 0] < torch.finfo(words.dtype).eps * totals.sum()
        topics = torch.where(dead[:, None], before.topics, words / totals.clamp(min=torch.finfo(words.dtype).tiny))
        return CorrelatedTopicModel(mean, covariance, topics), torch.nonzero(dead)[:, 0].tolist()


@dataclass
class _State:
    """Where a fit stands, in its folder of checkpoints.

    The means and variances of the documents are in two files: an iteration reads those of the last one and writes the
    others.
    """

    folder: Path
    strengths: tuple[np.ndarray, np.ndarray]  # each 2 x documents x dimensions
    bounds: list[float]
    dead: list[int]

    @classmethod
    def begin(cls, counts: WordCounts, vocabulary: int, settings: Settings, seed: int, folder: Path) -> "_State":
        """Go on where a fit of the same documents and settings stopped, or start one."""
        identity = {"settings": asdict(settings), "seed": seed, "vocabulary": vocabulary, "words": _digest(counts)}
        folder.mkdir(parents=True, exist_ok=True)
        dimensions = settings.topics - settings.pinned
        shape = (2, len(counts), dimensions)
        known: dict[str, Any] = read_json(folder / _STATE) if (folder / _STATE).exists() else {}
        resumed = known.get("identity") == identity
        files = [folder / f"strengths-{parity}.npy" for parity in (0, 1)]
        if not resumed:
            (folder / _STATE).unlink(missing_ok=True)  # before what it speaks of is overwritten
        first, second = (
            open_memmap(path, mode="r+") if resumed else open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
            for path in files
        )
        state = cls(folder, (first, second), known["bounds"] if resumed else [], known["dead"] if resumed else [])
        if not resumed:
            start = settings.topics, settings.pinned, settings.initialisation, seed
            initial_model(counts, vocabulary, *start).save(folder / "model-0.npz")
            write_json(folder / _STATE, {"identity": identity, "bounds": [], "dead": []})
        return state

    @property
    def iteration(self) -> int:
        return len(self.bounds)

    def model(self, device: str) -> CorrelatedTopicModel:
        return CorrelatedTopicModel.load(self.folder / f"model-{self.iteration % 2}.npz", device)

    def start(self, some: Integers, model: CorrelatedTopicModel) -> tuple[Tensor, Tensor] | None:
        if not self.iteration:
            return None
        mean, variance = (torch.from_numpy(part[some]) for part in self.strengths[self.iteration % 2])
        return mean.to(model.mean), variance.to(model.mean)

    def keep(self, some: Integers, found: Posterior) -> None:
        written = self.strengths[1 - self.iteration % 2]
        written[0, some], written[1, some] = found.mean.cpu().numpy(), found.variance.cpu().numpy()

    def advance(self, model: CorrelatedTopicModel, bound: float, dead: list[int]) -> None:
        """Finish an iteration: first the files, then the word that they are whole."""
        if not np.isfinite(bound):
            raise MacroscopeError(
                "the bound of the topic model is no finite number any more; give it more documents, or smoothing"
            )
        for part in self.strengths:
            part.flush()  # type: ignore[attr-defined]
        self.bounds.append(bound)
        self.dead = dead
        model.save(self.folder / f"model-{self.iteration % 2}.npz")
        identity = read_json(self.folder / _STATE)["identity"]
        write_json(self.folder / _STATE, {"identity": identity, "bounds": self.bounds, "dead": dead})

    def finished(self, settings: Settings) -> bool:
        if self.iteration >= settings.iterations:
            return True
        if self.iteration < 2:
            return False
        before, now = self.bounds[-2:]
        return abs(now - before) < settings.tolerance * abs(before)


def _digest(counts: WordCounts) -> str:
    digest = hashlib.sha256()
    for part in (counts.starts, counts.types, counts.counts):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()

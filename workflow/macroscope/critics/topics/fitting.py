"""Variational EM for a correlated topic model (Blei and Lafferty 2006), in batches.

The E step starts from each document's posterior of the previous iteration, so that neither step lowers the bound of the
corpus (smoothing and a prior of the covariance may, as they change the M step's objective). The M step's sufficient
statistics are accumulated batch by batch. Memory holds one batch and the topics; means and variances of all documents
are on disk. Finished iterations are never repeated.
"""

import hashlib
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.lib.format import open_memmap
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from macroscope.critics.topics.inference import Convergence, Posterior, expected_topics, infer
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.vocabulary import Integers, WordCounts
from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json
from macroscope.progress import PacedLog, Progress

# ---- initialisation --------------------------------------------------------------------------------------------------
# Initialisation of a topic model's fit: EM converges to a nearby maximum, so the result depends on the start.

Array = NDArray[np.float64]
Initialisation = Literal["clusters", "documents"]
_MAX_CLUSTERED = 20_000
_STARTS = 3
_CORPUS_SHARE = 0.1
"""Weight of the corpus's word distribution in each topic, so that every word is possible in every topic."""


def build_initial_model(
    counts: WordCounts, vocabulary: int, topics: int, pinned: bool, how: Initialisation, seed: int
) -> CorrelatedTopicModel:
    """Build the initial model, with independent strengths of mean 0 and variance 1.

    Parameters
    ----------
    how
        "clusters": a topic has the words of a cluster of documents, or of a random document if the cluster is empty.
        The clustering is k-means on the square roots of word shares (Hellinger distance), with at most 20,000 randomly
        chosen documents. "documents": a topic has the words of a random document, plus a small count of every word, as
        in the published implementation.
    """
    rng = np.random.default_rng(seed)
    start = _topics_from_clusters if how == "clusters" else _topics_from_documents
    dimensions = topics - pinned
    return CorrelatedTopicModel(
        torch.zeros(dimensions, dtype=torch.float64),
        torch.eye(dimensions, dtype=torch.float64),
        torch.from_numpy(start(counts.matrix(vocabulary), topics, rng)),
    )


def _topics_from_documents(counts: sparse.csr_matrix, topics: int, rng: np.random.Generator) -> Array:
    chosen = counts[rng.choice(counts.shape[0], topics, replace=False)].toarray()
    weights = 1.0 + rng.random(chosen.shape) + chosen
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _topics_from_clusters(counts: sparse.csr_matrix, topics: int, rng: np.random.Generator) -> Array:
    corpus_words = np.asarray(counts.sum(axis=0)).ravel()
    corpus_words = corpus_words / corpus_words.sum()
    size = counts.shape[0]
    if size > _MAX_CLUSTERED:
        counts = counts[np.sort(rng.choice(size, _MAX_CLUSTERED, replace=False))]
    shares = sparse.diags_array(1 / np.asarray(counts.sum(axis=1)).ravel()) @ counts
    with warnings.catch_warnings():
        # With fewer distinct documents than topics, some clusters stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clustering = KMeans(topics, n_init=_STARTS, random_state=int(rng.integers(1 << 31)))
        labels = clustering.fit_predict(sparse.csr_matrix(shares.sqrt()))
    members = sparse.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))), (topics, len(labels)))
    words = (members @ counts).toarray()
    empty = words.sum(axis=1) == 0
    if empty.any():  # EM would keep equal topics equal
        words[empty] = _topics_from_documents(counts, int(empty.sum()), rng)
    cluster_words = words / words.sum(axis=1, keepdims=True)
    return np.asarray((1 - _CORPUS_SHARE) * cluster_words + _CORPUS_SHARE * corpus_words)


# ---- fitting ---------------------------------------------------------------------------------------------------------

Tensor = torch.Tensor
_STATE = "state.json"


@dataclass(frozen=True)
class Settings:
    """Settings of a fit.

    Attributes
    ----------
    topics
        K, the number of topics.
    iterations, tolerance
        Largest number of iterations of EM, and relative change of the bound below which it stops.
    inference
        Stopping rule of each document's inference in the E step.
    pinned
        Whether the last topic's strength is fixed at 0.
    initialisation
        Method of initialisation; see `macroscope.critics.topics.fitting`.
    covariance_prior
        Weight of an identity covariance in the estimate of Sigma, in documents. Without it, Sigma grows from iteration
        to iteration, and predictions of other documents become worse.
    smoothing
        Pseudo-count of every word in every topic.
    """

    topics: int
    iterations: int = 1000
    tolerance: float = 1e-5
    inference: Convergence = field(default_factory=lambda: Convergence(1e-6, 60))
    pinned: bool = True
    initialisation: Initialisation = "clusters"
    covariance_prior: float = 0.0
    smoothing: float = 0.0


@dataclass(frozen=True)
class Fit:
    """Result of a fit.

    Attributes
    ----------
    model
        Fitted model, on the CPU.
    bounds
        Bound of the corpus at the E step of each iteration, in nats.
    dead
        Topics without any expected words.
    """

    model: CorrelatedTopicModel
    bounds: list[float]
    dead: list[int]


def fit(
    counts: WordCounts,
    vocabulary: int,
    settings: Settings,
    seed: int,
    checkpoints: Path,
    device: str,
    start: CorrelatedTopicModel | None = None,
) -> Fit:
    """Fit a model to documents.

    Parameters
    ----------
    vocabulary
        Number of word types.
    checkpoints
        Folder for the state of the last iteration, from which an interrupted fit resumes. The caller removes it once
        the model is saved.
    device
        Device of torch: "cpu" or "cuda".
    start
        Initial model. Default: that of `settings.initialisation`.

    Raises
    ------
    MacroscopeError
        If there are fewer documents than topics.
    """
    if len(counts) < settings.topics:
        raise MacroscopeError(
            f"the topic model has {settings.topics} topics and {len(counts)} training documents with words of its"
            " vocabulary; reduce critics.topics.topics or give more documents"
        )
    state = _State.begin(counts, vocabulary, settings, seed, checkpoints, start)
    model, paced = state.model(device), PacedLog()
    while not state.finished(settings):
        with Progress("topic model, EM", len(counts), "documents") as progress:
            sums = _Sums.zeros(model)
            for documents in counts.batches(settings.topics):
                sums.add(*_e_step(counts, documents, model, settings, state))
                progress.advance(len(documents))
        model, dead = sums.model(model, settings)
        state.advance(model, float(sums.bound), dead)
        paced.line("topic model: iteration %d, bound %.6e", len(state.bounds), state.bounds[-1])
    return Fit(model.to("cpu"), state.bounds, state.dead)


def _e_step(
    counts: WordCounts, documents: Integers, model: CorrelatedTopicModel, settings: Settings, state: "_State"
) -> tuple[Posterior, Tensor, Tensor]:
    """Return the posteriors of a batch, its word types, and the expected topics at each."""
    device = model.mean.device
    words = counts.batch(documents).to(device)
    posterior = infer(words, model, settings.inference, state.start(documents, model))
    state.keep(documents, posterior)
    return posterior, words.types, expected_topics(words, model, posterior.mean)


@dataclass
class _Sums:
    """Sufficient statistics of the M step, summed over documents."""

    documents: int
    bound: Tensor
    mean: Tensor
    outer: Tensor
    variance: Tensor
    words: Tensor  # vocabulary x topics

    @classmethod
    def zeros(cls, model: CorrelatedTopicModel) -> "_Sums":
        size, zeros = model.dimensions, model.mean.new_zeros
        return cls(0, zeros(()), zeros(size), zeros(size, size), zeros(size), zeros(*model.topics.T.shape))

    def add(self, posterior: Posterior, types: Tensor, topics: Tensor) -> None:
        self.documents += len(types)
        self.bound += posterior.bound.sum()
        self.mean += posterior.mean.sum(dim=0)
        self.outer += posterior.mean.T @ posterior.mean
        self.variance += posterior.variance.sum(dim=0)
        self.words.index_add_(0, types.flatten(), topics.flatten(0, 1))

    def model(self, before: CorrelatedTopicModel, settings: Settings) -> tuple[CorrelatedTopicModel, list[int]]:
        """Return the optimal model given the posteriors, and its topics without words, which are left unchanged."""
        mean = self.mean / self.documents
        covariance = self.outer / self.documents - torch.outer(mean, mean)
        covariance = (covariance + covariance.T) / 2 + torch.diag(self.variance / self.documents)
        weight = settings.covariance_prior / (self.documents + settings.covariance_prior)
        covariance = (1 - weight) * covariance + weight * torch.eye(len(mean), dtype=mean.dtype, device=mean.device)
        words = self.words.T + settings.smoothing
        totals = words.sum(dim=1, keepdim=True)
        dead = totals[:, 0] < torch.finfo(words.dtype).eps * totals.sum()
        topics = torch.where(dead[:, None], before.topics, words / totals.clamp(min=torch.finfo(words.dtype).tiny))
        return CorrelatedTopicModel(mean, covariance, topics), torch.nonzero(dead)[:, 0].tolist()


@dataclass
class _State:
    """State of a fit, in its folder of checkpoints.

    Means and variances of the documents are in two files: an iteration reads those of the last one and writes the
    other file.
    """

    folder: Path
    strengths: tuple[np.ndarray, np.ndarray]  # each 2 x documents x dimensions
    bounds: list[float]
    dead: list[int]

    @classmethod
    def begin(
        cls,
        counts: WordCounts,
        vocabulary: int,
        settings: Settings,
        seed: int,
        folder: Path,
        start: CorrelatedTopicModel | None,
    ) -> "_State":
        """Resume an interrupted fit of the same documents, settings and start, or begin a new one."""
        identity = {
            "settings": asdict(settings),
            "seed": seed,
            "vocabulary": vocabulary,
            "words": _digest(counts.starts, counts.types, counts.counts),
            "start": _digest(start.mean.numpy(), start.covariance.numpy(), start.topics.numpy()) if start else None,
        }
        folder.mkdir(parents=True, exist_ok=True)
        dimensions = settings.topics - settings.pinned
        shape = (2, len(counts), dimensions)
        saved: dict[str, Any] = read_json(folder / _STATE) if (folder / _STATE).exists() else {}
        resumed = saved.get("identity") == identity
        files = [folder / f"strengths-{parity}.npy" for parity in (0, 1)]
        if not resumed:
            (folder / _STATE).unlink(missing_ok=True)  # before the files that it describes are overwritten
        first, second = (
            open_memmap(path, mode="r+") if resumed else open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
            for path in files
        )
        state = cls(folder, (first, second), saved["bounds"] if resumed else [], saved["dead"] if resumed else [])
        if not resumed:
            how = settings.topics, settings.pinned, settings.initialisation, seed
            (start or build_initial_model(counts, vocabulary, *how)).save(folder / "model-0.npz")
            write_json(folder / _STATE, {"identity": identity, "bounds": [], "dead": []})
        return state

    @property
    def iteration(self) -> int:
        return len(self.bounds)

    def model(self, device: str) -> CorrelatedTopicModel:
        return CorrelatedTopicModel.load(self.folder / f"model-{self.iteration % 2}.npz", device)

    def start(self, documents: Integers, model: CorrelatedTopicModel) -> tuple[Tensor, Tensor] | None:
        if not self.iteration:
            return None
        mean, variance = (torch.from_numpy(part[documents]) for part in self.strengths[self.iteration % 2])
        return mean.to(model.mean), variance.to(model.mean)

    def keep(self, documents: Integers, posterior: Posterior) -> None:
        target = self.strengths[1 - self.iteration % 2]
        target[0, documents], target[1, documents] = posterior.mean.cpu().numpy(), posterior.variance.cpu().numpy()

    def advance(self, model: CorrelatedTopicModel, bound: float, dead: list[int]) -> None:
        """Finish an iteration: write the files first, then the state that declares them complete."""
        if not np.isfinite(bound):
            raise MacroscopeError(
                "the bound of the topic model is not finite; give it more documents, or set critics.topics.smoothing"
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


def _digest(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for part in arrays:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()

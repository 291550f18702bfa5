"""The correlated topic model: against the published algorithm document by document, and against tomotopy's CTModel.

The reference is the E step of Blei's implementation as it is described (coordinate ascent over zeta, lambda by
conjugate gradients, zeta, nu by Newton, zeta, phi; a relative change of 1e-6 or 20 rounds), in NumPy and SciPy, one
document at a time. Both climb the same bound, from the same model. tomotopy samples (Mimno et al. 2008), so it is given
the same documents and compared by held-out words: what each needs to reach a perplexity. tomotopy is no dependency:
without it that part says so.
"""

import importlib
import tempfile
from pathlib import Path

import numpy as np
import torch
from _report import peak_megabytes, quiet, say, seconds
from scipy.optimize import minimize

from macroscope.critics.topics.fitting import Settings, build_initial_model, fit
from macroscope.critics.topics.inference import Convergence, infer, infer_all
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.training import completion_perplexity
from macroscope.critics.topics.vocabulary import WordCounts

TOPICS, VOCABULARY, DOCUMENTS, WORDS = 100, 2000, 3000, 150
REFERENCE_DOCUMENTS = 20
HELD_OUT = 200
PUBLISHED = Convergence(1e-6, 20)
MANY_DOCUMENTS, MANY_WORDS = 100_000, 20_000


def corpus(documents: int, seed: int) -> tuple[WordCounts, CorrelatedTopicModel]:
    """Documents of a known model of correlated topics."""
    fixed, rng = np.random.default_rng(0), np.random.default_rng(seed)
    loadings = fixed.normal(size=(TOPICS - 1, 8)) * 0.7
    covariance = loadings @ loadings.T + 0.5 * np.eye(TOPICS - 1)
    beta = fixed.dirichlet(np.full(VOCABULARY, 0.02), TOPICS) + 1e-7
    parts = np.zeros(TOPICS - 1), covariance, beta / beta.sum(axis=1, keepdims=True)
    model = CorrelatedTopicModel(*map(torch.from_numpy, parts))
    strengths = rng.multivariate_normal(np.zeros(TOPICS - 1), covariance, documents)
    shares = torch.softmax(model.strengths(torch.from_numpy(strengths)), dim=1).numpy()
    drawn = (rng.choice(VOCABULARY, WORDS, p=share @ parts[2]) for share in shares)
    return WordCounts.from_documents(drawn), model


def reference(types: np.ndarray, counts: np.ndarray, model: CorrelatedTopicModel) -> float:
    """Bound of a document after the published coordinate ascent."""
    precision, mu = model.precision.numpy(), model.mean.numpy()
    log_beta = np.log(model.topics.numpy()[:, types].T)
    total, free = counts.sum(), model.dimensions
    lam, nu, zeta = np.zeros(free), np.full(free, 10.0), 10.0
    phi = np.full(log_beta.shape, 1 / TOPICS)

    def best_zeta() -> float:
        return 1.0 + float(np.exp(lam + nu / 2).sum())

    def bound() -> float:
        away, full = lam - mu, np.append(lam, 0.0)
        value = 0.5 * (float(model.log_determinant) + free - np.diag(precision) @ nu - away @ precision @ away)
        value += 0.5 * np.log(nu).sum() - total * (best_zeta() / zeta - 1 + np.log(zeta))
        return float(value + (counts[:, None] * phi * (full + log_beta - np.log(phi.clip(1e-100)))).sum())

    before = bound()
    for _ in range(PUBLISHED.iterations):
        zeta = best_zeta()
        of_topics = (counts[:, None] * phi)[:, :free].sum(axis=0)

        def objective(
            x: np.ndarray, zeta: float = zeta, of_topics: np.ndarray = of_topics, nu: np.ndarray = nu
        ) -> tuple[float, np.ndarray]:
            away, expected = x - mu, total / zeta * np.exp(x + nu / 2)
            pull = precision @ away
            return float(0.5 * away @ pull - of_topics @ x + expected.sum()), pull - of_topics + expected

        lam = minimize(objective, lam, jac=True, method="CG", options={"gtol": 1e-3}).x
        zeta = best_zeta()
        log_nu = np.full(free, np.log(10.0))
        for _ in range(50):
            nu = np.exp(log_nu)
            expected = total / (2 * zeta) * np.exp(lam + nu / 2)
            slope = -0.5 * np.diag(precision) - expected + 0.5 / nu
            curvature = nu * slope + nu**2 * (-expected / 2 - 0.5 / nu**2)
            step = np.clip(nu * slope / curvature, -2, 2)
            log_nu -= step
            if np.abs(nu * slope).max() < 1e-10:
                break
        nu = np.exp(log_nu)
        zeta = best_zeta()
        weights = np.append(lam, 0.0) + log_beta
        phi = np.exp(weights - weights.max(axis=1, keepdims=True))
        phi /= phi.sum(axis=1, keepdims=True)
        now = bound()
        if abs((now - before) / before) < PUBLISHED.tolerance:
            break
        before = now
    return now


def e_step(name: str, counts: WordCounts, model: CorrelatedTopicModel) -> float:
    """Print documents per second of both, and compare their bounds; return the reference's rate."""
    documents = np.arange(REFERENCE_DOCUMENTS)
    bounds: list[float] = []

    def theirs() -> None:
        for d in documents:
            inside = slice(counts.starts[d], counts.starts[d + 1])
            bounds.append(reference(counts.types[inside], counts.counts[inside].astype(float), model))

    torch.set_num_threads(1)
    their_rate = REFERENCE_DOCUMENTS / seconds(theirs)
    torch.set_num_threads(2)
    our_time = seconds(lambda: list(infer_all(counts, model, PUBLISHED)))
    our_bounds = infer(counts.batch(documents), model, PUBLISHED).bound.numpy()
    better = our_bounds - bounds
    print(f"{name}: bound of a document higher by {np.mean(better):.3f} nats, at least {np.min(better):.3f}")
    rate = len(counts) / our_time
    say(f"E step, {name}, documents/s", f"{rate:.0f}", f"{their_rate:.1f}", rate / their_rate, ">= 30")
    return their_rate


def whole_fit(counts: WordCounts, held_out: WordCounts, first: float, last: float) -> tuple[float, float]:
    """Time a whole fit, the reference's from its first and last E step; return our time and perplexity."""
    with tempfile.TemporaryDirectory() as folder:
        path, fits = Path(folder) / "c", []
        settings = Settings(TOPICS, tolerance=1e-4, smoothing=0.01)
        time = seconds(lambda: fits.append(fit(counts, VOCABULARY, settings, 0, path, "cpu")))
    iterations = len(fits[0].bounds)
    perplexity, alone = completion_perplexity(held_out, fits[0].model, counts, 0)
    theirs = len(counts) / first + (iterations - 1) * len(counts) / last
    say(f"fit, {iterations} iterations", f"{time:.0f} s", f"{theirs:.0f} s", theirs / time, ">= 30")
    print(f"completion perplexity {perplexity:.1f} (words alone {alone:.1f})")
    return time, perplexity


def against_tomotopy(counts: WordCounts, held_out: WordCounts, our_time: float, ours: float) -> None:
    """Time until tomotopy's CTModel predicts held-out words as well; its topics and Gaussian in our completion."""
    try:
        peer = importlib.import_module("tomotopy")
    except ImportError:
        print("tomotopy is not installed: nothing to compare with (pip install tomotopy)")
        return
    model = peer.CTModel(k=TOPICS, smoothing_alpha=0.1, eta=0.01, seed=1)
    for d in range(len(counts)):
        inside = slice(counts.starts[d], counts.starts[d + 1])
        model.add_doc([str(t) for t in np.repeat(counts.types[inside], counts.counts[inside])])
    elapsed, perplexity = 0.0, float("inf")
    while perplexity > ours and elapsed < 10 * our_time:
        elapsed += seconds(lambda: model.train(20, workers=2))
        perplexity = completion_perplexity(held_out, _as_ours(model), counts, 0)[0]
    reached = "" if perplexity <= ours else f", only to {perplexity:.1f}"
    say("fit to the same perplexity", f"{our_time:.0f} s", f"{elapsed:.0f} s{reached}", elapsed / our_time, "report")


def _as_ours(model: object) -> CorrelatedTopicModel:
    """Topics, mean and covariance of a tomotopy model, all strengths free."""
    topics = np.full((TOPICS, VOCABULARY), 1e-9)
    columns = [int(word) for word in model.used_vocabs]  # type: ignore[attr-defined]
    for k in range(TOPICS):
        topics[k, columns] += model.get_topic_word_dist(k)  # type: ignore[attr-defined]
    covariance = np.array(model.get_prior_cov() if hasattr(model, "get_prior_cov") else model.prior_cov, dtype=float)
    mean = np.array(model.prior_mean, dtype=float)  # type: ignore[attr-defined]
    parts = mean, covariance.reshape(TOPICS, TOPICS) + 1e-6 * np.eye(TOPICS), topics / topics.sum(axis=1, keepdims=True)
    return CorrelatedTopicModel(*map(torch.from_numpy, parts))


def fit_many() -> None:
    """One iteration of a fit to as many words as real documents have: by Zipf's law, and few that come twice."""
    numbers = np.minimum(np.random.default_rng(0).zipf(1.2, MANY_DOCUMENTS * 100), MANY_WORDS) - 1
    counts = WordCounts.from_documents(numbers.reshape(MANY_DOCUMENTS, 100))
    with tempfile.TemporaryDirectory() as name:
        fit(counts, MANY_WORDS, Settings(TOPICS, iterations=1), 0, Path(name) / "c", "cpu")


def main() -> None:
    """Compare."""
    counts, truth = corpus(DOCUMENTS, 1)
    held_out, _ = corpus(HELD_OUT, 2)
    start = build_initial_model(counts, VOCABULARY, TOPICS, True, "documents", 0)
    with quiet():
        first, last = e_step("first", counts, start), e_step("last", counts, truth)
        our_time, perplexity = whole_fit(counts, held_out, first, last)
        against_tomotopy(counts, held_out, our_time, perplexity)
        megabytes = peak_megabytes(fit_many)
    say(
        f"memory, {MANY_DOCUMENTS:,} x {MANY_WORDS:,} words", f"{megabytes:.0f} MB", "4000 MB", 4000 / megabytes, ">= 1"
    )


if __name__ == "__main__":
    main()

"""Variational inference of topic strengths under a correlated topic model, in batches of documents.

A document has word types w with counts c, N words in all. Its topic strengths eta come from N(mu, Sigma), each word's
topic from softmax(eta), and the word from that topic's distribution beta. The posterior of eta is approximated by
q = N(lambda, diag(nu^2)), and the bound of Blei and Lafferty (2006, eqs. 5-7) on log p(document) is

    E_q log N(eta; mu, Sigma) + H(q) + sum_w c_w sum_i phi_wi (lambda_i + log beta_iw - log phi_wi)
        - N (sum_i exp(lambda_i + nu_i^2 / 2) / zeta - 1 + log zeta).

Its optima in phi and zeta have closed forms. Substituting them leaves a function of lambda and nu^2 alone with the same
maximum:

    E_q log N(eta; mu, Sigma) + H(q) + sum_w c_w log sum_i exp(lambda_i) beta_iw - N log sum_i exp(lambda_i + nu_i^2/2).

It is maximised in lambda by quasi-Newton steps (L-BFGS). The initial metric is the inverse of minus the Hessian at mu
with phi fixed, which is positive definite. All documents of similar length share one metric, whatever else is in the
batch. An iteration costs two products with the words' probabilities, and a few with matrices that all documents share.
In nu^2, given zeta, the coordinates are independent. No step lowers the bound.

The bound has several optima. The search therefore starts twice, from the prior's mean and from the document's own
mixture of topics, each with variances of at most 1, and the larger bound is kept. A start at the variances of Sigma,
which may be large, ends in a poor optimum.

ctm-c maximises the first form of the bound in zeta, lambda, nu^2 and phi in turn, from lambda = 0 and nu^2 = 10 at
every call. That is slow: after its 20 iterations, bounds are some nats per document below the maximum.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.quasi_newton import History, Metric
from macroscope.critics.topics.vocabulary import Integers, WordCounts, Words

Tensor = torch.Tensor
_ARMIJO = 1e-4
_HALVINGS = 25
_LEAST = 1e-290
"""Lower limit of a word's probability, so that a count divided by it is finite."""
_GATHERED = 0.7
"""Share of active documents at or below which converged documents are removed from a batch."""
MIXTURE_ITERATIONS = 15
"""Iterations of EM for the mixture of topics from which an inference starts."""
_VARIANCE_STEPS = 40
_VARIANCE_TOLERANCE = 1e-10
_FIRST_VARIANCE = 10.0
"""ctm-c's first nu^2."""
_NEWTON_STEPS = 100
_LONGEST_STEP = 5.0
_STRENGTH_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Convergence:
    """Stopping rule of the inference of a document's posterior.

    Attributes
    ----------
    tolerance
        Relative change of the bound in one iteration, at or below which the inference stops.
    iterations
        Largest number of iterations.
    by_coordinates
        Whether the search is ctm-c's: one variable after the other, from its own start.
    """

    tolerance: float = 1e-6
    iterations: int = 100
    by_coordinates: bool = False


@dataclass(frozen=True)
class Posterior:
    """Approximate posteriors of topic strengths.

    Attributes
    ----------
    mean, variance
        lambda and nu^2 (documents x dimensions).
    bound
        Lower bound on log p(document), in nats.
    converged
        Whether the bound converged.
    """

    mean: Tensor
    variance: Tensor
    bound: Tensor
    converged: Tensor


def infer(
    words: Words, model: CorrelatedTopicModel, convergence: Convergence, start: tuple[Tensor, Tensor] | None = None
) -> Posterior:
    """Maximise the bound of every document of a batch.

    Parameters
    ----------
    start
        Initial means and variances; default: several, of which the one with the largest bound is kept. The search by
        coordinates has its own.
    """
    problem = _Problem.build(words, model)
    if convergence.by_coordinates:
        return _ascend_coordinates(problem, convergence)
    if start is not None:
        return _maximise(problem, *start, convergence)
    variance = model.covariance.diagonal().clamp(max=1.0).expand(len(words), model.dimensions)
    means = (model.mean.expand(len(words), model.dimensions), mixture_strengths(problem))
    return _best([_maximise(problem, mean, variance, convergence) for mean in means])


def mixture_strengths(problem: "_Problem") -> Tensor:
    """Return the topic strengths of each document's most probable mixture of topics: documents x dimensions.

    The mixture is fitted by EM, without covariances of the topics, and with one more word than the document has, which
    comes from the topics' shares at the prior's mean: no strength is infinite.
    """
    model, words = problem.model, problem.words
    prior = torch.softmax(model.strengths(model.mean[None]), dim=1)
    shares = prior.expand(len(words), -1)
    for _ in range(MIXTURE_ITERATIONS):
        mixed = torch.bmm(problem.likelihood, shares[:, :, None])[:, :, 0].clamp(min=_LEAST)
        expected = shares * torch.bmm((words.counts / mixed)[:, None], problem.likelihood)[:, 0]
        shares = (expected + prior) / (expected.sum(dim=1, keepdim=True) + 1)
    logs = shares.clamp(min=_LEAST).log()
    # Only differences of strengths matter; of all shifts, take the one nearest to the prior's mean.
    shift = logs[:, -1:] if model.pinned else (logs - model.mean).mean(dim=1, keepdim=True)
    return (logs - shift)[:, : model.dimensions]


def _best(posteriors: list[Posterior]) -> Posterior:
    """Return the posterior with the largest bound of each document."""
    best = torch.stack([posterior.bound for posterior in posteriors]).argmax(dim=0)
    documents = torch.arange(len(best), device=best.device)
    parts = zip(*((p.mean, p.variance, p.bound, p.converged) for p in posteriors), strict=True)
    return Posterior(*(torch.stack(part)[best, documents] for part in parts))


def _maximise(problem: "_Problem", mean: Tensor, variance: Tensor, convergence: Convergence) -> Posterior:
    """Maximise the bound of every document from initial means and variances; converged documents leave the batch."""
    mean, variance = mean.clone(), variance.clone()
    search = _Search.begin(problem, mean, variance)
    size = len(mean)
    posterior = Posterior(mean, variance, search.value.clone(), torch.zeros(size, dtype=torch.bool, device=mean.device))
    active = torch.arange(size, device=mean.device)
    for _ in range(convergence.iterations):
        before = search.value
        search.step()
        resting = (search.value - before).abs() <= convergence.tolerance * before.abs().clamp(min=1.0)
        moving = ~posterior.converged[active]
        documents = active[moving]
        for target, current in (
            (posterior.mean, search.mean),
            (posterior.variance, search.variance),
            (posterior.bound, search.value),
        ):
            target[documents] = current[moving]
        posterior.converged[active] |= resting
        left = ~posterior.converged[active]
        number = int(left.sum())
        if not number:
            break
        if number <= _GATHERED * len(active):
            search, active = search[left], active[left]
    return posterior


def _ascend_coordinates(problem: "_Problem", convergence: Convergence) -> Posterior:
    """Maximise the bound in one variable after the other, as ctm-c does; each document stops by itself."""
    model, size = problem.model, len(problem.words)
    mean = model.mean.new_zeros(size, model.dimensions)
    variance = torch.full_like(mean, _FIRST_VARIANCE)
    counted = (problem.totals / len(model.topics))[:, None].expand_as(mean)
    bound = mean.new_full((size,), -torch.inf)
    converged = torch.zeros(size, dtype=torch.bool, device=mean.device)
    for _ in range(convergence.iterations):
        moved = problem.best_mean(mean, variance, counted)
        spread = problem.best_variance(moved, variance)
        fit, expected = problem.fit(moved)
        value = problem.bound(moved, spread, fit)
        left = ~converged
        mean, variance, counted = (
            torch.where(left[:, None], new, old)
            for new, old in ((moved, mean), (spread, variance), (expected, counted))
        )
        resting = left & ((value - bound).abs() < convergence.tolerance * bound.abs())
        bound = torch.where(left, value, bound)
        converged |= resting
        if converged.all():
            break
    return Posterior(mean, variance, bound, converged)


def expected_topics(words: Words, model: CorrelatedTopicModel, mean: Tensor) -> Tensor:
    """Return c phi, the expected number of words of each topic at each word type (documents x types x topics)."""
    likelihood = model.topics.T[words.types]
    weights = torch.softmax(model.strengths(mean), dim=1)
    joint = likelihood * weights[:, None]
    share = words.counts / joint.sum(dim=2).clamp(min=_LEAST)
    return joint * share[:, :, None]


@dataclass(frozen=True)
class _Problem:
    """Bound of a batch of documents, with the probabilities of its words."""

    words: Words
    totals: Tensor
    model: CorrelatedTopicModel
    likelihood: Tensor  # documents x types x topics

    @classmethod
    def build(cls, words: Words, model: CorrelatedTopicModel) -> "_Problem":
        return cls(words, words.totals, model, model.topics.T[words.types])

    def __getitem__(self, documents: Tensor) -> "_Problem":
        return _Problem(self.words[documents], self.totals[documents], self.model, self.likelihood[documents])

    def fit(self, mean: Tensor) -> tuple[Tensor, Tensor]:
        """Return the words' term of the bound at the optimal phi, and its gradient: expected words per free topic."""
        strengths = self.model.strengths(mean)
        peak = strengths.amax(dim=1, keepdim=True)
        weights = (strengths - peak).exp()
        mixed = torch.bmm(self.likelihood, weights[:, :, None])[:, :, 0].clamp(min=_LEAST)
        fit = (self.words.counts * mixed.log()).sum(dim=1) + self.totals * peak[:, 0]
        shares = torch.bmm((self.words.counts / mixed)[:, None], self.likelihood)[:, 0]
        return fit, (weights * shares)[:, : self.model.dimensions]

    def bound(self, mean: Tensor, variance: Tensor, fit: Tensor | None = None) -> Tensor:
        """Return the bound at the optimal phi and zeta."""
        model = self.model
        away = mean - model.mean
        quadratic = ((away @ model.precision) * away).sum(dim=1) + variance @ model.precision.diagonal()
        prior = 0.5 * (model.log_determinant + model.dimensions - quadratic + variance.log().sum(dim=1))
        of_words = self.fit(mean)[0] if fit is None else fit
        return prior + of_words - self.totals * self._log_zeta(mean, variance)

    def gradient(self, mean: Tensor, variance: Tensor, counted: Tensor) -> Tensor:
        """Return the gradient of the bound in lambda; `counted` is that of the words' term."""
        expected = self._expected(mean, variance)
        return (self.model.mean - mean) @ self.model.precision + counted - self.totals[:, None] * expected

    def metric(self) -> Metric:
        """Return the inverse of minus the Hessian at mu with phi fixed, for numbers of words rounded to powers of 2."""
        sizes = torch.exp2(self.totals.clamp(min=1.0).log2().round())
        kinds, kind = sizes.unique(return_inverse=True)
        return Metric(torch.stack([torch.cholesky_inverse(self._factor(float(size))) for size in kinds]), kind)

    def _factor(self, size: float) -> Tensor:
        expected = torch.softmax(self.model.strengths(self.model.mean[None]), dim=1)[0, : self.model.dimensions]
        scaled = size * expected
        return torch.linalg.cholesky(self.model.precision + torch.diag(scaled) - torch.outer(scaled, expected))

    def best_mean(self, mean: Tensor, variance: Tensor, counted: Tensor) -> Tensor:
        """Return the optimal lambda given zeta, nu^2 and phi, by Newton's method: `counted` words of each topic."""
        scale = self.totals.log() - self._log_zeta(mean, variance)
        for _ in range(_NEWTON_STEPS):
            pull = (scale[:, None] + mean + variance / 2).exp()
            gradient = (self.model.mean - mean) @ self.model.precision + counted - pull
            factor = torch.linalg.cholesky(self.model.precision + torch.diag_embed(pull))
            step = torch.cholesky_solve(gradient[:, :, None], factor)[:, :, 0].clamp(-_LONGEST_STEP, _LONGEST_STEP)
            mean = mean + step
            if float(gradient.abs().amax()) < _STRENGTH_TOLERANCE * max(1.0, float(self.totals.amax())):
                break
        return mean

    def best_variance(self, mean: Tensor, variance: Tensor) -> Tensor:
        """Return the optimal nu^2 given zeta: 1 / nu^2 = (Sigma^-1)_ii + N exp(lambda_i + nu_i^2 / 2) / zeta."""
        scale = self.totals.log() - self._log_zeta(mean, variance)
        precision = self.model.precision.diagonal()
        logs = variance.log()
        for _ in range(_VARIANCE_STEPS):
            spread = logs.exp()
            pull = (scale[:, None] + mean + spread / 2).exp()
            excess = spread * (precision + pull) - 1.0
            step = excess / (spread * (precision + pull * (1 + spread / 2)))
            logs = logs - step.clamp(-2.0, 2.0)
            if float(step.abs().amax()) < _VARIANCE_TOLERANCE:
                break
        return logs.exp()

    def _expected(self, mean: Tensor, variance: Tensor) -> Tensor:
        """Return the expected share of each free topic under q, to the order of the bound."""
        return torch.softmax(self.model.strengths(mean + variance / 2), dim=1)[:, : self.model.dimensions]

    def _log_zeta(self, mean: Tensor, variance: Tensor) -> Tensor:
        return torch.logsumexp(self.model.strengths(mean + variance / 2), dim=1)


@dataclass
class _Search:
    """State of the search for the posteriors of a batch."""

    problem: _Problem
    mean: Tensor
    variance: Tensor
    fit: Tensor
    counted: Tensor
    value: Tensor
    history: History

    @classmethod
    def begin(cls, problem: _Problem, mean: Tensor, variance: Tensor) -> "_Search":
        fit, counted = problem.fit(mean)
        value = problem.bound(mean, variance, fit)
        return cls(problem, mean.clone(), variance.clone(), fit, counted, value, History(problem.metric()))

    def __getitem__(self, documents: Tensor) -> "_Search":
        mean, variance, fit, counted, value = (
            part[documents] for part in (self.mean, self.variance, self.fit, self.counted, self.value)
        )
        return _Search(self.problem[documents], mean, variance, fit, counted, value, self.history[documents])

    def step(self) -> None:
        """Take one step in lambda, then set nu^2 to its optimum."""
        gradient = self.problem.gradient(self.mean, self.variance, self.counted)
        step = self._climb(self.history.direction(gradient), gradient)
        after = self.problem.gradient(self.mean, self.variance, self.counted)
        self.history.remember(step, gradient - after)
        self.variance = self.problem.best_variance(self.mean, self.variance)
        self.value = self.problem.bound(self.mean, self.variance, self.fit)

    def _climb(self, direction: Tensor, gradient: Tensor) -> Tensor:
        """Step in a direction, halved until the bound rises enough; no step if it never does. Return the steps."""
        slope = (gradient * direction).sum(dim=1)
        base = self.problem.bound(self.mean, self.variance, self.fit)
        taken = torch.zeros_like(self.mean)
        size = torch.ones_like(base)
        open_ = torch.arange(len(self.mean), device=self.mean.device)
        for _ in range(_HALVINGS):
            whole = len(open_) == len(self.mean)
            here = self.problem if whole else self.problem[open_]
            moved = size[open_, None] * direction[open_]
            tried = self.mean[open_] + moved
            fit, counted = here.fit(tried)
            value = here.bound(tried, self.variance[open_], fit)
            risen = value >= base[open_] + _ARMIJO * size[open_] * slope[open_]
            done = open_[risen]
            taken[done], self.fit[done], self.counted[done] = moved[risen], fit[risen], counted[risen]
            open_ = open_[~risen]
            if not len(open_):
                break
            size[open_] /= 2
        self.mean = self.mean + taken
        return taken


def infer_all(
    counts: WordCounts, model: CorrelatedTopicModel, convergence: Convergence
) -> Iterator[tuple[Integers, Posterior]]:
    """Yield the indices of the documents of a batch, and their posteriors."""
    for documents in counts.batches(len(model.topics)):
        yield documents, infer(counts.batch(documents).to(model.mean.device), model, convergence)

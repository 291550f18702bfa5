"""Variational inference of topic strengths under a correlated topic model, a batch of documents at a time.

A document has word types w with counts c, N words in all. Its topic strengths eta come from N(mu, Sigma), each word's
topic from softmax(eta), and the word from that topic's distribution beta. The posterior of eta is approximated by
q = N(lambda, diag(nu^2)), and the bound of Blei and Lafferty (2006, eqs. 5-7) on log p(document) is

    E_q log N(eta; mu, Sigma) + H(q) + sum_w c_w sum_i phi_wi (lambda_i + log beta_iw - log phi_wi)
        - N (sum_i exp(lambda_i + nu_i^2 / 2) / zeta - 1 + log zeta).

Its optima in phi and zeta are closed forms. Put in, they leave a function of lambda and nu^2 alone, which has the same
maximum:

    E_q log N(eta; mu, Sigma) + H(q) + sum_w c_w log sum_i exp(lambda_i) beta_iw - N log sum_i exp(lambda_i + nu_i^2/2).

In lambda it is climbed by quasi-Newton steps (L-BFGS). What they begin with is the inverse of minus the Hessian at mu
that holds phi fixed, which is positive definite: one for all documents of about as many words, whatever else is in
the batch. An iteration costs two products with the words' probabilities, and a few with matrices that all documents
share. In nu^2, given zeta, each coordinate is by itself. No step lowers the bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.quasi_newton import History, Metric
from macroscope.critics.topics.word_counts import Integers, WordCounts, Words

Tensor = torch.Tensor
_ARMIJO = 1e-4
_HALVINGS = 25
_LEAST = 1e-290
"""Least probability of a word: a count over it is finite."""
_GATHERED = 0.7
"""Documents that have come to rest are taken out of a batch when no more than this share of it is left."""
_VARIANCE_STEPS = 40
_VARIANCE_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Convergence:
    """When the search for a document's posterior ends.

    Attributes
    ----------
    tolerance
        Relative change of the bound in one iteration.
    iterations
        Most iterations.
    """

    tolerance: float = 1e-6
    iterations: int = 100


@dataclass(frozen=True)
class Posterior:
    """Approximate posteriors of topic strengths.

    Attributes
    ----------
    mean, variance
        lambda and nu^2: documents x dimensions.
    bound
        On log p(document), in nats.
    converged
        Whether the bound had come to rest.
    """

    mean: Tensor
    variance: Tensor
    bound: Tensor
    converged: Tensor


def infer(
    words: Words, model: CorrelatedTopicModel, convergence: Convergence, start: tuple[Tensor, Tensor] | None = None
) -> Posterior:
    """Climb the bound of every document of a batch; those that have come to rest leave the batch.

    Parameters
    ----------
    start
        Means and variances to start from; default: mu, and the diagonal of Sigma.
    """
    size, dimensions = len(words), model.dimensions
    if start is None:
        mean = model.mean.expand(size, dimensions).clone()
        variance = model.covariance.diagonal().expand(size, dimensions).clone()
    else:
        mean, variance = (some.clone() for some in start)
    search = _Search.begin(_Problem.of(words, model), mean, variance)
    found = Posterior(mean, variance, search.value.clone(), torch.zeros(size, dtype=torch.bool, device=mean.device))
    active = torch.arange(size, device=mean.device)
    for _ in range(convergence.iterations):
        before = search.value
        search.step()
        resting = (search.value - before).abs() <= convergence.tolerance * before.abs().clamp(min=1.0)
        moving = ~found.converged[active]
        where = active[moving]
        for known, now in ((found.mean, search.mean), (found.variance, search.variance), (found.bound, search.value)):
            known[where] = now[moving]
        found.converged[active] |= resting
        left = ~found.converged[active]
        number = int(left.sum())
        if not number:
            break
        if number <= _GATHERED * len(active):
            search, active = search[left], active[left]
    return found


def expected_topics(words: Words, model: CorrelatedTopicModel, mean: Tensor) -> Tensor:
    """Expected number of words of each topic at each word type: documents x types x topics, c phi."""
    likelihood = model.topics.T[words.types]
    weights = torch.softmax(model.strengths(mean), dim=1)
    joint = likelihood * weights[:, None]
    share = words.counts / joint.sum(dim=2).clamp(min=_LEAST)
    return joint * share[:, :, None]


@dataclass(frozen=True)
class _Problem:
    """A batch with the probabilities of its words."""

    words: Words
    totals: Tensor
    model: CorrelatedTopicModel
    likelihood: Tensor  # documents x types x topics

    @classmethod
    def of(cls, words: Words, model: CorrelatedTopicModel) -> "_Problem":
        return cls(words, words.totals, model, model.topics.T[words.types])

    def __getitem__(self, some: Tensor) -> "_Problem":
        return _Problem(self.words[some], self.totals[some], self.model, self.likelihood[some])

    def fit(self, mean: Tensor) -> tuple[Tensor, Tensor]:
        """What the words add to the bound at the best phi, and its gradient: expected words of each free topic."""
        strengths = self.model.strengths(mean)
        peak = strengths.amax(dim=1, keepdim=True)
        weights = (strengths - peak).exp()
        mixed = torch.bmm(self.likelihood, weights[:, :, None])[:, :, 0].clamp(min=_LEAST)
        fit = (self.words.counts * mixed.log()).sum(dim=1) + self.totals * peak[:, 0]
        shares = torch.bmm((self.words.counts / mixed)[:, None], self.likelihood)[:, 0]
        return fit, (weights * shares)[:, : self.model.dimensions]

    def bound(self, mean: Tensor, variance: Tensor, fit: Tensor | None = None) -> Tensor:
        """The bound at the best phi and zeta."""
        model = self.model
        away = mean - model.mean
        quadratic = ((away @ model.precision) * away).sum(dim=1) + variance @ model.precision.diagonal()
        prior = 0.5 * (model.log_determinant + model.dimensions - quadratic + variance.log().sum(dim=1))
        of_words = self.fit(mean)[0] if fit is None else fit
        return prior + of_words - self.totals * self._log_zeta(mean, variance)

    def gradient(self, mean: Tensor, variance: Tensor, counted: Tensor) -> Tensor:
        """Of the bound in lambda; `counted` is that of the words."""
        expected = self._expected(mean, variance)
        return (self.model.mean - mean) @ self.model.precision + counted - self.totals[:, None] * expected

    def metric(self) -> Metric:
        """Inverse of minus the Hessian at mu that holds phi fixed, for numbers of words that are powers of 2."""
        sizes = torch.exp2(self.totals.clamp(min=1.0).log2().round())
        kinds, kind = sizes.unique(return_inverse=True)
        return Metric(torch.stack([torch.cholesky_inverse(self._factor(float(size))) for size in kinds]), kind)

    def _factor(self, size: float) -> Tensor:
        expected = torch.softmax(self.model.strengths(self.model.mean[None]), dim=1)[0, : self.model.dimensions]
        scaled = size * expected
        return torch.linalg.cholesky(self.model.precision + torch.diag(scaled) - torch.outer(scaled, expected))

    def best_variance(self, mean: Tensor, variance: Tensor) -> Tensor:
        """The best nu^2 at zeta's value: 1 / nu^2 = (Sigma^-1)_ii + N exp(lambda_i + nu_i^2 / 2) / zeta."""
        scale = self.totals.log() - self._log_zeta(mean, variance)
        own = self.model.precision.diagonal()
        logs = variance.log()
        for _ in range(_VARIANCE_STEPS):
            spread = logs.exp()
            pull = (scale[:, None] + mean + spread / 2).exp()
            off = spread * (own + pull) - 1.0
            step = off / (spread * (own + pull * (1 + spread / 2)))
            logs = logs - step.clamp(-2.0, 2.0)
            if float(step.abs().amax()) < _VARIANCE_TOLERANCE:
                break
        return logs.exp()

    def _expected(self, mean: Tensor, variance: Tensor) -> Tensor:
        """Expected share of each free topic under q, to the order of the bound."""
        return torch.softmax(self.model.strengths(mean + variance / 2), dim=1)[:, : self.model.dimensions]

    def _log_zeta(self, mean: Tensor, variance: Tensor) -> Tensor:
        return torch.logsumexp(self.model.strengths(mean + variance / 2), dim=1)


@dataclass
class _Search:
    """Where the search for the posteriors of a batch stands."""

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

    def __getitem__(self, some: Tensor) -> "_Search":
        mean, variance, fit, counted, value = (
            part[some] for part in (self.mean, self.variance, self.fit, self.counted, self.value)
        )
        return _Search(self.problem[some], mean, variance, fit, counted, value, self.history[some])

    def step(self) -> None:
        """One step in lambda, then the best nu^2."""
        gradient = self.problem.gradient(self.mean, self.variance, self.counted)
        step = self._climb(self.history.direction(gradient), gradient)
        after = self.problem.gradient(self.mean, self.variance, self.counted)
        self.history.remember(step, gradient - after)
        self.variance = self.problem.best_variance(self.mean, self.variance)
        self.value = self.problem.bound(self.mean, self.variance, self.fit)

    def _climb(self, direction: Tensor, gradient: Tensor) -> Tensor:
        """Go in a direction, halved until the bound rises enough; nowhere where it does not. Returns the steps."""
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
    """Numbers of the documents of a batch, and their posteriors."""
    for some in counts.batches(len(model.topics)):
        yield some, infer(counts.some(some).to(model.mean.device), model, convergence)

"""Variational inference of topic strengths under a correlated topic model, a batch of documents at a time.

A document has word types w with counts c, N words in all. Its topic strengths eta come from N(mu, Sigma), each word's
topic from softmax(eta), and the word from that topic's distribution beta. The posterior of eta is approximated by
q = N(lambda, diag(nu^2)), and the bound of Blei and Lafferty (2006, eqs. 5-7) on log p(document) is

    E_q log N(eta; mu, Sigma) + H(q) + sum_w c_w sum_i phi_wi (lambda_i + log beta_iw - log phi_wi)
        - N (sum_i exp(lambda_i + nu_i^2 / 2) / zeta - 1 + log zeta).

Its optima in phi and zeta are closed forms. Put in, they leave a function of lambda and nu^2 alone, which has the same
maximum:

    E_q log N(eta; mu, Sigma) + H(q) + sum_w c_w log sum_i exp(lambda_i) beta_iw - N log sum_i exp(lambda_i + nu_i^2/2).

In lambda it is climbed by Newton's method: the Hessian is known, and where it is not negative definite (the words' part
is convex) the one that holds phi fixed is. In nu^2, given zeta, each coordinate is by itself. No step lowers the bound.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from macroscope.critics.topics.model import CorrelatedTopicModel

Tensor = torch.Tensor
_ARMIJO = 1e-4
_HALVINGS = 25
_VARIANCE_STEPS = 40
_VARIANCE_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Words:
    """Documents as counts of word types.

    Attributes
    ----------
    types
        Documents x most types of one, numbers of the vocabulary; 0 where a document has fewer.
    counts
        The same shape, how often each occurs; 0 where a document has fewer types.
    """

    types: Tensor
    counts: Tensor

    def __len__(self) -> int:
        return len(self.types)

    def __getitem__(self, some: Tensor) -> "Words":
        return Words(self.types[some], self.counts[some])

    def to(self, device: torch.device) -> "Words":
        """Move to a device."""
        return Words(self.types.to(device), self.counts.to(device))

    @property
    def totals(self) -> Tensor:
        """Number of words of each document."""
        return self.counts.sum(dim=1)


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
    problem = _Problem.of(words, model)
    best = problem.bound(mean, variance)
    converged = torch.zeros(size, dtype=torch.bool, device=mean.device)
    active = torch.arange(size, device=mean.device)
    for _ in range(convergence.iterations):
        here = problem if len(active) == size else problem[active]
        own, spread, before = mean[active], variance[active], best[active]
        own = here.newton_step(own, spread, before)
        spread = here.best_variance(own, spread)
        now = here.bound(own, spread)
        mean[active], variance[active], best[active] = own, spread, now
        resting = (now - before).abs() <= convergence.tolerance * before.abs().clamp(min=1.0)
        converged[active[resting]] = True
        active = active[~resting]
        if not len(active):
            break
    return Posterior(mean, variance, best, converged)


def expected_topics(words: Words, model: CorrelatedTopicModel, mean: Tensor) -> Tensor:
    """Expected number of words of each topic at each word type: documents x types x topics, c phi."""
    likelihood = model.topics.T[words.types]
    weights = torch.softmax(model.strengths(mean), dim=1)
    joint = likelihood * weights[:, None]
    share = words.counts / joint.sum(dim=2).clamp(min=torch.finfo(joint.dtype).tiny)
    return joint * share[:, :, None]


@dataclass(frozen=True)
class _Problem:
    """A batch with the probabilities of its words."""

    words: Words
    model: CorrelatedTopicModel
    likelihood: Tensor  # documents x types x topics

    @classmethod
    def of(cls, words: Words, model: CorrelatedTopicModel) -> "_Problem":
        return cls(words, model, model.topics.T[words.types])

    def __getitem__(self, some: Tensor) -> "_Problem":
        return _Problem(self.words[some], self.model, self.likelihood[some])

    def bound(self, mean: Tensor, variance: Tensor) -> Tensor:
        """The bound at the best phi and zeta."""
        model = self.model
        away = mean - model.mean
        quadratic = ((away @ model.precision) * away).sum(dim=1) + variance @ model.precision.diagonal()
        prior = 0.5 * (model.log_determinant + model.dimensions - quadratic + variance.log().sum(dim=1))
        strengths = model.strengths(mean)
        peak = strengths.amax(dim=1, keepdim=True)
        mixed = (self.likelihood @ (strengths - peak).exp()[:, :, None])[:, :, 0]
        of_words = torch.where(self.words.counts > 0, mixed.log() + peak, 0.0)
        fit = (self.words.counts * of_words).sum(dim=1)
        return prior + fit - self.words.totals * self._log_zeta(mean, variance)

    def _log_zeta(self, mean: Tensor, variance: Tensor) -> Tensor:
        return torch.logsumexp(self.model.strengths(mean + variance / 2), dim=1)

    def newton_step(self, mean: Tensor, variance: Tensor, value: Tensor) -> Tensor:
        """A step in lambda, halved until the bound rises enough; none where it does not."""
        gradient, exact, safe = self._derivatives(mean, variance)
        factor, failed = torch.linalg.cholesky_ex(exact)
        if failed.any():
            factor[failed > 0] = torch.linalg.cholesky(safe(failed > 0))
        direction = torch.cholesky_solve(gradient[:, :, None], factor)[:, :, 0]
        slope = (gradient * direction).sum(dim=1)
        result, size = mean.clone(), torch.ones_like(value)
        open_ = torch.arange(len(mean), device=mean.device)
        for _ in range(_HALVINGS):
            tried = mean[open_] + size[open_, None] * direction[open_]
            here = self if len(open_) == len(mean) else self[open_]
            risen = here.bound(tried, variance[open_]) >= value[open_] + _ARMIJO * size[open_] * slope[open_]
            result[open_[risen]] = tried[risen]
            open_ = open_[~risen]
            if not len(open_):
                break
            size[open_] /= 2
        return result

    def _derivatives(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor, Callable[[Tensor], Tensor]]:
        """Gradient in lambda, minus the Hessian, and a positive definite matrix instead of it for some documents."""
        model, free = self.model, self.model.dimensions
        weights = torch.softmax(model.strengths(mean), dim=1)
        mixed = (self.likelihood @ weights[:, :, None])[:, :, 0].clamp(min=torch.finfo(mean.dtype).tiny)
        share = self.words.counts / mixed
        counted = weights * (self.likelihood.mT @ share[:, :, None])[:, :, 0]
        expected = torch.softmax(model.strengths(mean + variance / 2), dim=1)[:, :free]
        totals = self.words.totals[:, None]
        gradient = (model.mean - mean) @ model.precision + counted[:, :free] - totals * expected
        phi = self.likelihood[:, :, :free] * weights[:, None, :free] / mixed[:, :, None]
        rising = phi.mT @ (phi * self.words.counts[:, :, None])
        fixed = model.precision - totals[:, :, None] * expected[:, :, None] * expected[:, None, :]
        fixed = fixed + torch.diag_embed(totals * expected)
        exact = fixed + rising - torch.diag_embed(counted[:, :free])
        return gradient, exact, lambda some: fixed[some]

    def best_variance(self, mean: Tensor, variance: Tensor) -> Tensor:
        """The best nu^2 at zeta's value: 1 / nu^2 = (Sigma^-1)_ii + N exp(lambda_i + nu_i^2 / 2) / zeta."""
        scale = self.words.totals.clamp(min=0).log() - self._log_zeta(mean, variance)
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

"""Bound, its derivatives and its maximum, against direct evaluation and numerical optimisation."""

import numpy as np
import pytest
import torch
from scipy.optimize import brentq, minimize

from macroscope.critics.topics.inference import Convergence, _Problem, expected_topics, infer, mixture_strengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.training import INFERENCE
from macroscope.critics.topics.vocabulary import Words

from .simulated import pad_counts, random_model, sample_counts, sample_strengths

TIGHT = Convergence(1e-13, 300)
LENGTHS = (1, 7, 40, 200, 1000)


def documents(model, seed=1, lengths=LENGTHS):
    rng = np.random.default_rng(seed)
    strengths = sample_strengths(model, len(lengths), rng)
    return sample_counts(model, strengths, lengths, rng)


def bound_of_one(model, row, mean, variance, phi, zeta):
    """Compute equations 5 to 7 of Blei and Lafferty (2006) term by term; phi: words x topics."""
    full = np.append(mean, 0.0) if model.pinned else mean
    spread = np.append(variance, 0.0) if model.pinned else variance
    precision, beta = np.linalg.inv(model.covariance.numpy()), model.topics.numpy()
    away = mean - model.mean.numpy()
    of_strengths = 0.5 * np.linalg.slogdet(precision)[1] - 0.5 * len(mean) * np.log(2 * np.pi)
    of_strengths -= 0.5 * (np.diag(variance) @ precision).trace() + 0.5 * away @ precision @ away
    types = np.flatnonzero(row)
    counts = row[types]
    of_topics = (counts[:, None] * phi * full).sum()
    of_topics -= counts.sum() * (np.exp(full + spread / 2).sum() / zeta - 1 + np.log(zeta))
    of_words = (counts[:, None] * phi * np.log(beta[:, types].T)).sum()
    entropy = 0.5 * (np.log(variance) + np.log(2 * np.pi) + 1).sum() - (counts[:, None] * phi * np.log(phi)).sum()
    return of_strengths + of_topics + of_words + entropy


@pytest.mark.parametrize("pinned", [True, False])
def test_bound_is_the_published_one_at_its_best_phi_and_zeta(pinned):
    model = random_model(5, 30, pinned=pinned)
    counts = documents(model)
    rng = np.random.default_rng(2)
    mean, variance = rng.normal(size=(5, model.dimensions)), rng.gamma(2.0, 0.3, (5, model.dimensions))
    problem = _Problem.build(pad_counts(counts), model)
    bounds = problem.bound(torch.from_numpy(mean), torch.from_numpy(variance)).numpy()
    for row, strengths, spread, value in zip(counts, mean, variance, bounds, strict=True):
        full = np.append(strengths, 0.0) if pinned else strengths
        phi = np.exp(full)[None] * model.topics.numpy()[:, np.flatnonzero(row)].T
        phi /= phi.sum(axis=1, keepdims=True)
        zeta = np.exp(full + (np.append(spread, 0.0) if pinned else spread) / 2).sum()
        assert value == pytest.approx(bound_of_one(model, row, strengths, spread, phi, zeta), rel=1e-10)
        for worse in (rng.dirichlet(np.ones(5), len(phi)), phi):
            assert bound_of_one(model, row, strengths, spread, worse, zeta * rng.uniform(0.5, 2)) <= value + 1e-9


def test_derivatives_are_those_of_the_bound():
    model = random_model(4, 25)
    words = pad_counts(documents(model))
    problem = _Problem.build(words, model)
    rng = np.random.default_rng(3)
    mean = torch.from_numpy(rng.normal(size=(5, 3)))
    variance = torch.from_numpy(rng.gamma(2.0, 0.3, (5, 3)))
    gradient = problem.gradient(mean, variance, problem.fit(mean)[1])
    step = 1e-5
    for i in range(3):
        moved = [mean.clone() for _ in range(2)]
        moved[0][:, i] -= step
        moved[1][:, i] += step
        low, high = (problem.bound(point, variance) for point in moved)
        torch.testing.assert_close(gradient[:, i], (high - low) / (2 * step), rtol=1e-5, atol=1e-5)


def test_search_begins_with_the_curvature_at_mu_with_phi_held_fixed():
    model = random_model(4, 25)
    words = pad_counts(documents(model, lengths=(64, 4, 60)))
    problem = _Problem.build(words, model)
    metric, step = problem.metric(), 1e-5
    assert metric.kind.tolist() == [1, 0, 1]
    mean, variance = model.mean.expand(3, 3).clone(), torch.full((3, 3), 1e-12, dtype=torch.float64)
    counted = problem.fit(mean)[1]
    hessian = torch.zeros(3, 3, dtype=torch.float64)
    for i in range(3):
        moved = [mean.clone() for _ in range(2)]
        moved[0][:, i] -= step
        moved[1][:, i] += step
        slopes = [problem.gradient(point, variance, counted) for point in moved]
        hessian[i] = ((slopes[0] - slopes[1]) / (2 * step))[0]
    torch.testing.assert_close(torch.linalg.inv(metric.inverses[1]), hessian, rtol=1e-4, atol=1e-4)
    vectors = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 3)))
    for n in range(3):
        torch.testing.assert_close(metric.times(vectors)[n], vectors[n] @ metric.inverses[metric.kind[n]])


@pytest.mark.parametrize("pinned", [True, False])
def test_maximum_is_that_of_a_numerical_optimiser(pinned):
    model = random_model(6, 40, seed=4, pinned=pinned)
    words = pad_counts(documents(model))
    posterior = infer(words, model, TIGHT)
    assert posterior.converged.all()
    size = model.dimensions
    for d in range(len(words)):
        problem = _Problem.build(words[torch.tensor([d])], model)

        def negative(x, problem=problem):
            mean, logs = torch.from_numpy(x[None, :size]), torch.from_numpy(x[None, size:])
            return -float(problem.bound(mean, logs.exp())[0])

        start = np.concatenate([model.mean.numpy(), np.log(np.diag(model.covariance.numpy()))])
        best = minimize(negative, start, method="BFGS", options={"gtol": 1e-8})
        assert float(posterior.bound[d]) >= -best.fun - 1e-6
        np.testing.assert_allclose(posterior.mean[d].numpy(), best.x[:size], atol=2e-3)
        np.testing.assert_allclose(posterior.variance[d].log().numpy(), best.x[size:], atol=2e-3)


def ascend_as_ctm_c(model, row, iterations):
    """Return lambda and nu^2 after iterations of ctm-c's search: conjugate gradients, then a root for each nu^2."""
    precision, mu, beta = np.linalg.inv(model.covariance.numpy()), model.mean.numpy(), model.topics.numpy()
    types = np.flatnonzero(row)
    counts = row[types]
    mean, variance = np.zeros(len(mu)), np.full(len(mu), 10.0)
    phi = np.full((len(types), len(beta)), 1 / len(beta))

    def zeta():
        return np.exp(np.append(mean + variance / 2, 0.0)).sum()

    for _ in range(iterations):
        expected, share = (counts[:, None] * phi).sum(axis=0)[:-1], counts.sum() / zeta()

        def negative(x, spread=variance, share=share, expected=expected):
            pull = share * np.exp(x + spread / 2)
            away = precision @ (x - mu)
            return 0.5 * (x - mu) @ away - expected @ x + pull.sum(), away - expected + pull

        mean = minimize(negative, mean, jac=True, method="CG", options={"gtol": 1e-6}).x
        share = counts.sum() / zeta()
        pull = share * np.exp(mean)
        pairs = zip(np.diag(precision), pull, strict=True)
        variance = np.array([brentq(lambda v, p=p, q=q: 1 / v - p - q * np.exp(v / 2), 1e-12, 1e3) for p, q in pairs])
        phi = np.exp(np.append(mean, 0.0)) * beta[:, types].T
        phi /= phi.sum(axis=1, keepdims=True)
    return mean, variance


@pytest.mark.parametrize("iterations", [1, 4])
def test_the_published_search_is_that_of_ctm_c(iterations):
    model = random_model(6, 40, seed=4)
    rows = documents(model)
    posterior = infer(pad_counts(rows), model, Convergence(0.0, iterations, by_coordinates=True))
    for d, row in enumerate(rows):
        mean, variance = ascend_as_ctm_c(model, row, iterations)
        np.testing.assert_allclose(posterior.mean[d].numpy(), mean, atol=1e-4)
        np.testing.assert_allclose(posterior.variance[d].numpy(), variance, rtol=1e-4)


@pytest.mark.slow
def test_the_published_search_stops_each_document_by_itself():
    model = random_model(6, 40, seed=4)
    words = pad_counts(documents(model, lengths=(1, 40, 1000)))
    whole = infer(words, model, INFERENCE["published"])
    assert not whole.converged.all()  # 20 iterations are too few for long documents
    assert (whole.bound <= infer(words, model, TIGHT).bound + 1e-6).all()
    for d in range(len(words)):
        single = infer(words[torch.tensor([d])], model, INFERENCE["published"])
        torch.testing.assert_close(single.mean[0], whole.mean[d], atol=1e-6, rtol=0)


def test_a_batch_is_a_loop_and_order_does_not_matter():
    model = random_model(6, 40, seed=5)
    words = pad_counts(documents(model))
    whole = infer(words, model, TIGHT)
    for d in reversed(range(len(words))):
        single = infer(words[torch.tensor([d])], model, TIGHT)
        torch.testing.assert_close(single.mean[0], whole.mean[d], atol=1e-6, rtol=0)
        torch.testing.assert_close(single.bound[0], whole.bound[d], atol=1e-8, rtol=1e-12)


def test_no_iteration_lowers_the_bound():
    model = random_model(8, 60, seed=6, sharpness=0.02)
    words = pad_counts(documents(model, lengths=(3, 30, 300)))
    before = infer(words, model, Convergence(0.0, 1)).bound
    for iterations in range(2, 12):
        now = infer(words, model, Convergence(0.0, iterations)).bound
        assert (now >= before - 1e-9 * before.abs()).all()
        before = now


def test_a_document_without_words_has_the_prior_as_its_posterior():
    model = random_model(4, 20)
    nothing = Words(torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, 1, dtype=torch.float64))
    posterior = infer(nothing, model, TIGHT)
    torch.testing.assert_close(posterior.mean[0], model.mean)
    torch.testing.assert_close(posterior.variance[0], 1 / model.precision.diagonal())


def test_bound_is_below_the_likelihood_and_near_it():
    """The likelihood is estimated by importance sampling from q."""
    model = random_model(4, 30, seed=7)
    counts = documents(model, lengths=(50,))
    words = pad_counts(counts)
    posterior = infer(words, model, TIGHT)
    rng = torch.Generator().manual_seed(0)
    noise = torch.randn(40_000, 3, generator=rng, dtype=torch.float64)
    points = posterior.mean + posterior.variance.sqrt() * noise
    shares = torch.softmax(model.strengths(points), dim=1) @ model.topics
    fit = shares.log() @ torch.from_numpy(counts[0].astype(float))
    proposal = -0.5 * (noise**2 + posterior.variance.log() + np.log(2 * np.pi)).sum(dim=1)
    weights = fit - model.negative_log_density(points) - proposal
    likelihood = float(torch.logsumexp(weights, 0) - np.log(len(points)))
    assert likelihood - 1.5 < float(posterior.bound[0]) < likelihood + 0.05


def test_expected_topics_share_out_the_counts():
    model = random_model(5, 30)
    words = pad_counts(documents(model))
    posterior = infer(words, model, TIGHT)
    shared = expected_topics(words, model, posterior.mean)
    torch.testing.assert_close(shared.sum(dim=2), words.counts)
    assert (shared >= 0).all()


def test_inference_ends_near_the_best_of_many_starts():
    """Sigma is wide, as in fits to real text."""
    narrow = random_model(8, 200, sharpness=0.3)
    model = CorrelatedTopicModel(narrow.mean, 12 * narrow.covariance, narrow.topics)
    words = pad_counts(documents(model, lengths=(60,) * 50))
    bound = infer(words, model, TIGHT).bound
    rng, ones = np.random.default_rng(5), torch.ones(50, model.dimensions, dtype=torch.float64)
    tries = [torch.from_numpy(sample_strengths(model, 50, rng)) for _ in range(20)]
    best = torch.stack([infer(words, model, TIGHT, (start, ones)).bound for start in tries]).amax(dim=0)
    assert float((best - bound).mean()) < 0.3
    assert float((bound >= best - 1e-3).double().mean()) > 0.8


def test_a_start_at_the_variances_of_the_prior_ends_below():
    """Few documents end elsewhere, so that a mean over few of them depends on the last digits of a processor."""
    narrow = random_model(8, 200, sharpness=0.3)
    model = CorrelatedTopicModel(narrow.mean, 12 * narrow.covariance, narrow.topics)
    words = pad_counts(documents(model, lengths=(60,) * 400))
    wide = model.covariance.diagonal().expand(400, -1)
    from_wide = infer(words, model, TIGHT, (model.mean.expand(400, -1), wide)).bound
    assert float((infer(words, model, TIGHT).bound - from_wide).mean()) > 0.08


def test_mixture_strengths_are_those_of_the_words():
    """Each topic has words of its own, and the document has many: its mixture is known."""
    topics = torch.eye(3, dtype=torch.float64)
    model = CorrelatedTopicModel(torch.zeros(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64), topics)
    problem = _Problem.build(pad_counts(np.array([[600, 300, 100]])), model)
    expected = np.log([[6.0, 3.0]])
    np.testing.assert_allclose(mixture_strengths(problem).numpy(), expected, atol=0.02)

"""Cross-fitted scores of the strings critic: which texts estimate and score, in which folds, over which words."""

from dataclasses import replace

import numpy as np
import pytest

from macroscope.critics.strings.cross_fitting import assign_folds, group_texts, score_cross_fitted
from macroscope.critics.strings.estimators import NgramDistribution, NgramEstimator, Vocabulary
from macroscope.statistics.document_groups import group_labels, paired_groups

from .known_strings import P, sample_texts, texts_of


class Recorder:
    """An estimator that records the texts that it was fitted to, and the texts that it scored."""

    name = "recorder"

    def __init__(self):
        self.fits = []

    def fit(self, reference, candidate, seed):
        return self.estimate(reference), self.estimate(candidate)

    def estimate(self, texts):
        seen, scored = set(texts), []
        self.fits.append((texts, scored))

        class Estimate:
            def log_probabilities(self, texts):
                scored.extend(texts)
                assert not seen & set(texts)
                return np.zeros(len(texts))

        return Estimate()


def test_estimates_have_not_seen_scored_texts_and_have_equal_sizes():
    reference, candidate = sample_texts(P, 90, 6, "r"), sample_texts(P[::-1], 30, 7, "c")
    recorder = Recorder()
    scores = score_cross_fitted(reference, candidate, recorder, 3, seed=1)
    # A side: three times the other folds (the first two for the last), the first one alone, three times all but two.
    assert len(recorder.fits) == 14
    for (p_texts, p_scored), (q_texts, q_scored) in zip(recorder.fits[::2], recorder.fits[1::2], strict=True):
        assert set(p_texts) <= set(reference.texts)
        assert set(q_texts) <= set(candidate.texts)
        assert len(p_texts) == len(q_texts)
        assert p_scored == q_scored
    folds, earlier = scores.order.folds, scores.earlier
    assert [np.isnan(values).tolist() for values in earlier.log_p] == [(numbers == 0).tolist() for numbers in folds]
    sizes = scores.order.estimated_from
    assert sizes[0] == 0
    assert sizes[1] == min((numbers == 0).sum() for numbers in folds)
    assert sizes[2] == min((numbers < 2).sum() for numbers in folds)
    for left_out, fold_scores in enumerate(scores.leave_one_out):
        unknown = [np.isnan(values).tolist() for values in fold_scores.log_q]
        assert unknown == [(numbers == left_out).tolist() for numbers in folds]


def test_scores_for_tests_use_only_earlier_folds():
    """Texts of later folds do not change the scores that a test of an earlier fold uses."""
    reference, candidate = sample_texts(P, 40, 6, "r"), sample_texts(P[::-1], 40, 7, "c")
    scores = score_cross_fitted(reference, candidate, NgramEstimator(2), 4, seed=1)
    folds = scores.order.folds
    for fold in range(1, 4):
        before = [
            [text for text, f in zip(collection.texts, folds_of_side, strict=True) if f < fold]
            for collection, folds_of_side in zip((reference, candidate), folds, strict=True)
        ]
        if len(before[0]) != len(before[1]):
            continue  # the larger collection is subsampled at random
        p, q = NgramEstimator(2).fit(*before, 0)
        inside = [text for text, f in zip(reference.texts, folds[0], strict=True) if f == fold]
        np.testing.assert_allclose(scores.earlier.log_p[0][folds[0] == fold], p.log_probabilities(inside))
        np.testing.assert_allclose(scores.earlier.log_q[0][folds[0] == fold], q.log_probabilities(inside))


def test_both_sides_have_one_vocabulary():
    """After any context, all words, the end and an unknown word have a total probability of 1."""
    texts = ["a b a c a b b d", "b a e a b c"], ["a x y z a", "y y x b"]
    distributions = NgramEstimator(2).fit(*texts, 0)
    vocabulary = sorted({word for collection in texts for text in collection for word in text.split()})
    for distribution in distributions:
        score = distribution.log_probabilities
        for context in ("a", "y", "a b", "never"):
            # P(context w ...) over w: P(context w </s>) / P(</s> | w) is known for the first word alone
            first = [np.exp(score([word])[0] - _end_after(distribution, word)) for word in [*vocabulary, "never"]]
            assert sum(first) + np.exp(score([""])[0]) == pytest.approx(1)
            longer = [
                np.exp(score([f"{context} {word}"])[0] - _end_after(distribution, word))
                for word in [*vocabulary, "never"]
            ]
            reached = score([context])[0] - _end_after(distribution, context.split()[-1])
            assert sum(longer) + np.exp(score([context])[0]) == pytest.approx(np.exp(reached))


def _end_after(distribution, word):
    """Log P(</s> | word) of a bigram model."""
    model = distribution.model
    end = model.words["</s>"]
    if word not in model.words:
        return model.log_probabilities[0][_place(model, 0, 0, end)] * np.log(10)
    context = _place(model, 0, 0, model.words[word])
    ngram = _place(model, 1, context, end)
    if ngram >= 0:
        return model.log_probabilities[1][ngram] * np.log(10)
    return (model.backoffs[0][context] + model.log_probabilities[0][_place(model, 0, 0, end)]) * np.log(10)


def _place(model, order, context, word):
    return int(model.trie.extend(order, np.array([context]), np.array([word]))[0])


def test_every_text_has_a_probability_if_a_discount_is_0():
    """A bigram discount may be 0, so that a context would leave no probability to other words."""
    model = NgramEstimator(2).fit(["a"], ["a"], 0)[0].model
    closed = replace(model, backoffs=[np.full_like(model.backoffs[0], -np.inf)])
    distribution = NgramDistribution.of(closed, Vocabulary(), np.empty(0, dtype=np.int64), (1,))
    assert np.isfinite(distribution.log_probabilities(["a a", "b"])).all()
    assert distribution.fallback_orders == (1, 2)


def test_grouped_texts_are_in_one_fold():
    prompt = "the first eight words of a real text"
    real = ["one", "two", "three", "two", "six", f"{prompt} and its end"]
    reference = texts_of(["a", "b", "c", "d", "x", "y"], real, np.ones(6, int))
    sampled = ["three", "perturbed two", "perturbed two", "seven", f"{prompt} but another end"]
    candidate = texts_of(["s1", "b", "s2", "x", "s3"], sampled, np.ones(5, int))
    for seed in range(20):
        first, second = assign_folds(group_texts(reference, candidate, 2), 2, seed)
        assert first[1] == first[3] == second[1] == second[2]  # same text; same id; same text as that
        assert first[2] == second[0]
        assert first[4] == second[3]
        assert first[5] == second[4]
    groups = group_texts(sample_texts(P, 50, 1, "r"), sample_texts(P, 50, 2, "c"), 5)
    sizes = [np.bincount(np.concatenate(assign_folds(groups, 5, s)), minlength=5) for s in range(3)]
    assert np.min(sizes) >= 18


def test_texts_of_one_prompt_are_paired():
    prompt = "the first eight words of a real text"
    reference = texts_of(["a", "b"], [f"{prompt} and its end", "another"], np.ones(2, int))
    candidate = texts_of(["s1", "s2", "a"], [f"{prompt} but another", "a third", "a fourth"], np.ones(3, int))
    first, second = paired_groups(*group_labels(reference.keys, candidate.keys))
    assert first.tolist() == [1, 0]
    assert second.tolist() == [1, 0, 1]


def test_common_heading_does_not_group_texts():
    heading = "all of these texts begin with these nine words "
    sides = [
        texts_of([f"{name}{n}" for n in range(60)], [heading + f"{name} {n}" for n in range(60)], np.full(60, 11))
        for name in "rc"
    ]
    numbers = assign_folds(group_texts(*sides, 5), 5, 0)
    assert np.bincount(np.concatenate(numbers)).tolist() == [24] * 5


def test_fewer_unique_texts_than_folds_give_fewer_folds():
    sides = [texts_of([f"{name}{n}" for n in range(9)], ["one", "two", "three"] * 3, np.ones(9, int)) for name in "rc"]
    first, second = assign_folds(group_texts(*sides, 5), 5, 0)
    assert set(first) == set(second) == {0, 1, 2}

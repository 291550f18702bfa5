"""Tests of the strings critic on texts from known distributions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import trim_mean

from macroscope.critics.strings.comparison import (
    compare,
    compare_latents,
    describe,
    least_like_reference,
    texts_table,
    write_evidence,
)
from macroscope.critics.strings.cross_fitting import assign_folds, group_texts, score_cross_fitted, score_in_sample
from macroscope.critics.strings.estimators import NgramDistribution, NgramEstimator
from macroscope.critics.strings.options import StringsOptions
from macroscope.critics.strings.texts import Texts, project, read_texts
from macroscope.document_keys import opening_of
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.resampling import Resampling
from macroscope.statistics.document_groups import group_labels, paired_groups

UNUSED = Path("unused")
"""Folder of checkpoints, which n-gram models do not have."""
RESAMPLING = Resampling(resamples=200, permutations=99)
OPTIONS = StringsOptions(order=2, folds=3, permutations=99)
WORDS = np.array([f"w{i}" for i in range(8)])
P = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])


def texts_of(ids, texts, words):
    return Texts(ids, [opening_of(text) for text in texts], texts, words)


def sample_texts(shares, count, seed, name="t", length=10):
    """Sample texts of independent words, whose log-probabilities are known."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, length, p=shares)) for _ in range(count)]
    return texts_of([f"{name}{i}" for i in range(count)], texts, np.full(count, length))


def rows_of(reference, candidate, options=OPTIONS):
    comparison = compare(reference, candidate, options, RESAMPLING, UNUSED)
    return comparison, comparison.rows.set_index("statistic")


@pytest.mark.slow
def test_kl_of_known_distributions():
    """Independent words: KL of texts is KL of words times the length; a bigram model learns it from many texts."""
    q = P[::-1]
    _, rows = rows_of(sample_texts(P, 3000, 0, "r"), sample_texts(q, 3000, 1, "c"))
    forward, backward = 10 * (P * np.log(P / q)).sum(), 10 * (q * np.log(q / P)).sum()
    end = -9 * np.log(0.9) - np.log(0.1)  # a tenth of all words is followed by the end
    assert rows.loc["forward_kl", "value"] == pytest.approx(forward, rel=0.08)
    assert rows.loc["backward_kl", "value"] == pytest.approx(backward, rel=0.08)
    assert rows.loc["forward_kl_per_word", "value"] == pytest.approx(forward / 11, rel=0.08)
    assert rows.loc["latent_nll", "value"] == pytest.approx(-10 * (q * np.log(P)).sum() + end, rel=0.08)
    assert rows.loc["cross_entropy", "value"] == pytest.approx(-10 * (P * np.log(q)).sum() + end, rel=0.08)
    assert rows.loc["jeffreys", "p_value"] == 0.01


def test_equal_distributions_differ_only_in_sample():
    reference, candidate = sample_texts(P, 150, 2, "r"), sample_texts(P, 150, 3, "c")
    options = OPTIONS.model_copy(update={"order": 4})
    _, fitted = rows_of(reference, candidate, options)
    assert fitted.loc["jensen_shannon", "p_value"] > 0.05
    assert fitted.loc["latent_ppl_ratio", "p_value"] > 0.05
    _, published = rows_of(reference, candidate, options.model_copy(update={"convention": "published"}))
    assert abs(fitted.loc["forward_kl_per_word", "value"]) < 0.1
    assert published.loc["backward_kl", "value"] * np.log(10) / 11 > 0.3


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
    assert [np.isnan(side).tolist() for side in earlier.log_p] == [(side == 0).tolist() for side in folds]
    sizes = scores.order.estimated_from
    assert sizes[0] == 0
    assert sizes[1] == min((side == 0).sum() for side in folds)
    assert sizes[2] == min((side < 2).sum() for side in folds)
    for left_out, fold_scores in enumerate(scores.leave_one_out):
        unknown = [np.isnan(side).tolist() for side in fold_scores.log_q]
        assert unknown == [(side == left_out).tolist() for side in folds]


def test_scores_for_tests_use_only_earlier_folds():
    """Texts of later folds do not change the scores that a test of an earlier fold uses."""
    reference, candidate = sample_texts(P, 40, 6, "r"), sample_texts(P[::-1], 40, 7, "c")
    scores = score_cross_fitted(reference, candidate, NgramEstimator(2), 4, seed=1)
    folds = scores.order.folds
    for fold in range(1, 4):
        before = [
            [text for text, f in zip(side.texts, folds_of_side, strict=True) if f < fold]
            for side, folds_of_side in zip((reference, candidate), folds, strict=True)
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
    vocabulary = sorted({word for side in texts for text in side for word in text.split()})
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


@pytest.mark.slow
def test_few_words_are_no_better_model():
    """An estimate with few words gives others a high probability if its vocabulary is its own: KL < 0."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 2001)
    names = np.array([f"v{i}" for i in range(2000)])

    def side(size, name):
        texts = [" ".join(rng.choice(names[:size], 30, p=shares[:size] / shares[:size].sum())) for _ in range(60)]
        return texts_of([f"{name}{i}" for i in range(60)], texts, np.full(60, 30))

    real, few = side(2000, "r"), side(20, "c")
    values = {}
    for shared in (True, False):
        _, rows = rows_of(real, few, OPTIONS.model_copy(update={"shared_vocabulary": shared}))
        values[shared] = rows.loc["forward_kl", "value"]
    assert values[False] < 0 < values[True]


def test_every_text_has_a_probability_if_a_discount_is_0():
    """A bigram discount may be 0, so that a context would leave no probability to other words."""
    model = NgramEstimator(2).fit(["a"], ["a"], 0)[0].model
    closed = replace(model, backoffs=[np.full_like(model.backoffs[0], -np.inf)])
    distribution = NgramDistribution.of(closed, (1,))
    assert np.isfinite(distribution.log_probabilities(["a a", "b"])).all()
    assert distribution.fallback_orders == (1, 2)


def test_unequal_sizes_do_not_cause_a_difference():
    """An estimate from ten times the texts would score all texts better."""
    _, rows = rows_of(
        sample_texts(P, 400, 20, "r"), sample_texts(P, 40, 21, "c"), OPTIONS.model_copy(update={"order": 3})
    )
    assert abs(rows.loc["forward_kl_per_word", "value"]) < 0.05
    assert abs(rows.loc["backward_kl_per_word", "value"]) < 0.1
    assert rows.loc["jeffreys", "p_value"] > 0.05


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


def test_published_convention():
    reference, candidate = sample_texts(P, 60, 8, "r"), sample_texts(P[::-1], 60, 9, "c")
    _, rows = rows_of(reference, candidate, OPTIONS.model_copy(update={"convention": "published"}))
    scores = score_in_sample(reference, candidate, NgramEstimator(2), 0)
    log10 = [(p - q) / np.log(10) for p, q in zip(scores.log_p, scores.log_q, strict=True)]
    assert rows.loc["forward_kl", "value"] == pytest.approx(-log10[1].mean())
    assert rows.loc["backward_kl", "value"] == pytest.approx(log10[0].mean())
    js = np.mean(-np.log(0.5 + 0.5 * np.exp(-log10[0]))) + np.mean(-np.log(0.5 + 0.5 * np.exp(log10[1])))
    assert rows.loc["jensen_shannon", "value"] == pytest.approx(js / 2)
    points = [[0.0, 1.0]]
    for w in np.linspace(1e-6, 1 - 1e-6, 25):
        kl_p = trim_mean(-np.log(w + (1 - w) * np.exp(-log10[0])), 0.05)
        kl_q = trim_mean(-np.log((1 - w) + w * np.exp(log10[1])), 0.05)
        points.append([np.exp(-0.2 * kl_p), np.exp(-0.2 * kl_q)])
    x, y = np.array([*points, [1.0, 0.0]]).T
    assert rows.loc["mauve", "value"] == pytest.approx(np.trapezoid(y, x), abs=1e-9)
    assert rows.loc["mauve", "reason"] == ""
    assert np.isnan(rows.loc["mauve", "p_value"])


def test_convention_of_the_papers_text():
    reference, candidate = sample_texts(P, 60, 8, "r"), sample_texts(P[::-1], 60, 9, "c")
    _, rows = rows_of(reference, candidate, OPTIONS.model_copy(update={"convention": "paper"}))
    scores = score_in_sample(reference, candidate, NgramEstimator(2, shared=False), 0)
    ratios = [p - q for p, q in zip(scores.log_p, scores.log_q, strict=True)]
    assert rows.loc["forward_kl", "value"] == pytest.approx(ratios[0].mean())  # eq. 10
    assert rows.loc["backward_kl", "value"] == pytest.approx(-ratios[1].mean())
    assert rows.loc["exponentiated_kl", "value"] == pytest.approx(np.exp(ratios[0].mean()))
    js = np.mean(-np.log(0.5 + 0.5 * np.exp(-ratios[0]))) + np.mean(-np.log(0.5 + 0.5 * np.exp(ratios[1])))
    assert rows.loc["jensen_shannon", "value"] == pytest.approx(js / 2)
    points = [[0.0, 1.0]]
    for w in np.linspace(1e-6, 1 - 1e-6, 25):
        kl_p = np.mean(-np.log(w + (1 - w) * np.exp(-ratios[0])))
        kl_q = np.mean(-np.log((1 - w) + w * np.exp(ratios[1])))
        points.append([np.exp(-0.2 * kl_p), np.exp(-0.2 * kl_q)])
    x, y = np.array([*points, [1.0, 0.0]]).T
    assert rows.loc["mauve", "value"] == pytest.approx(np.trapezoid(y, x), abs=1e-9)
    assert rows.loc[["forward_kl", "mauve"], ["ci_low", "ci_high", "p_value"]].isna().all(axis=None)


@pytest.mark.slow
def test_too_few_texts_for_the_discounts_are_counted():
    _, rows = rows_of(sample_texts(P, 6, 0, "r"), sample_texts(P, 6, 1, "c"))
    assert rows.loc["fallback_orders", "value"] > 0
    _, rows = rows_of(sample_texts(P, 3000, 0, "r"), sample_texts(P, 3000, 1, "c"))
    # Eight words are never counted once: the unigrams of all four estimates fall back, the bigrams at times.
    assert rows.loc["fallback_orders", "value"] >= 4


def test_bad_input():
    with pytest.raises(MacroscopeError, match="the system has 3 texts; the strings critic needs 6 for 3 folds"):
        rows_of(sample_texts(P, 20, 0, "r"), sample_texts(P, 3, 1, "c"))


@pytest.mark.slow
def test_large_collections_are_subsampled_for_scores_and_fully_described(tmp_path):
    paths = []
    for name, seed in (("r", 0), ("c", 1)):
        side = sample_texts(P, 250, seed, name)
        texts = ["", "", *side.texts[2:]]
        lengths = np.array([0, 0, *side.words[2:]], np.int32)
        table = pd.DataFrame({"id": side.ids, "opening": side.openings, "text": texts, "words": lengths})
        paths.append(tmp_path / f"{name}.parquet")
        table.to_parquet(paths[-1])
    options = OPTIONS.model_copy(update={"most_texts": 100})
    given = {
        "options": options,
        "system": "c",
        "resampling": RESAMPLING,
        "checkpoints": UNUSED,
        "evidence": tmp_path / "evidence",
    }
    rows = compare_latents(*paths, **given).set_index("statistic")
    assert rows.loc["scored_texts", "value"] == rows.loc["forward_kl", "n_candidate"] == 100
    assert rows.loc["forward_kl", "n_reference"] == 100
    assert rows.loc["empty_share", "value"] == 2 / 250
    assert rows.loc["empty_share", "n_candidate"] == 250
    assert len(pd.read_parquet(tmp_path / "evidence" / "texts.parquet")) == 200
    halves = compare_latents(paths[0], paths[0], **given | {"evidence": tmp_path / "halves"}).set_index("statistic")
    assert halves.loc["scored_texts", "value"] == 50


def test_empty_and_equal_texts_are_counted():
    side = texts_of(["a", "b", "c", "d"], ["", "x", "x", ""], np.array([0, 1, 1, 0]))
    tables = [pd.DataFrame({"text": side.texts[i:][:2], "words": side.words[i:][:2]}) for i in (0, 2)]
    shares = describe(tables, 0.95).set_index("statistic")["value"]
    assert shares["empty_share"] == 0.5
    assert shares["duplicate_share"] == 0.5
    reference = sample_texts(P, 20, 0, "r")
    reference.texts[0] = ""
    reference.words[0] = 0
    _, rows = rows_of(reference, sample_texts(P, 20, 1, "c"))
    assert np.isfinite(rows.loc["forward_kl", "value"])


@pytest.mark.parametrize("text", ["w0 w1", ""])
def test_collection_of_equal_texts_has_no_divergences_and_a_reason(text, tmp_path):
    same = texts_of([f"c{i}" for i in range(9)], [text] * 9, np.full(9, len(text.split())))
    for sides in ((sample_texts(P, 20, 0, "r"), same), (same, sample_texts(P, 20, 0, "c"))):
        comparison, rows = rows_of(*sides)
        defined = rows.index[rows["value"].notna()]
        assert set(defined) == {"fallback_orders", "scored_texts"}
        assert rows.loc["scored_texts", "value"] == 0
        assert rows.drop(defined)["reason"].str.startswith("all texts of the system or of real text are equal").all()
        write_evidence(tmp_path / "evidence", comparison)
        assert pd.read_csv(tmp_path / "evidence" / "unlike.csv").empty
        assert pd.read_parquet(tmp_path / "evidence" / "texts.parquet")["log_p"].isna().all()


def test_nearly_empty_texts_are_compared():
    short = texts_of(
        [f"c{i}" for i in range(8)], ["", "w0", "w1", "w2", "w3", "w4", "w5", "w6"], np.array([0, *[1] * 7])
    )
    _, rows = rows_of(sample_texts(P, 20, 0, "r"), short, OPTIONS.model_copy(update={"order": 5}))
    assert np.isfinite(rows.loc["forward_kl", "value"])


def test_evidence_shows_the_least_likely_texts():
    reference = sample_texts(P, 200, 10, "r")
    candidate = sample_texts(P, 199, 11, "c")
    odd = texts_of([*candidate.ids, "odd"], [*candidate.texts, "w7 " * 9 + "w7"], np.full(200, 10))
    # Other texts of the candidate are odd as well, so its own distribution covers them.
    # Their openings differ, so they are in all folds.
    odd.texts[:30] = [" ".join(["w7"] * (i % 8) + [f"w{i % 7}"] + ["w7"] * (9 - i % 8)) for i in range(30)]
    comparison, _ = rows_of(reference, odd)
    table = texts_table(comparison)
    assert len(table) == 400
    np.testing.assert_allclose(table["nll"], -table["log_p"])
    shown = least_like_reference(comparison, table)
    assert (shown["excerpt"].str.count("w7") >= 9).all()
    assert shown["log_ratio_per_word"].is_monotonic_decreasing


def test_project_writes_lines(tmp_path):
    documents = [Document("d", "test", None, (Section("T", "a b\nc"), Section(None, "d</s> </s> e")))]
    write_documents(tmp_path / "samples.parquet", documents, Provenance("c"))
    project(Collection(tmp_path / "samples.parquet"), output=tmp_path / "latents.parquet")
    texts = read_texts(tmp_path / "latents.parquet")
    assert texts.texts == ["a b c d</s> </s> e"]
    assert texts.words.tolist() == [5]


def test_table_of_a_whole_comparison(tmp_path):
    comparison, _ = rows_of(sample_texts(P, 40, 0, "r"), sample_texts(P, 40, 1, "c"))
    assert isinstance(comparison.rows, pd.DataFrame)
    assert (comparison.rows["value"].notna() | (comparison.rows["reason"] != "")).all()

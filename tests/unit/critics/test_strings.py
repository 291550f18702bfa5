"""The strings critic on texts whose distributions are known."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, trim_mean

from macroscope.critics.strings.compare_stage import compare_latents
from macroscope.critics.strings.comparison import compare, describe
from macroscope.critics.strings.cross_fitting import cross_fitted, divide, in_sample, together
from macroscope.critics.strings.estimators import NgramDistribution, NgramEstimator, estimator
from macroscope.critics.strings.evidence import texts_table, unlike, write_evidence
from macroscope.critics.strings.options import LstmOptions, StringsOptions
from macroscope.critics.strings.texts import Texts, project, read_texts
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.statistics.latent import Resampling
from macroscope.statistics.permutation_groups import group_labels, partners
from macroscope.statistics.sampled_divergences import NAMES

RESAMPLING = Resampling(resamples=200, permutations=99)
OPTIONS = StringsOptions(order=2, folds=3, permutations=99)
WORDS = np.array([f"w{i}" for i in range(8)])
P = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])


def drawn(shares, count, seed, name="t", length=10):
    """Texts of independent words: log-probabilities are known."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, length, p=shares)) for _ in range(count)]
    return Texts([f"{name}{i}" for i in range(count)], texts, np.full(count, length))


def rows_of(reference, candidate, options=OPTIONS):
    found = compare(reference, candidate, options, RESAMPLING)
    return found, found.rows.set_index("statistic")


def test_kl_of_known_distributions():
    """Independent words: KL of texts is KL of words times the length; a bigram model learns it from many texts."""
    q = P[::-1]
    _, rows = rows_of(drawn(P, 3000, 0, "r"), drawn(q, 3000, 1, "c"))
    forward, backward = 10 * (P * np.log(P / q)).sum(), 10 * (q * np.log(q / P)).sum()
    end = -9 * np.log(0.9) - np.log(0.1)  # a tenth of all words is followed by the end
    assert rows.loc["forward_kl", "value"] == pytest.approx(forward, rel=0.08)
    assert rows.loc["backward_kl", "value"] == pytest.approx(backward, rel=0.08)
    assert rows.loc["forward_kl_per_word", "value"] == pytest.approx(forward / 11, rel=0.08)
    assert rows.loc["latent_nll", "value"] == pytest.approx(-10 * (q * np.log(P)).sum() + end, rel=0.08)
    assert rows.loc["cross_entropy", "value"] == pytest.approx(-10 * (P * np.log(q)).sum() + end, rel=0.08)
    assert rows.loc["forward_kl", "p_value"] == 0.01


def test_no_difference_is_none_with_cross_fitting_and_large_in_sample():
    reference, candidate = drawn(P, 150, 2, "r"), drawn(P, 150, 3, "c")
    options = OPTIONS.model_copy(update={"order": 4})
    _, fitted = rows_of(reference, candidate, options)
    assert fitted.loc["jensen_shannon", "p_value"] > 0.05
    assert fitted.loc["latent_ppl_ratio", "p_value"] > 0.05
    _, published = rows_of(reference, candidate, options.model_copy(update={"convention": "published"}))
    assert abs(fitted.loc["forward_kl_per_word", "value"]) < 0.1
    assert published.loc["backward_kl", "value"] * np.log(10) / 11 > 0.3


@pytest.mark.parametrize("sizes", [(30, 30), (20, 45)])
def test_p_values_keep_their_level(sizes):
    """Texts of the same language: no more of the p-values, and no fewer, are below 5 % than should be."""
    options, resampling = OPTIONS.model_copy(update={"folds": 5}), Resampling(resamples=2)
    found = []
    for seed in range(200):
        sides = [drawn(P, size, [4 + side, seed], "rc"[side]) for side, size in enumerate(sizes)]
        rows = compare(*sides, options, resampling).rows.set_index("statistic")
        found.append(rows.loc[[*NAMES, "latent_ppl_ratio"], "p_value"].to_numpy(float))
    low, high = binom(200, 0.05).ppf([0.0005, 0.9995])
    rejected = (np.array(found) <= 0.05).sum(axis=0)
    assert ((low <= rejected) & (rejected <= high)).all(), rejected


class Recorder:
    """An estimator that remembers what it has seen, and what was scored by each of its estimates."""

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


def test_no_text_is_scored_by_an_estimate_that_has_seen_it_and_both_sides_have_as_many():
    reference, candidate = drawn(P, 90, 6, "r"), drawn(P[::-1], 30, 7, "c")
    recorder = Recorder()
    scores = cross_fitted(reference, candidate, recorder, 3, seed=1)
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
    for left_out, without in enumerate(scores.without):
        unknown = [np.isnan(side).tolist() for side in without.log_q]
        assert unknown == [(side == left_out).tolist() for side in folds]


def test_earlier_folds_alone_estimate_for_tests():
    """What a later fold holds changes no score that a test of an earlier one looks at."""
    reference, candidate = drawn(P, 40, 6, "r"), drawn(P[::-1], 40, 7, "c")
    scores = cross_fitted(reference, candidate, NgramEstimator(2), 4, seed=1)
    folds = scores.order.folds
    for fold in range(1, 4):
        before = [
            [text for text, f in zip(side.texts, some, strict=True) if f < fold]
            for side, some in zip((reference, candidate), folds, strict=True)
        ]
        if len(before[0]) != len(before[1]):
            continue  # the longer side gives some of its texts, at random
        p, q = NgramEstimator(2).fit(*before, 0)
        inside = [text for text, f in zip(reference.texts, folds[0], strict=True) if f == fold]
        np.testing.assert_allclose(scores.earlier.log_p[0][folds[0] == fold], p.log_probabilities(inside))
        np.testing.assert_allclose(scores.earlier.log_q[0][folds[0] == fold], q.log_probabilities(inside))


def test_both_sides_have_one_vocabulary():
    """After any context the words of both sides, the end and an unknown word have all of the probability."""
    texts = ["a b a c a b b d", "b a e a b c"], ["a x y z a", "y y x b"]
    found = NgramEstimator(2).fit(*texts, 0)
    vocabulary = sorted({word for side in texts for text in side for word in text.split()})
    for distribution in found:
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
    one = _place(model, 0, 0, model.words[word])
    two = _place(model, 1, one, end)
    if two >= 0:
        return model.log_probabilities[1][two] * np.log(10)
    return (model.backoffs[0][one] + model.log_probabilities[0][_place(model, 0, 0, end)]) * np.log(10)


def _place(model, order, context, word):
    return int(model.trie.extend(order, np.array([context]), np.array([word]))[0])


def test_few_words_are_no_better_model():
    """A side that repeats few words finds all others likely, where its vocabulary is its own: KL < 0."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 2001)
    names = np.array([f"v{i}" for i in range(2000)])

    def side(some, name):
        texts = [" ".join(rng.choice(names[:some], 30, p=shares[:some] / shares[:some].sum())) for _ in range(60)]
        return Texts([f"{name}{i}" for i in range(60)], texts, np.full(60, 30))

    real, few = side(2000, "r"), side(20, "c")
    values = {}
    for shared in (True, False):
        _, rows = rows_of(real, few, OPTIONS.model_copy(update={"shared_vocabulary": shared}))
        values[shared] = rows.loc["forward_kl", "value"]
    assert values[False] < 0 < values[True]


def test_every_text_has_a_probability_where_a_discount_is_0():
    """Texts whose bigrams' third discount is 0: a context of such alone leaves nothing to other words."""
    model = NgramEstimator(2).fit(["a"], ["a"], 0)[0].model
    closed = replace(model, backoffs=[np.full_like(model.backoffs[0], -np.inf)])
    found = NgramDistribution.of(closed, (1,))
    assert np.isfinite(found.log_probabilities(["a a", "b"])).all()
    assert found.fallback_orders == (1, 2)


def test_unequal_sides_do_not_differ_where_nothing_does():
    """The estimate from ten times the texts would be the better one of either side's texts."""
    _, rows = rows_of(drawn(P, 400, 20, "r"), drawn(P, 40, 21, "c"), OPTIONS.model_copy(update={"order": 3}))
    assert abs(rows.loc["forward_kl_per_word", "value"]) < 0.05
    assert abs(rows.loc["backward_kl_per_word", "value"]) < 0.1
    assert rows.loc["forward_kl", "p_value"] > 0.05


def test_folds_keep_together_what_must_not_see_each_other():
    prompt = "the first eight words of a real text"
    real = ["one", "two", "three", "two", "six", f"{prompt} and its end"]
    reference = Texts(["a", "b", "c", "d", "x", "y"], real, np.ones(6, int))
    sampled = ["three", "perturbed two", "perturbed two", "seven", f"{prompt} but another end"]
    candidate = Texts(["s1", "b", "s2", "x", "s3"], sampled, np.ones(5, int))
    for seed in range(20):
        first, second = divide(together(reference, candidate, 2), 2, seed)
        assert first[1] == first[3] == second[1] == second[2]  # same text; same id; same text as that
        assert first[2] == second[0]
        assert first[4] == second[3]
        assert first[5] == second[4]
    groups = together(drawn(P, 50, 1, "r"), drawn(P, 50, 2, "c"), 5)
    sizes = [np.bincount(np.concatenate(divide(groups, 5, s)), minlength=5) for s in range(3)]
    assert np.min(sizes) >= 18


def test_texts_of_one_prompt_are_partners():
    prompt = "the first eight words of a real text"
    reference = Texts(["a", "b"], [f"{prompt} and its end", "another"], np.ones(2, int))
    candidate = Texts(["s1", "s2", "a"], [f"{prompt} but another", "a third", "a fourth"], np.ones(3, int))
    first, second = partners(*group_labels(reference.keys, candidate.keys))
    assert first.tolist() == [1, 0]
    assert second.tolist() == [1, 0, 1]


def test_a_heading_that_all_texts_have_does_not_keep_them_together():
    heading = "all of these texts begin with these nine words "
    sides = [
        Texts([f"{name}{n}" for n in range(60)], [heading + f"{name} {n}" for n in range(60)], np.full(60, 11))
        for name in "rc"
    ]
    numbers = divide(together(*sides, 5), 5, 0)
    assert np.bincount(np.concatenate(numbers)).tolist() == [24] * 5


def test_with_fewer_different_texts_than_folds_there_are_fewer_folds():
    sides = [Texts([f"{name}{n}" for n in range(9)], ["one", "two", "three"] * 3, np.ones(9, int)) for name in "rc"]
    first, second = divide(together(*sides, 5), 5, 0)
    assert set(first) == set(second) == {0, 1, 2}


def test_published_convention():
    reference, candidate = drawn(P, 60, 8, "r"), drawn(P[::-1], 60, 9, "c")
    _, rows = rows_of(reference, candidate, OPTIONS.model_copy(update={"convention": "published"}))
    scores = in_sample(reference, candidate, NgramEstimator(2), 0)
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


def test_too_few_texts_for_the_discounts_are_counted():
    _, rows = rows_of(drawn(P, 6, 0, "r"), drawn(P, 6, 1, "c"))
    assert rows.loc["fallback_orders", "value"] > 0
    _, rows = rows_of(drawn(P, 3000, 0, "r"), drawn(P, 3000, 1, "c"))
    # Eight words are never counted once: the unigrams of all four estimates fall back, the bigrams at times.
    assert rows.loc["fallback_orders", "value"] >= 4


def test_bad_input():
    with pytest.raises(MacroscopeError, match="the system has 3 texts; the strings critic needs 6 for 3 folds"):
        rows_of(drawn(P, 20, 0, "r"), drawn(P, 3, 1, "c"))


def test_of_very_many_texts_some_are_scored_and_all_are_described(tmp_path):
    paths = []
    for name, seed in (("r", 0), ("c", 1)):
        side = drawn(P, 250, seed, name)
        texts = ["", "", *side.texts[2:]]
        lengths = np.array([0, 0, *side.words[2:]], np.int32)
        table = pd.DataFrame({"id": side.ids, "opening": texts, "text": texts, "words": lengths})
        paths.append(tmp_path / f"{name}.parquet")
        table.to_parquet(paths[-1])
    options = OPTIONS.model_copy(update={"most_texts": 100})
    given = {"options": options, "resampling": RESAMPLING, "evidence": tmp_path / "evidence"}
    rows = compare_latents(*paths, **given).set_index("statistic")
    assert rows.loc["scored_texts", "value"] == rows.loc["forward_kl", "n_candidate"] == 100
    assert rows.loc["forward_kl", "n_reference"] == 100
    assert rows.loc["empty_share", "value"] == 2 / 250
    assert rows.loc["empty_share", "n_candidate"] == 250
    assert len(pd.read_parquet(tmp_path / "evidence" / "texts.parquet")) == 200
    halves = compare_latents(paths[0], paths[0], **given | {"evidence": tmp_path / "halves"}).set_index("statistic")
    assert halves.loc["scored_texts", "value"] == 50


def test_empty_and_equal_texts_are_counted():
    side = Texts(["a", "b", "c", "d"], ["", "x", "x", ""], np.array([0, 1, 1, 0]))
    tables = [pd.DataFrame({"text": side.texts[i:][:2], "words": side.words[i:][:2]}) for i in (0, 2)]
    shares = describe(tables, 0.95).set_index("statistic")["value"]
    assert shares["empty_share"] == 0.5
    assert shares["duplicate_share"] == 0.5
    reference = drawn(P, 20, 0, "r")
    reference.texts[0] = ""
    reference.words[0] = 0
    _, rows = rows_of(reference, drawn(P, 20, 1, "c"))
    assert np.isfinite(rows.loc["forward_kl", "value"])


@pytest.mark.parametrize("text", ["w0 w1", ""])
def test_a_side_of_one_text_only_has_no_divergences_and_a_reason(text, tmp_path):
    same = Texts([f"c{i}" for i in range(9)], [text] * 9, np.full(9, len(text.split())))
    for sides in ((drawn(P, 20, 0, "r"), same), (same, drawn(P, 20, 0, "c"))):
        found, rows = rows_of(*sides)
        known = rows.index[rows["value"].notna()]
        assert set(known) == {"fallback_orders", "scored_texts"}
        assert rows.loc["scored_texts", "value"] == 0
        assert rows.drop(known)["reason"].str.startswith("texts of a side are the same").all()
        write_evidence(tmp_path / "evidence", found)
        assert pd.read_csv(tmp_path / "evidence" / "unlike.csv").empty
        assert pd.read_parquet(tmp_path / "evidence" / "texts.parquet")["log_p"].isna().all()


def test_a_side_of_nearly_empty_texts_is_compared():
    short = Texts([f"c{i}" for i in range(8)], ["", "w0", "w1", "w2", "w3", "w4", "w5", "w6"], np.array([0, *[1] * 7]))
    _, rows = rows_of(drawn(P, 20, 0, "r"), short, OPTIONS.model_copy(update={"order": 5}))
    assert np.isfinite(rows.loc["forward_kl", "value"])


def test_evidence_shows_the_least_likely_texts():
    reference = drawn(P, 200, 10, "r")
    candidate = drawn(P, 199, 11, "c")
    odd = Texts([*candidate.ids, "odd"], [*candidate.texts, "w7 " * 9 + "w7"], np.full(200, 10))
    # Other texts of the candidate are odd as well: its own distribution knows them.
    # They begin with other words, and so are in all folds.
    odd.texts[:30] = [" ".join(["w7"] * (i % 8) + [f"w{i % 7}"] + ["w7"] * (9 - i % 8)) for i in range(30)]
    found, _ = rows_of(reference, odd)
    table = texts_table(found)
    assert len(table) == 400
    np.testing.assert_allclose(table["nll"], -table["log_p"])
    shown = unlike(found, table)
    assert (shown["excerpt"].str.count("w7") >= 9).all()
    assert shown["log_ratio_per_word"].is_monotonic_decreasing


def test_project_writes_lines(tmp_path):
    documents = [Document("d", "test", None, (Section("T", "a b\nc"), Section(None, "d</s> </s> e")))]
    write_documents(tmp_path / "samples.parquet", documents, Provenance("c"))
    project(Collection(tmp_path / "samples.parquet"), output=tmp_path / "latents.parquet")
    found = read_texts(tmp_path / "latents.parquet")
    assert found.texts == ["a b c d</s> </s> e"]
    assert found.words.tolist() == [5]


def test_lstm_learns_which_side_a_text_is_from():
    options = StringsOptions(
        estimator="lstm",
        folds=3,
        permutations=99,
        lstm=LstmOptions(vocabulary=300, hidden_size=24, embedding_size=16, epochs=6, learning_rate=0.01, dropout=0.0),
    )
    _, rows = rows_of(drawn(P, 60, 12, "r"), drawn(P[::-1], 60, 13, "c"), options)
    assert rows.loc["forward_kl", "value"] > 0
    assert rows.loc["forward_kl", "p_value"] <= 0.05


def test_lstm_scores_are_those_of_a_plain_forward_pass():
    import torch

    texts = ["w0 w1", "", "w2 " * 30]
    options = StringsOptions(estimator="lstm", lstm=LstmOptions(vocabulary=300, hidden_size=8, epochs=1))
    found = estimator(options, texts * 4).train(texts * 4, seed=1)
    for text, log in zip(texts, found.log_probabilities(texts), strict=True):
        boundary = found.tokenizer.bos_token_id
        ids = torch.tensor([[boundary, *found.tokenizer(text)["input_ids"], boundary]])
        with torch.no_grad():
            logs = found.model(input_ids=ids).logits.log_softmax(-1)
        expected = sum(float(logs[0, i, ids[0, i + 1]]) for i in range(ids.shape[1] - 1))
        assert log == pytest.approx(expected, rel=1e-4)


def test_table_of_a_whole_comparison(tmp_path):
    found, _ = rows_of(drawn(P, 40, 0, "r"), drawn(P, 40, 1, "c"))
    assert isinstance(found.rows, pd.DataFrame)
    assert (found.rows["value"].notna() | (found.rows["reason"] != "")).all()

"""The strings critic on texts whose distributions are known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import trim_mean

from macroscope.critics.strings.comparison import compare, describe
from macroscope.critics.strings.cross_fitting import cross_fitted, divide, in_sample
from macroscope.critics.strings.estimators import NgramEstimator, estimator
from macroscope.critics.strings.evidence import texts_table, unlike
from macroscope.critics.strings.options import LstmOptions, StringsOptions
from macroscope.critics.strings.texts import Texts, project, read_texts
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.statistics.latent import Resampling

RESAMPLING = Resampling(resamples=200, permutations=99)
OPTIONS = StringsOptions(order=2, folds=2, permutations=99)
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


def test_p_values_where_nothing_differs():
    below = 0
    for seed in range(60):
        _, rows = rows_of(drawn(P, 30, [4, seed], "r"), drawn(P, 20, [5, seed], "c"))
        below += rows.loc["forward_kl", "p_value"] <= 0.05
    assert below <= 10  # binomial(60, 0.05): more, once in ten thousand times


class Recorder:
    """An estimator that remembers what it has seen, and what was scored by each of its estimates."""

    name = "recorder"

    def __init__(self):
        self.fits = []

    def fit(self, texts, seed):
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
    cross_fitted(reference, candidate, recorder, 3, seed=1)
    assert len(recorder.fits) == 6
    for (p_texts, p_scored), (q_texts, q_scored) in zip(recorder.fits[::2], recorder.fits[1::2], strict=True):
        assert set(p_texts) <= set(reference.texts)
        assert set(q_texts) <= set(candidate.texts)
        assert len(p_texts) == len(q_texts)
        assert p_scored == q_scored
    everything = [text for _, scored in recorder.fits[::2] for text in scored]
    assert sorted(everything) == sorted([*reference.texts, *candidate.texts])


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
        first, second = divide(reference, candidate, 2, seed)
        assert first[1] == first[3] == second[1] == second[2]  # same text; same id; same text as that
        assert first[2] == second[0]
        assert first[4] == second[3]
        assert first[5] == second[4]
    sizes = [
        np.bincount(np.concatenate(divide(drawn(P, 50, 1, "r"), drawn(P, 50, 2, "c"), 5, s)), minlength=5)
        for s in range(3)
    ]
    assert np.min(sizes) >= 18


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
    assert rows.loc["mauve", "value"] == pytest.approx(np.trapezoid(y, x), abs=1e-4)  # 0.0869 is 0.2 / log 10 rounded
    assert rows.loc["mauve", "reason"] == ""
    assert np.isnan(rows.loc["mauve", "p_value"])


def test_too_few_texts_for_the_discounts_are_counted():
    _, rows = rows_of(drawn(P, 4, 0, "r"), drawn(P, 4, 1, "c"))
    assert rows.loc["fallback_orders", "value"] > 0
    _, rows = rows_of(drawn(P, 3000, 0, "r"), drawn(P, 3000, 1, "c"))
    # Eight words are never counted once: the unigrams of all four estimates fall back, the bigrams at times.
    assert rows.loc["fallback_orders", "value"] >= 4


def test_bad_input():
    with pytest.raises(MacroscopeError, match="the system has 3 texts; the strings critic needs 4 for 2 folds"):
        rows_of(drawn(P, 20, 0, "r"), drawn(P, 3, 1, "c"))
    same = Texts([f"c{i}" for i in range(9)], ["same"] * 9, np.ones(9, int))
    with pytest.raises(MacroscopeError, match="cannot leave out a fold of the system"):
        rows_of(drawn(P, 20, 0, "r"), same)


def test_empty_and_equal_texts_are_counted():
    side = Texts(["a", "b", "c", "d"], ["", "x", "x", ""], np.array([0, 1, 1, 0]))
    shares = describe(side, 0.95).set_index("statistic")["value"]
    assert shares["empty_share"] == 0.5
    assert shares["duplicate_share"] == 0.5
    reference = drawn(P, 20, 0, "r")
    reference.texts[0] = ""
    reference.words[0] = 0
    _, rows = rows_of(reference, drawn(P, 20, 1, "c"))
    assert np.isfinite(rows.loc["forward_kl", "value"])


def test_a_side_of_empty_texts_is_compared():
    nothing = Texts([f"c{i}" for i in range(8)], [""] * 8, np.zeros(8, int))
    with pytest.raises(MacroscopeError, match="too few or all the same"):
        rows_of(drawn(P, 20, 0, "r"), nothing)
    short = Texts([f"c{i}" for i in range(8)], ["", "w0", "w1", "w2", "w3", "w4", "w5", "w6"], np.array([0, *[1] * 7]))
    _, rows = rows_of(drawn(P, 20, 0, "r"), short, OPTIONS.model_copy(update={"order": 5}))
    assert np.isfinite(rows.loc["forward_kl", "value"])


def test_evidence_shows_the_least_likely_texts():
    reference = drawn(P, 200, 10, "r")
    candidate = drawn(P, 199, 11, "c")
    odd = Texts([*candidate.ids, "odd"], [*candidate.texts, "w7 " * 9 + "w7"], np.full(200, 10))
    # Other texts of the candidate are odd as well: its own distribution knows them.
    odd.texts[:30] = [f"w7 w7 w7 w7 w7 w7 w7 w7 w7 w{i % 8}" for i in range(30)]
    found, _ = rows_of(reference, odd)
    table = texts_table(found)
    assert len(table) == 400
    np.testing.assert_allclose(table["nll"], -table["log_p"])
    shown = unlike(found, table)
    assert shown["excerpt"].iloc[0].startswith("w7 w7 w7")
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
        folds=2,
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
    found = estimator(options, texts * 4).fit(texts * 4, seed=1)
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

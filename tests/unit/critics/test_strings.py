"""Tests of the strings critic on texts from known distributions."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import trim_mean

from macroscope.critics.strings.comparison import (
    compare_latents,
    describe,
    least_like_reference,
    texts_table,
    write_evidence,
)
from macroscope.critics.strings.cross_fitting import score_in_sample
from macroscope.critics.strings.estimators import NgramEstimator
from macroscope.critics.strings.latents import project, read_texts
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError

from .known_strings import OPTIONS, RESAMPLING, UNUSED, P, rows_of, sample_texts, texts_of


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


@pytest.mark.slow
def test_few_words_are_no_better_model():
    """An estimate with few words gives others a high probability if its vocabulary is its own: KL < 0."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 2001)
    names = np.array([f"v{i}" for i in range(2000)])

    def sampled(size, name):
        texts = [" ".join(rng.choice(names[:size], 30, p=shares[:size] / shares[:size].sum())) for _ in range(60)]
        return texts_of([f"{name}{i}" for i in range(60)], texts, np.full(60, 30))

    real, few = sampled(2000, "r"), sampled(20, "c")
    values = {}
    for shared in (True, False):
        _, rows = rows_of(real, few, OPTIONS.model_copy(update={"shared_vocabulary": shared}))
        values[shared] = rows.loc["forward_kl", "value"]
    assert values[False] < 0 < values[True]


def test_unequal_sizes_do_not_cause_a_difference():
    """An estimate from ten times the texts would score all texts better."""
    _, rows = rows_of(
        sample_texts(P, 400, 20, "r"), sample_texts(P, 40, 21, "c"), OPTIONS.model_copy(update={"order": 3})
    )
    assert abs(rows.loc["forward_kl_per_word", "value"]) < 0.05
    assert abs(rows.loc["backward_kl_per_word", "value"]) < 0.1
    assert rows.loc["jeffreys", "p_value"] > 0.05


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
        sampled = sample_texts(P, 250, seed, name)
        texts = ["", "", *sampled.texts[2:]]
        lengths = np.array([0, 0, *sampled.words[2:]], np.int32)
        table = pd.DataFrame({"id": sampled.ids, "opening": sampled.openings, "text": texts, "words": lengths})
        paths.append(tmp_path / f"{name}.parquet")
        table.to_parquet(paths[-1])
    options = OPTIONS.model_copy(update={"most_texts": 100})
    given = {
        "options": options,
        "system": "c",
        "language": "en",
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
    texts = texts_of(["a", "b", "c", "d"], ["", "x", "x", ""], np.array([0, 1, 1, 0]))
    tables = [pd.DataFrame({"text": texts.texts[i:][:2], "words": texts.words[i:][:2]}) for i in (0, 2)]
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
        assert set(defined) == {"shared_ngrams_difference", "fallback_orders", "scored_texts"}
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
    assert texts.split == [["a", "b", "c", "d", "</s>", "e"]]  # a control token at a word has a name of its own


def test_table_of_a_whole_comparison(tmp_path):
    comparison, _ = rows_of(sample_texts(P, 40, 0, "r"), sample_texts(P, 40, 1, "c"))
    assert isinstance(comparison.rows, pd.DataFrame)
    assert (comparison.rows["value"].notna() | (comparison.rows["reason"] != "")).all()

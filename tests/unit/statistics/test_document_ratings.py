"""Ratings of single documents: what is read, what is refused, and correlations with known answers."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.document_ratings import UNKNOWN_ANNOTATOR, correlate_ratings, read_ratings, rename_systems
from macroscope.statistics.judgements import has_document_ratings, read_judgements

FEW = Resampling(resamples=100)


def write(tmp_path, text):
    path = tmp_path / "ratings.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def values_of(systems, documents, value):
    rows = [("c", "s", system, f"d{n}", value(system, n)) for system in systems for n in range(documents)]
    return pd.DataFrame(rows, columns=["critic", "statistic", "system", "document", "value"])


def test_single_ratings(tmp_path):
    table = write(tmp_path, "document,system,score\nd0,a,3\nd0,a,5\nd1,a,1\nd0,b,2\n")
    assert has_document_ratings(table)
    assert read_judgements(table).scores == {"score": {"a": 2.5, "b": 2.0}}  # the mean of the documents' means
    assert set(read_ratings(table)["annotator"]) == {UNKNOWN_ANNOTATOR}


@pytest.mark.parametrize("annotator", ["p", ""])
def test_repeated_scores_of_one_annotator_are_not_agreement(tmp_path, annotator):
    """Nor are scores of a document by unknown annotators, who may be one person."""
    rng = np.random.default_rng(1)
    lines = [f"d{n},a,{annotator},{score + k}" for n, score in enumerate(rng.normal(size=30)) for k in (0, 1)]
    ratings = read_ratings(write(tmp_path, "\n".join(["document,system,annotator,score", *lines])))
    assert len(ratings) == 30
    table = correlate_ratings(ratings, values_of("a", 30, lambda system, n: rng.normal()), FEW)
    assert table["reliability"].isna().all()
    assert table.loc[0, "reason"].startswith("no document was judged by two annotators")


def test_the_order_of_compared_systems_does_not_matter(tmp_path):
    table = write(tmp_path, "document,system,against,annotator,score\nd0,b,a,p,1\nd0,a,b,q,-1\nd1,a,b,p,1\n")
    ratings = read_ratings(table)
    assert ratings[["system", "against", "score"]].values.tolist() == [["a", "b", -1], ["a", "b", -1], ["a", "b", 1]]
    assert read_judgements(table).scores == {"score": {"b": 0.0, "a": 0.0}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("document,system,score\n,a,1\n", "a row without 'document'"),
        ("document,system,against,score\nd,a,a,1\n", "'a' is compared with itself"),
        ("document,system,against,score\nd,a,b,1\nd,a,,1\n", "compare two texts, others rate one"),
        ("document,system,score\nd,a,good\n", "line 2: the score 'good' is not a number"),
    ],
)
def test_invalid_ratings_are_an_error(tmp_path, text, message):
    with pytest.raises(MacroscopeError, match=message):
        read_ratings(write(tmp_path, text))


def test_system_scores_are_not_document_ratings(tmp_path):
    assert not has_document_ratings(write(tmp_path, "system,score\na,1\n"))
    assert not has_document_ratings("mauve")


def test_rated_documents_within_and_over_systems(tmp_path):
    """A critic that only tells the systems apart agrees with people over systems, and not within."""
    rng = np.random.default_rng(1)
    lines = [f"d{n},{s},{10 * (s == 'a') + rng.normal()}" for s in "ab" for n in range(30)]
    ratings = read_ratings(write(tmp_path, "\n".join(["document,system,score", *lines])))
    values = values_of("ab", 29, lambda system, n: 10 * (system == "a") + rng.normal())
    table = correlate_ratings(ratings, values, FEW).set_index("documents_of")
    assert table.loc["over systems", "pearson"] > 0.9
    assert abs(table.loc["within systems", "pearson"]) < 0.5
    assert table["unmatched"].tolist() == [2, 2]
    matched = ratings[ratings["document"] != "d29"]
    expected = pearsonr(values["value"], matched["score"])[0]
    assert table.loc["over systems", "pearson"] == pytest.approx(expected)


def test_compared_texts(tmp_path):
    lines = [f"d{n},b,a,p{k},{1 if n % 3 else -1}" for n in range(30) for k in range(2)]
    ratings = read_ratings(write(tmp_path, "\n".join(["document,system,against,annotator,score", *lines])))
    values = values_of("ab", 30, lambda system, n: (1.0 + n / 100 if n % 3 else -1.0) * (system == "b"))
    table = correlate_ratings(ratings, values, FEW).set_index("documents_of")
    assert (table["pearson"] > 0.95).all()
    assert table["documents"].tolist() == [30, 30]


def test_systems_are_renamed_to_those_of_the_run(tmp_path):
    ratings = read_ratings(write(tmp_path, "document,system,against,score\nd,b,a,1\nd,c,a,1\n"))
    assert rename_systems(ratings, {"mine": "a", "theirs": "b"})[["system", "against"]].values.tolist() == [
        ["mine", "theirs"]
    ]

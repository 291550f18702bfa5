"""Tests of probing on clusters with known information."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.clusters.figures import plot_probing
from macroscope.critics.clusters.options import ClustersOptions, EmbeddingOptions, Probing
from macroscope.critics.clusters.probing import (
    ProbedTexts,
    compute_r_squared,
    embed_corpus,
    predict_cluster_mean,
    predict_from_clusters,
    predict_majority_label,
    probe,
)
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.options import Resampling

from ...tiny import write_encoder

pytestmark = pytest.mark.slow

RESAMPLING = Resampling(resamples=200, permutations=0)


def options_of(**probing):
    """Return options that probe one corpus."""
    return ClustersOptions(seeds=2, normalise=False, probing=[Probing(**probing)])


def embed(documents, encoder, output):
    """Embed a corpus with an encoder from a folder."""
    tiny = EmbeddingOptions(encoder=str(encoder), max_tokens=16)
    embed_corpus(documents, encoder="tiny", options=options_of(corpus="c", encoders={"tiny": tiny}), output=output)


def test_majority_and_its_fallback():
    labels = np.array([0, 0, 1, 1, 1])
    train_clusters = np.array([0, 0, 0, 1, 1])
    assert predict_majority_label(labels, train_clusters, np.array([0, 1, 2])).tolist() == [
        0,
        1,
        1,
    ]  # cluster 2 has no training texts


def test_r_squared():
    train_values, train_clusters = np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1])
    test_values = np.array([1.0, 3.0])

    def r_squared(train_clusters, test_clusters):
        return compute_r_squared(
            (test_values - predict_cluster_mean(train_values, train_clusters, test_clusters)) ** 2, test_values
        )

    assert r_squared(train_clusters, np.array([0, 1])) == 1
    # All in one cluster: the mean of the training texts, which is that of the test texts.
    assert r_squared(np.zeros(4, int), np.zeros(2, int)) == 0
    # A cluster without training texts: the mean of all of them.
    assert r_squared(train_clusters, np.array([0, 2])) == pytest.approx(0.5)
    assert np.isnan(compute_r_squared(np.zeros(2), np.ones(2)))


def test_interval_of_r_squared_holds_the_truth():
    """Clusters explain 1 / (1 + 1) of the variance: half."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng([7, seed])
        kinds, noise = rng.integers(0, 2, 300), rng.normal(0, 1, 300)
        values = np.where(kinds, 1.0, -1.0) + noise
        sides = []
        for part in (slice(0, 100), slice(100, 300)):
            shares = {"stop_word_share": values[part], "symbol_share": np.zeros(len(values[part]))}
            sides.append(
                ProbedTexts(np.zeros((len(values[part]), 1), np.float32), np.full(len(values[part]), ""), shares)
            )
        rows = predict_from_clusters(*sides, kinds[:100, None], kinds[100:, None], RESAMPLING)
        row = next(row for row in rows if row[0] == "stop_word_share")
        held += row[3] <= 0.5 <= row[4]
    assert held > 50  # of 60; fewer, once in a thousand times


def make_probed_texts(labels, shares, clusters):
    vectors = np.eye(3, dtype=np.float32)[clusters]
    return ProbedTexts(
        vectors, np.array(labels), {"stop_word_share": np.array(shares), "symbol_share": np.zeros(len(labels))}
    )


def test_accuracy_over_seeds():
    train = make_probed_texts(["a", "a", "b"], [0.1, 0.1, 0.5], [0, 0, 1])
    test = make_probed_texts(["a", "b", "b"], [0.1, 0.5, 0.5], [0, 1, 1])
    train_clusters, test_clusters = np.array([[0, 0], [0, 1], [1, 1]]), np.array([[0, 0], [1, 0], [1, 1]])
    rows = {row[0]: row for row in predict_from_clusters(train, test, train_clusters, test_clusters, RESAMPLING)}
    # First seed: all right. Second: the first cluster is "a", and so, of one each, is the second.
    assert rows["label"][2] == pytest.approx((1 + 1 / 3) / 2)
    assert rows["label"][6] == pytest.approx(1 / 3)  # "a" is most common in training
    assert rows["label"][7:] == (3, 3)
    assert rows["stop_word_share"][1] == "r_squared"


@pytest.fixture(scope="module")
def embedded_corpora(tmp_path_factory):
    """Embed a corpus with two kinds of text as labels, and the same corpus without labels."""
    folder = tmp_path_factory.mktemp("probing")
    encoder = write_encoder(folder / "encoder")
    kinds = {"war": "the war of the army and the town", "river": "river . , lake ; village"}
    documents = [
        Document(
            f"{kind}{split}{i}",
            split,
            None,
            (Section(None, f"{text} " * (1 + i % 2) + text[: 4 * (i % 3)]),),
            label=kind,
        )
        for split, count in (("train", 30), ("test", 20))
        for kind, text in kinds.items()
        for i in range(count)
    ]
    write_documents(folder / "labelled.parquet", documents, Provenance("labelled"))
    unlabelled = [Document(d.id, d.split, None, d.sections) for d in documents]
    write_documents(folder / "unlabelled.parquet", unlabelled, Provenance("unlabelled"))
    for name in ("labelled", "unlabelled"):
        embed(folder / f"{name}.parquet", encoder, folder / f"{name}.own.parquet")
    return folder


def test_clusters_predict_labels_and_shares(embedded_corpora):
    probe(
        embedded_corpora / "labelled.own.parquet",
        embedded_corpora / "unlabelled.own.parquet",
        options=options_of(corpus="labelled", reference="unlabelled", numbers_of_clusters=[3, 900]),
        resampling=RESAMPLING,
        signature="encoder:tiny",
        output=embedded_corpora / "probing.csv",
    )
    table = pd.read_csv(embedded_corpora / "probing.csv")
    assert set(table["clusters"]) == {2, 3, 4}  # those of the labels and twice as many; 900 are too many
    assert set(table["learned_on"]) == {"own", "reference"}
    accuracy = table[table["probe"] == "label"]
    assert (accuracy["value"] == 1).all()
    assert (accuracy["baseline"] == 0.5).all()
    assert (accuracy["n"] == 40).all()
    assert table["signature"].str.contains("encoder:tiny").all()
    assert (table["ci_low"] <= table["value"]).all()
    shares = table[table["probe"] != "label"].set_index(["probe", "clusters", "learned_on"])["value"]
    assert shares["stop_word_share", 2, "own"] > 0.9
    figure = plot_probing(table.assign(corpus="labelled", encoder="tiny"), "labelled")
    assert next(axes.get_ylabel() for axes in figure.axes) == "accuracy of the label"


def test_a_corpus_without_labels_is_probed_for_shares_only(embedded_corpora):
    probe(
        embedded_corpora / "unlabelled.own.parquet",
        options=options_of(corpus="unlabelled", numbers_of_clusters=[2]),
        resampling=RESAMPLING,
        signature="",
        output=embedded_corpora / "shares.csv",
    )
    assert set(pd.read_csv(embedded_corpora / "shares.csv")["probe"]) == {"stop_word_share", "symbol_share"}


def test_a_corpus_without_test_split(embedded_corpora, tmp_path):
    documents = [Document(f"d{i}", "train", None, (Section(None, "the war"),)) for i in range(3)]
    write_documents(tmp_path / "train.parquet", documents, Provenance("c"))
    embed(tmp_path / "train.parquet", embedded_corpora / "encoder", tmp_path / "train.own.parquet")
    with pytest.raises(MacroscopeError, match="split 'test' has no text with an embedding"):
        probe(
            tmp_path / "train.own.parquet",
            options=options_of(corpus="c", numbers_of_clusters=[2]),
            resampling=RESAMPLING,
            signature="",
            output=tmp_path / "x.csv",
        )


def test_halves_are_of_one_split_and_predict_each_other(tmp_path):
    """Clusters predict the shares of the test split except noise; the train split, where they do not, is not used."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 3, 600)
    vectors = (np.eye(3)[clusters] + 0.01 * rng.standard_normal((600, 3))).astype(np.float32)
    split = np.repeat(["train", "test"], 300)
    shares = np.where(split == "test", clusters / 4, rng.random(600)) + rng.normal(0, 0.02, 600)
    table = {
        "split": split, "label": [""] * 600, "stop_word_share": shares, "symbol_share": shares,
        "embedding": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 3),
    }  # fmt: skip
    pq.write_table(pa.table(table), tmp_path / "own.parquet")
    options = options_of(corpus="c", halves=True, numbers_of_clusters=[3])
    probe(tmp_path / "own.parquet", options=options, resampling=RESAMPLING, signature="", output=tmp_path / "x.csv")
    row = pd.read_csv(tmp_path / "x.csv").set_index("probe").loc["stop_word_share"]
    assert row["learned_on"] == "halves"
    assert (row["n_train"], row["n"]) == (150, 150)
    noise = 0.02**2 / (np.var([0, 0.25, 0.5]) + 0.02**2)
    assert row["value"] == pytest.approx(1 - noise, abs=0.01)

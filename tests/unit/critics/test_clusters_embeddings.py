"""Embeddings of the clusters critic: whole texts, and texts by their sentences."""

import numpy as np
import pytest

from macroscope.critics.clusters.latents import read_embeddings
from macroscope.critics.clusters.options import ClustersOptions, read_sentences
from macroscope.critics.clusters.projection import embed_by_sentences, project
from macroscope.critics.text_encoder import SentenceEmbedder, TextEncoder, embed_sentences
from macroscope.documents import Collection, Document, Provenance, Section, write_documents

from ...tiny import write_encoder


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder"))


# ---- embeddings ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_project_writes_what_is_read(tmp_path, encoder_folder):
    texts = ["he was born\nin the war", "x" * 400]
    documents = [Document(f"d{i}", "test", None, (Section(None, text),)) for i, text in enumerate(texts)]
    write_documents(tmp_path / "samples.parquet", documents, Provenance("c"))
    options = ClustersOptions(encoder=str(encoder_folder), max_tokens=16)
    project(
        Collection(tmp_path / "samples.parquet"), options=options, language="en", output=tmp_path / "latents.parquet"
    )
    embeddings = read_embeddings(tmp_path / "latents.parquet")
    expected, _ = TextEncoder(str(encoder_folder), "mean", 16).embed([text.replace("\n", " ") for text in texts])
    np.testing.assert_allclose(embeddings.vectors, expected, atol=1e-6)
    assert embeddings.keys.to_dict("list") == {"id": ["d0", "d1"], "opening": ["", "x" * 80]}
    assert embeddings.excerpts == ["he was born in the war", "x" * 300 + " …"]


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.slow
def test_sentences_give_their_mean_and_spread_however_they_are_computed(tmp_path, encoder_folder):
    """The embeddings are the same if vectors of all sentences are given, of some of them, or of none."""
    texts = ["He was born in the war. It was long!\nShe was not.", "", "It was long!", "He was " + "in " * 20 + "war."]
    documents = [Document(f"d{i}", "test", None, (Section(None, text),)) for i, text in enumerate(texts)]
    write_documents(tmp_path / "samples.parquet", documents, Provenance("c"))
    write_documents(tmp_path / "others.parquet", documents[2:], Provenance("c"))
    options = ClustersOptions(encoder=str(encoder_folder), max_tokens=16, pooling="sentences")
    encoding = read_sentences(options).encoding
    for name in ("samples", "others"):
        embed_sentences(tmp_path / f"{name}.parquet", options=encoding, language="en", output=tmp_path / name)
    results = []
    for name in (None, "samples", "others"):
        given = {} if name is None else {"sentence_vectors": tmp_path / name}
        output = tmp_path / f"{name}-latents.parquet"
        project(Collection(tmp_path / "samples.parquet"), **given, options=options, language="en", output=output)
        results.append(read_embeddings(output))
    encoder = TextEncoder(str(encoder_folder), "mean", 16)
    for row, sentences in enumerate((["He was born in the war.", "It was long!", "She was not."], [""], texts[2:3])):
        vectors = unit(encoder.embed(sentences)[0])
        expected = np.concatenate([vectors.mean(axis=0), vectors.std(axis=0)])
        for embeddings in results:
            np.testing.assert_allclose(embeddings.vectors[row], expected, atol=2e-3)
    assert [embeddings.truncated.tolist() for embeddings in results] == [[False, False, False, True]] * 3


def test_the_order_of_sentences_changes_no_embedding():
    def embedded(text):
        document = Document("d", "test", None, (Section(None, text),))
        return embed_by_sentences([document], SentenceEmbedder(Letters), "en")[0]

    np.testing.assert_array_equal(embedded("Abba. Cab."), embedded("Cab. Abba."))
    np.testing.assert_allclose(embedded("Abba. Abba."), embedded("Abba."))
    assert np.abs(embedded("Abba. Cab.") - embedded("Abba.")).max() > 0.1


class Letters:
    """An encoder that embeds a text as the counts of its first letters of the alphabet."""

    width = 3

    def embed(self, texts):
        counts = [[text.lower().count(letter) for letter in "abc"] for text in texts]
        return np.array(counts, dtype=np.float32), np.zeros(len(texts), dtype=bool)

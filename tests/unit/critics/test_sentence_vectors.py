"""Tests of sentence embeddings on disk: each computed once, each with its narrative."""

import re
from pathlib import Path

import numpy as np
import pytest

from macroscope.critics import text_encoder
from macroscope.critics.narratives import PackedTexts, VectorRows, split_documents, split_narratives
from macroscope.critics.options import SentenceEncoding
from macroscope.critics.sentence_vectors import KnownSentences, SentenceVectors, read_corpus_narratives
from macroscope.critics.text_encoder import SentenceEmbedder, embed_sentences, load_sentence_encoder
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError

from ...tiny import simulated_documents, write_encoder

ENCODING = SentenceEncoding(encoder="minilm", pooling="mean", max_tokens=64, precision="float32")


class Counting:
    """An encoder that embeds a text as its length and first letter, and records its input."""

    width = 2

    def __init__(self):
        self.given = []

    def embed(self, texts):
        self.given += texts
        vectors = np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)
        return vectors, np.array([len(text) > 12 for text in texts])


@pytest.fixture
def counting(monkeypatch):
    encoder = Counting()
    monkeypatch.setattr(text_encoder, "load_sentence_encoder", lambda _: encoder)
    return encoder


def story(name, *sentences, has_sentences=True):
    return Document(
        name, "train", None, (Section(None, " ".join(sentences)),), tuple(sentences) if has_sentences else None
    )


STORIES = [
    story("a", "It rained.", "Nobody was there.", "It rained."),
    story("b"),
    story("c", "One alone."),
    story("d", "It rained.", "Then they left."),
]


def collection(folder, documents=STORIES):
    write_documents(folder / "documents.parquet", documents, Provenance("x"))
    return folder / "documents.parquet"


def test_a_sentence_that_occurs_several_times_is_embedded_once():
    encoder = Counting()
    vectors, cut = SentenceEmbedder(lambda: encoder).embed(["b", "aa", "b", "a long sentence", "aa"])
    assert encoder.given == ["b", "aa", "a long sentence"]
    assert vectors[:, 0].tolist() == [1, 2, 1, 15, 2]
    assert cut.tolist() == [False, False, False, True, False]
    assert SentenceEmbedder(lambda: encoder).embed([])[0].shape == (0, 2)


def test_embeddings_round_trip_through_their_folder(counting, tmp_path):
    path = collection(tmp_path)
    embed_sentences(path, options=ENCODING, language="en", output=tmp_path / "e")
    assert len(counting.given) == 4
    read = read_corpus_narratives(path, "en", tmp_path / "e")
    assert read.lengths.tolist() == [3, 0, 1, 2]
    assert read.vectors[:][:, 0].tolist() == [len(sentence) for sentence in read.sentences]
    assert read.vectors[:][:, 1].tolist() == [ord(sentence[0]) for sentence in read.sentences]
    assert read.cut.tolist() == [len(sentence) > 12 for sentence in read.sentences]
    assert sorted(path.name for path in (tmp_path / "e").iterdir()) == [
        *("cut.npy", "digests.npy", "sentences.parquet", "vectors.npy")
    ]


def test_known_sentences_are_not_embedded_again(counting, tmp_path):
    embed_sentences(collection(tmp_path), options=ENCODING, language="en", output=tmp_path / "e")
    embedder = SentenceEmbedder(lambda: counting, tmp_path / "e")
    sentences = ["Then they left.", "A new one.", "It rained.", "Nobody was there.", "A new one.", "It rained. "]
    counting.given.clear()
    vectors, cut = embedder.embed(sentences)
    assert counting.given == ["A new one.", "It rained. "]
    alone = SentenceEmbedder(Counting).embed(sentences)
    assert vectors.tolist() == alone[0].tolist()
    assert cut.tolist() == alone[1].tolist()
    assert embedder.embed([])[0].shape == (0, 2)


def test_of_a_corpus_without_a_sentence_none_is_known(counting, tmp_path):
    path = collection(tmp_path, [story("b")])
    embed_sentences(path, options=ENCODING, language="en", output=tmp_path / "e")
    assert KnownSentences(tmp_path / "e").find(["It rained."]).tolist() == [-1]


def test_batches_and_shards_have_their_own_embeddings(counting, tmp_path, monkeypatch):
    monkeypatch.setattr("macroscope.documents.DOCUMENTS_AT_ONCE", 2)
    documents = [story(f"d{n}", *(f"Number {m} here." for m in range(n, n + n % 4))) for n in range(9)]
    path = collection(tmp_path, documents)
    embed_sentences(texts=Collection(path), options=ENCODING, language="en", output=tmp_path / "whole")
    whole = SentenceVectors.read(tmp_path / "whole", split_narratives(Collection(path), "en", from_source=False))
    for shard in range(3):
        part = Collection(path, shard, 4)
        embed_sentences(texts=part, options=ENCODING, language="en", output=tmp_path / str(shard))
        narratives = split_narratives(part, "en", from_source=False)
        of_shard = SentenceVectors.read(tmp_path / str(shard), narratives)
        of_whole = SentenceVectors.read(tmp_path / "whole", narratives, first=4 * shard)
        assert of_shard.vectors[:].tolist() == of_whole.vectors[:].tolist()
        first = whole.ids.index(narratives.ids[0])
        expected = whole.vectors[whole.starts[first] : whole.starts[first] + len(narratives.sentences)]
        assert of_whole.vectors[:].tolist() == expected.tolist()


def test_embeddings_of_other_documents_are_refused(counting, tmp_path):
    path = collection(tmp_path)
    embed_sentences(path, options=ENCODING, language="en", output=tmp_path / "e")
    renamed = [*STORIES[:3], story("e", "It rained.", "Then they left.")]
    longer = [*STORIES[:3], story("d", "It rained.", "Then they left.", "And so on.")]
    more = [*STORIES, story("e", "It rained.")]
    for documents in (renamed, longer, more, STORIES[::-1]):
        with pytest.raises(MacroscopeError, match="the embeddings belong to other documents"):
            SentenceVectors.read(tmp_path / "e", split_narratives(documents, "en"))
    assert len(SentenceVectors.read(tmp_path / "e", split_narratives(STORIES[:3], "en")).sentences) == 4


def test_texts_without_a_sentence_have_no_embeddings(counting, tmp_path):
    path = collection(tmp_path, [story("b"), story("c")])
    embed_sentences(texts=Collection(path), options=ENCODING, language="en", output=tmp_path / "e")
    read = SentenceVectors.read(tmp_path / "e", split_narratives(Collection(path), "en"))
    assert (len(read.vectors), read.vectors.width) == (0, 2)


def test_sentences_of_a_source_are_used_for_a_corpus_and_never_for_a_system():
    given = story("a", "It rained. And  how", "it\train was.")
    assert list(split_documents([given], "en")) == [(given, ["It rained. And how", "it rain was."])]
    ((_, split),) = split_documents([given], "en", from_source=False)
    assert split == ["It rained.", "And how it rain was."]


@pytest.mark.slow
def test_embeddings_are_those_of_the_encoder_in_half_precision(tmp_path):
    encoder = write_encoder(tmp_path / "encoder")
    path = collection(tmp_path, simulated_documents("process", 3, 1))
    options = ENCODING.model_copy(update={"encoder": str(encoder), "pooling": "first"})
    embed_sentences(path, options=options, language="en", output=tmp_path / "e")
    read = read_corpus_narratives(path, "en", tmp_path / "e")
    alone, _ = load_sentence_encoder(options).embed(read.sentences[5:6])
    assert read.vectors[5] == pytest.approx(alone[0], abs=2e-3)


def test_packed_texts_are_those_of_the_list():
    texts = ["", "a", "Ünï 🙂", "\ud800x", "b" * 100]
    packed = PackedTexts()
    packed += texts[:2]
    packed += texts[2:]
    assert (list(packed), len(packed), packed[-1]) == (texts, 5, texts[-1])
    assert (packed[1:4], packed[::-2]) == (texts[1:4], texts[::-2])
    with pytest.raises(IndexError):
        packed[5]


def test_rows_are_those_of_the_array():
    stored = np.arange(5000 * 3, dtype=np.float16).reshape(5000, 3)
    numbers = np.random.default_rng(1).integers(5000, size=(2000, 2))
    rows = VectorRows(stored)
    assert (len(rows), rows.width) == (5000, 3)
    np.testing.assert_array_equal(rows[numbers], stored[numbers])
    np.testing.assert_array_equal(rows.select(numbers[:, 0])[7:1500], stored[numbers[7:1500, 0]])
    np.testing.assert_array_equal(rows[4999], stored[4999])
    assert rows[np.empty((0, 2), dtype=int)].shape == (0, 2, 3)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the size of mapped pages is read from /proc")
def test_embeddings_of_a_file_take_no_memory(tmp_path):
    def mapped_megabytes():
        return int(re.search(r"RssFile:\s*(\d+)", Path("/proc/self/status").read_text())[1]) / 1024

    np.save(tmp_path / "vectors.npy", np.ones((100_000, 384), dtype=np.float16))
    rows, before = VectorRows(np.load(tmp_path / "vectors.npy", mmap_mode="r")), mapped_megabytes()
    for start in range(0, 100_000, 10_000):
        assert rows[start : start + 10_000].all()
        assert mapped_megabytes() < before + 8  # of 73


def test_the_marks_of_a_list_are_no_sentences_and_change_none():
    plain = "Three things help.\nSleep well. It rests you.\nEat fruit.\nWalk daily."
    listed = "Three things help.\n\n1. Sleep well. It rests you.\n  - Eat fruit.\n12) Walk daily."
    lines = [
        next(split_documents([Document("a", "test", None, [Section(None, text)])], "en"))[1] for text in (plain, listed)
    ]
    assert lines[0] == lines[1]

"""Sentences and their embeddings on disk: each embedded once, each with its own narrative."""

import numpy as np
import pytest

from macroscope.critics.narrative import embedding
from macroscope.critics.narrative.embedding import embed_sentences, embedded
from macroscope.critics.narrative.narratives import SentenceVectors, corpus_narratives, narratives_of, sentences_of
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError

from ....tiny import simulated_documents, write_encoder


class Counting:
    """An encoder whose embedding of a text is its length and its first letter; it keeps what it was given."""

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
    monkeypatch.setattr(embedding, "sentence_encoder", lambda *_: encoder)
    return encoder


def story(name, *sentences, known=True):
    return Document(name, "train", None, (Section(None, " ".join(sentences)),), tuple(sentences) if known else None)


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
    vectors, cut = embedded(["b", "aa", "b", "a long sentence", "aa"], encoder)
    assert encoder.given == ["b", "aa", "a long sentence"]
    assert vectors[:, 0].tolist() == [1, 2, 1, 15, 2]
    assert cut.tolist() == [False, False, False, True, False]
    assert embedded([], encoder)[0].shape == (0, 2)


def test_embeddings_come_back_from_their_folder(counting, tmp_path):
    path = collection(tmp_path)
    embed_sentences(path, options=NarrativeOptions(), language="en", output=tmp_path / "e")
    assert len(counting.given) == 4
    read = corpus_narratives(path, "en", tmp_path / "e")
    assert read.lengths.tolist() == [3, 0, 1, 2]
    assert read.vectors[:, 0].tolist() == [len(sentence) for sentence in read.sentences]
    assert read.vectors[:, 1].tolist() == [ord(sentence[0]) for sentence in read.sentences]
    assert read.cut.tolist() == [len(sentence) > 12 for sentence in read.sentences]
    assert sorted(path.name for path in (tmp_path / "e").iterdir()) == ["cut.npy", "sentences.parquet", "vectors.npy"]


def test_batches_and_shards_have_the_embeddings_of_their_own(counting, tmp_path, monkeypatch):
    monkeypatch.setattr(embedding, "DOCUMENTS_AT_ONCE", 2)
    documents = [story(f"d{n}", *(f"Number {m} here." for m in range(n, n + n % 4))) for n in range(9)]
    path = collection(tmp_path, documents)
    embed_sentences(texts=Collection(path), options=NarrativeOptions(), language="en", output=tmp_path / "whole")
    whole = SentenceVectors.read(tmp_path / "whole", narratives_of(Collection(path), "en", known=False))
    for shard in range(3):
        some = Collection(path, shard, 4)
        embed_sentences(texts=some, options=NarrativeOptions(), language="en", output=tmp_path / str(shard))
        told = narratives_of(some, "en", known=False)
        of_shard = SentenceVectors.read(tmp_path / str(shard), told)
        of_whole = SentenceVectors.read(tmp_path / "whole", told, first=4 * shard)
        assert of_shard.vectors.tolist() == of_whole.vectors.tolist()
        first = whole.ids.index(told.ids[0])
        assert of_whole.vectors.tolist() == whole.vectors[whole.starts[first] :][: len(told.sentences)].tolist()


def test_embeddings_of_other_documents_are_refused(counting, tmp_path):
    path = collection(tmp_path)
    embed_sentences(path, options=NarrativeOptions(), language="en", output=tmp_path / "e")
    renamed = [*STORIES[:3], story("e", "It rained.", "Then they left.")]
    longer = [*STORIES[:3], story("d", "It rained.", "Then they left.", "And so on.")]
    more = [*STORIES, story("e", "It rained.")]
    for documents in (renamed, longer, more, STORIES[::-1]):
        with pytest.raises(MacroscopeError, match="embeddings of the sentences of other documents"):
            SentenceVectors.read(tmp_path / "e", narratives_of(documents, "en"))
    assert len(SentenceVectors.read(tmp_path / "e", narratives_of(STORIES[:3], "en")).sentences) == 4


def test_texts_without_a_sentence_have_no_embeddings(counting, tmp_path):
    path = collection(tmp_path, [story("b"), story("c")])
    embed_sentences(texts=path, options=NarrativeOptions(), language="en", output=tmp_path / "e")
    read = SentenceVectors.read(tmp_path / "e", narratives_of(Collection(path), "en"))
    assert read.vectors.shape == (0, 2)


def test_sentences_that_a_source_gives_are_taken_for_a_corpus_and_never_for_a_system():
    given = story("a", "It rained. And  how", "it\train was.")
    assert sentences_of(given, "en") == ["It rained. And how", "it rain was."]
    assert sentences_of(given, "en", known=False) == ["It rained.", "And how it rain was."]


def test_embeddings_are_those_of_the_encoder_to_half_a_precision(tmp_path):
    encoder = write_encoder(tmp_path / "encoder")
    path = collection(tmp_path, simulated_documents("process", 3, 1))
    options = NarrativeOptions(encoder=str(encoder), pooling="first")
    embed_sentences(path, options=options, language="en", output=tmp_path / "e")
    read = corpus_narratives(path, "en", tmp_path / "e")
    alone, _ = embedding.sentence_encoder(options).embed(read.sentences[5:6])
    assert read.vectors[5] == pytest.approx(alone[0], abs=2e-3)

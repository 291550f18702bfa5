"""From a translation set to translations: what is learnt, what independent words do, and what cannot work."""

from dataclasses import replace

import numpy as np
import pytest

from macroscope.corpora.simulated.languages import languages, simulate_texts
from macroscope.critics.words import lower_case_words
from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.systems.translation.generation import translate
from macroscope.systems.translation.options import TranslationSystem
from macroscope.systems.translation.pairs import train_pieces
from macroscope.systems.translation.training import train_translator

SMALL = {
    "kind": "translation",
    "vocabulary": 1500,
    "layers": 1,
    "heads": 2,
    "width": 64,
    "hidden": 128,
    "dropout": 0.0,
    "max_tokens": 90,
    "training": {"epochs": 14, "batch_size": 16, "learning_rate": 0.004, "evaluations": 2},
}


def _split(number):
    return "test" if number % 6 == 0 else "valid" if number % 11 == 0 else "train"


def _write(path, documents):
    write_documents(path, documents, Provenance("c", {"name": "test"}))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("translation")
    texts = enumerate(simulate_texts("process", 420, 1))
    _write(found / "documents.parquet", [replace(d, id=str(n), split=_split(n)) for n, d in texts])
    for autoregressive in (True, False):
        options, name = TranslationSystem(**SMALL, autoregressive=autoregressive), f"model-{autoregressive}"
        model = found / name
        train_translator(found / "documents.parquet", model, options, seed=1, checkpoints=found / f"{name}-c")
        output = found / f"samples-{autoregressive}.parquet"
        translate(found / "documents.parquet", model, output, options, corpus="c", system="s", seed=1)
    return found


def _mixed(path):
    """Mean share of a text's words that are not of its largest language."""
    found = []
    for document in read_documents(path):
        words = set(lower_case_words(document.text))
        counts = np.array([len(words & language.words()) for language in languages()])
        if counts.sum():
            found.append(1 - counts.max() / counts.sum())
    return float(np.mean(found))


def test_independent_words_mix_languages_more(folder):
    assert _mixed(folder / "samples-False.parquet") > _mixed(folder / "samples-True.parquet") + 0.1


def test_every_original_has_its_translation(folder):
    asked = [document for document in read_documents(folder / "documents.parquet", "test")]
    for autoregressive in (True, False):
        path = folder / f"samples-{autoregressive}.parquet"
        counts = {count.filter: count.dropped for count in read_provenance(path).counts}
        drawn = list(read_documents(path))
        assert len(drawn) == len(asked) - counts["translation without text"]
        originals = {document.id: document.original for document in asked}
        assert all(originals[document.id] == document.original for document in drawn)
        assert all(document.label is None for document in drawn)


def test_a_model_is_described(folder):
    log = (folder / "model-True" / "training_log.csv").read_text().splitlines()
    assert log[0] == "step,epoch,train_loss,valid_loss"
    assert read_json(folder / "model-False" / "size.json")["autoregressive"] is False
    assert read_json(folder / "model-True" / "training.json")["parameters"] > 100_000
    assert not (folder / "model-True-c").exists()


def test_same_seed_same_translations_whatever_the_batch(folder):
    options = TranslationSystem(**SMALL, batch_size=7, samples=9)
    arguments = folder / "documents.parquet", folder / "model-True"
    first = folder / "again.parquet"
    translate(*arguments, first, options, corpus="c", system="s", seed=1)
    known = {document.id: document.text for document in read_documents(folder / "samples-True.parquet")}
    found = list(read_documents(first))
    assert 0 < len(found) <= 9
    counts = {count.filter: (count.kept, count.dropped) for count in read_provenance(first).counts}
    assert counts["original that is not among the samples"] == (9, len(list(read_documents(arguments[0], "test"))) - 9)
    assert all(known[document.id] == document.text for document in found)
    other = folder / "other.parquet"
    translate(*arguments, other, options, corpus="c", system="another", seed=1)
    assert [d.text for d in read_documents(other)] != [d.text for d in found]


def test_pieces_write_any_text():
    tokenizer = train_pieces(["the dog sees the house"] * 20, 300)
    for text in ("the dog", "Ürümqi — 北京 🙂", "a\nb"):
        assert tokenizer.decode(tokenizer.encode(text).ids).strip() == text


def test_a_corpus_without_originals_is_one_sentence(tmp_path):
    documents = _write(tmp_path / "d.parquet", [Document("a", "train", None, (Section(None, "text"),))])
    with pytest.raises(MacroscopeError, match="document a has no original"):
        train_translator(documents, tmp_path / "m", TranslationSystem(**SMALL), seed=1, checkpoints=tmp_path / "c")


def test_too_long_pairs_are_left_out_and_said(tmp_path, caplog):
    short = [Document(str(n), _split(n), None, (Section(None, "ab"),), original="x") for n in range(24)]
    long = Document("long", "train", None, (Section(None, "ab " * 200),), original="x")
    documents = _write(tmp_path / "d.parquet", [*short, long])
    options = TranslationSystem(**SMALL | {"training": {**SMALL["training"], "epochs": 1}})
    train_translator(documents, tmp_path / "m", options, seed=1, checkpoints=tmp_path / "c")
    assert "1 pairs of split train are longer than 90 pieces and left out" in caplog.text
    assert read_json(tmp_path / "m" / "training.json")["training_pairs_too_long"] == 1


def test_width_is_shared_out_among_heads():
    with pytest.raises(ValueError, match="cannot be shared out among 3 heads"):
        TranslationSystem(kind="translation", heads=3).check("systems.t", None)

"""From a translation corpus to translations: effect of training and of independent words, and invalid inputs."""

from dataclasses import replace

import numpy as np
import pytest

from macroscope.corpora.simulated.languages import languages, simulate_texts
from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.natural_language.words import lower_case_words
from macroscope.systems.translation import TranslationSystem
from macroscope.systems.translation.generation import translate
from macroscope.systems.translation.training import train_piece_tokenizer, train_translator

pytestmark = pytest.mark.slow

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
    folder = tmp_path_factory.mktemp("translation")
    texts = enumerate(simulate_texts("process", 420, 1))
    _write(folder / "documents.parquet", [replace(d, id=str(n), split=_split(n)) for n, d in texts])
    for autoregressive in (True, False):
        options, name = TranslationSystem(**SMALL, autoregressive=autoregressive), f"model-{autoregressive}"
        model = folder / name
        train_translator(folder / "documents.parquet", model, options, seed=1, checkpoints=folder / f"{name}-c")
        output = folder / f"samples-{autoregressive}.parquet"
        translate(folder / "documents.parquet", model, output, options, corpus="c", system="s", seed=1)
    return folder


def mixed_share(path):
    """Return the mean share of a text's words that are not of its main language."""
    shares = []
    for document in read_documents(path):
        words = set(lower_case_words(document.text))
        counts = np.array([len(words & language.words()) for language in languages()])
        if counts.sum():
            shares.append(1 - counts.max() / counts.sum())
    return float(np.mean(shares))


def test_independent_words_mix_languages_more(folder):
    assert mixed_share(folder / "samples-False.parquet") > mixed_share(folder / "samples-True.parquet") + 0.1


def test_every_original_has_its_translation(folder):
    originals = [document for document in read_documents(folder / "documents.parquet", "test")]
    for autoregressive in (True, False):
        path = folder / f"samples-{autoregressive}.parquet"
        counts = {count.filter: count.dropped for count in read_provenance(path).counts}
        translations = list(read_documents(path))
        assert len(translations) == len(originals) - counts["translation without text"]
        originals_by_id = {document.id: document.original for document in originals}
        assert all(originals_by_id[document.id] == document.original for document in translations)
        assert all(document.label is None for document in translations)


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
    expected = {document.id: document.text for document in read_documents(folder / "samples-True.parquet")}
    translations = list(read_documents(first))
    assert 0 < len(translations) <= 9
    counts = {count.filter: (count.kept, count.dropped) for count in read_provenance(first).counts}
    assert counts["original that is not among the samples"] == (9, len(list(read_documents(arguments[0], "test"))) - 9)
    assert all(expected[document.id] == document.text for document in translations)
    another = folder / "other.parquet"
    translate(*arguments, another, options, corpus="c", system="another", seed=1)
    assert [d.text for d in read_documents(another)] != [d.text for d in translations]


def test_pieces_encode_any_text():
    tokenizer = train_piece_tokenizer(["the dog sees the house"] * 20, 300)
    for text in ("the dog", "Ürümqi — 北京 🙂", "a\nb"):
        assert tokenizer.decode(tokenizer.encode(text).ids).strip() == text


def test_a_corpus_without_originals_is_one_sentence(tmp_path):
    documents = _write(tmp_path / "d.parquet", [Document("a", "train", None, (Section(None, "text"),))])
    with pytest.raises(MacroscopeError, match="document a has no original"):
        train_translator(documents, tmp_path / "m", TranslationSystem(**SMALL), seed=1, checkpoints=tmp_path / "c")


def test_too_long_pairs_are_left_out_with_a_warning(tmp_path, caplog):
    short = [Document(str(n), _split(n), None, (Section(None, "ab"),), original="x") for n in range(24)]
    long = Document("long", "train", None, (Section(None, "ab " * 200),), original="x")
    documents = _write(tmp_path / "d.parquet", [*short, long])
    options = TranslationSystem(**SMALL | {"training": {**SMALL["training"], "epochs": 1}})
    train_translator(documents, tmp_path / "m", options, seed=1, checkpoints=tmp_path / "c")
    assert "1 pairs of split train are left out: longer than 90 pieces" in caplog.text
    assert read_json(tmp_path / "m" / "training.json")["training_pairs_too_long"] == 1


def test_heads_divide_the_width():
    with pytest.raises(ValueError, match="is not divisible by 3 heads"):
        TranslationSystem(kind="translation", heads=3).check("systems.t", None)

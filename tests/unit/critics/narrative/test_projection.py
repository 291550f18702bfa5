"""Tests of projection: the same probabilities with given or computed embeddings, in shards or together."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative import projection
from macroscope.critics.narrative.detector import new_detector, read_narratives
from macroscope.critics.narrative.incoherence import Scale, write_scales
from macroscope.critics.narrative.latents import ORDER_MODEL
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narrative.projection import project, sentence_embedder
from macroscope.critics.narrative.sentence_order import OrderModel
from macroscope.critics.narratives import split_narratives
from macroscope.critics.options import encoding_of
from macroscope.critics.text_encoder import embed_sentences
from macroscope.documents import Collection, Document, Provenance, Section, write_documents

from ....tiny import simulated_documents, write_encoder

pytestmark = pytest.mark.slow

DETECTOR = {"level": "sentence", "layers": 1, "heads": 2, "width": 16, "hidden": 16}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write texts, two of them with one sentence and none, and a critic; return its folder and options."""
    folder = tmp_path_factory.mktemp("critic")
    documents = [Document(d.id, "test", None, d.sections) for d in simulated_documents("process", 7, 1)]
    short = [
        Document("one", "test", None, (Section(None, "It rained."),)),
        Document("no", "test", None, (Section(None, ""),)),
    ]
    write_documents(folder / "texts.parquet", [*documents[:3], *short, *documents[3:]], Provenance("x"))
    options = NarrativeOptions(encoder=str(write_encoder(folder / "encoder")), max_tokens=8, detector=DETECTOR)
    for task in options.tasks:
        (folder / task).mkdir()
        new_detector(options, options.detector, task, 32, 0).save(folder / task)
    write_scales({"discordant": Scale(-1.0, 2.0)}, folder)
    return folder, options


def projected(made, output, texts=None, **given):
    folder, options = made
    project(
        texts or Collection(folder / "texts.parquet"), folder, options=options, language="en", output=output, **given
    )
    return pd.read_parquet(output)


def test_the_incoherence_is_the_mean_of_the_components_of_a_text(made, tmp_path):
    """Without a model of the order, that of the sentences out of place; a text of one sentence has none."""
    table = projected(made, tmp_path / "latents.parquet")
    for places, incoherence in zip(table["discordant"], table["incoherence"], strict=True):
        log_odds = np.log(places / (1 - places.astype(float))).mean() if len(places) else np.nan
        assert incoherence == pytest.approx((log_odds + 1) / 2, nan_ok=True)


def test_the_order_is_null_without_a_model_and_for_short_texts(made, tmp_path):
    folder, options = made
    assert projected(made, tmp_path / "none.parquet")["order"].isna().all()
    texts = Collection(folder / "texts.parquet")
    narratives = split_narratives(texts, "en", from_source=False)
    vectors, cut = sentence_embedder(options).embed(narratives.sentences)
    width = vectors.shape[1]
    model = OrderModel(np.zeros(width), np.eye(width), np.arange(width) / width, np.ones(9))
    model.save(folder / ORDER_MODEL)
    try:
        table = projected(made, tmp_path / "some.parquet")
    finally:
        (folder / ORDER_MODEL).unlink()
    assert table["order"].isna().tolist() == (table["sentences"] < 3).tolist()
    vectors = narratives.with_vectors(vectors, cut).vectors[: narratives.lengths[0]]
    assert table["order"][0] == pytest.approx(model.log_odds(vectors))


def assert_same(first, second):
    assert first["id"].tolist() == second["id"].tolist()
    for task in ("missing", "discordant"):
        for a, b in zip(first[task], second[task], strict=True):
            assert a == pytest.approx(b, abs=1e-5)


def test_every_slot_and_sentence_of_a_text_has_a_probability(made, tmp_path):
    folder, _ = made
    table = projected(made, tmp_path / "l.parquet")
    narratives = split_narratives(Collection(folder / "texts.parquet"), "en", from_source=False)
    assert table["sentences"].tolist() == narratives.lengths.tolist()
    for row in table.itertuples():
        long = row.sentences > 1
        assert len(row.missing) == (row.sentences - 1 if long else 0)
        assert len(row.discordant) == (row.sentences if long else 0)
        assert ((row.missing >= 0) & (row.missing <= 1)).all()
    assert table["cut"].sum() > 0
    assert table["opening"][0] == narratives.openings[0]


@pytest.mark.parametrize("size", [4, 100])
def test_given_embeddings_give_the_same_probabilities(size, made, tmp_path, monkeypatch):
    monkeypatch.setattr("macroscope.documents.DOCUMENTS_AT_ONCE", 2)
    folder, options = made
    here = projected(made, tmp_path / "here.parquet")
    parts = []
    for shard in range(-(-9 // size)):
        texts = Collection(folder / "texts.parquet", shard, size)
        embed_sentences(texts=texts, options=encoding_of(options), language="en", output=tmp_path / f"e{shard}")
        parts.append(projected(made, tmp_path / f"{shard}.parquet", texts, sentence_vectors=tmp_path / f"e{shard}"))
    assert_same(here, pd.concat(parts, ignore_index=True))


def test_other_tasks_are_null_and_token_detectors_need_no_embeddings(made, tmp_path, monkeypatch):
    folder, options = made
    token_options = options.model_copy(
        update={"tasks": ["missing"], "detector": options.detector.model_copy(update={"level": "token"})}
    )
    (tmp_path / "missing").mkdir()
    detector = new_detector(token_options, token_options.detector, "missing", 0, 0)
    detector.save(tmp_path / "missing")
    write_scales({}, tmp_path)
    monkeypatch.setattr(projection, "sentence_embedder", None)
    texts = Collection(folder / "texts.parquet")
    project(texts, tmp_path, options=token_options, language="en", output=tmp_path / "l.parquet")
    table = pd.read_parquet(tmp_path / "l.parquet")
    assert table["discordant"].isna().all()
    narratives = split_narratives(texts, "en", from_source=False)
    for a, b in zip(table["missing"], read_narratives(detector, narratives), strict=True):
        assert a == pytest.approx(b, abs=1e-5)
    tokens = [
        len(ids) > detector.most
        for ids in detector.tokenizer(list(narratives.sentences), add_special_tokens=False)["input_ids"]
    ]
    cut = [sum(tokens[a:b]) for a, b in zip(narratives.starts[:-1], narratives.starts[1:], strict=True)]
    assert table["cut"].tolist() == cut
    assert np.sum(cut) > 0

"""Tests of the autoencoder: noise, special tokens, weights, training, generated sentences."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

from macroscope import trainer as shared
from macroscope.critics.narrative.autoencoder import (
    Autoencoder,
    Decoder,
    NoisySentences,
    _load_decoder,
    _special_tokens,
    infill,
    train_autoencoder,
)
from macroscope.critics.narrative.corruption import corrupt
from macroscope.critics.narrative.detector import new_detector
from macroscope.critics.narrative.options import AutoencoderOptions, DetectorOptions, NarrativeOptions
from macroscope.critics.narrative.projection import embed_by_autoencoder, sentence_embedder
from macroscope.critics.options import encoding_of
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.critics.text_encoder import embed_sentences
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.models import resolve
from macroscope.options import Resampling
from macroscope.pretrained import load_pretrained_encoder
from macroscope.systems.tokenizer import boundary_id

from ....tiny import simulated_documents, write_encoder

SENTENCES = list(
    dict.fromkeys(
        f"{sentence.strip()}."
        for document in simulated_documents("process", 8, 5)
        for section in document.sections
        for sentence in section.text.split(".")
        if 3 < len(sentence.split()) < 9
    )
)[:24]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(write_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="module")
def minilm():
    return AutoTokenizer.from_pretrained(resolve("minilm").location)


def noisy(reader, sentences=SENTENCES, max_tokens=64, **noise):
    writer = _load_decoder("tiny-gpt2", sentences, 0)[1]
    return NoisySentences(sentences, reader, writer, max_tokens, AutoencoderOptions(**noise), 0)


# ---- noise -----------------------------------------------------------------------------------------------------------


def test_shares_of_noise(minilm):
    tokens = np.arange(5000, 5000 + 20_000)
    no_noise = {"permuted": 0.0, "masked": 0.0, "random": 0.0}
    noisy_tokens = noisy(minilm, train_encoder=True, **(no_noise | {"masked": 0.2})).with_noise(tokens)
    assert (noisy_tokens == minilm.mask_token_id).mean() == pytest.approx(0.2, abs=0.01)
    assert ((noisy_tokens == tokens) | (noisy_tokens == minilm.mask_token_id)).all()
    noisy_tokens = noisy(minilm, train_encoder=True, **(no_noise | {"random": 0.3})).with_noise(tokens)
    assert (noisy_tokens != tokens).mean() == pytest.approx(0.3, abs=0.01)
    assert 0 <= noisy_tokens.min() < noisy_tokens.max() < minilm.vocab_size
    noisy_tokens = noisy(minilm, train_encoder=True, **(no_noise | {"permuted": 0.25})).with_noise(tokens)
    assert (noisy_tokens != tokens).mean() == pytest.approx(0.25, abs=0.01)
    assert (np.sort(noisy_tokens) == tokens).all()
    noisy_tokens = noisy(minilm, train_encoder=True, permuted=0.0, masked=0.3, random=0.5).with_noise(tokens)
    assert (noisy_tokens == tokens).mean() == pytest.approx(0.2, abs=0.01)


def test_an_encoder_that_is_not_trained_reads_without_noise(minilm):
    tokens = np.arange(50)
    assert noisy(minilm, train_encoder=False).with_noise(tokens) is tokens
    assert len(noisy(minilm, train_encoder=True).with_noise(tokens[:0])) == 0


def test_batches_have_the_special_tokens_of_both(minilm):
    """The encoder's input in training, with its special tokens, is as long as in embedding."""
    batches = noisy(minilm, ["It rained.", "They all left in the evening."], max_tokens=6)
    batch = batches([0, 1])
    end = boundary_id(_load_decoder("tiny-gpt2", ["It rained."], 0)[1])
    assert batch["input_ids"][0].tolist() == [*minilm("It rained.")["input_ids"], minilm.pad_token_id]
    cut = minilm("They all left in the evening.", truncation=True, max_length=6)["input_ids"]
    assert batch["input_ids"][1].tolist() == cut
    assert batch["attention_mask"].tolist() == [[1] * 5 + [0], [1] * 6]
    for row in range(2):
        labels = batch["labels"][row]
        tokens = labels[labels != -100]
        assert tokens[-1] == end
        assert len(tokens) <= 6 + 1
        assert batch["written"][row, : len(tokens)].tolist() == tokens.tolist()
    assert batches.cut >= 1


def test_special_tokens_of_tokenizers(minilm, encoder):
    assert _special_tokens(minilm) == ([minilm.cls_token_id], [minilm.sep_token_id])
    assert _special_tokens(AutoTokenizer.from_pretrained(encoder)) == ([2], [3])


# ---- weights ---------------------------------------------------------------------------------------------------------


def make_autoencoder(encoder, train_encoder=False, width=32):
    decoder, _ = _load_decoder("tiny-gpt2", SENTENCES, 0)
    return Autoencoder(load_pretrained_encoder(encoder)[0], decoder, width, "mean", train_encoder)


def test_shared_weights_are_saved_once(encoder):
    model = make_autoencoder(encoder)
    kept = model.state_dict()
    assert len({weight.data_ptr() for weight in kept.values()}) == len(kept)
    shared_ones = [name for name in torch.nn.Module.state_dict(model) if name not in kept]
    assert shared_ones == model._keys_to_ignore_on_save
    assert len(shared_ones) == 1
    assert "lm_head" in shared_ones[0] or "wte" in shared_ones[0]
    second = make_autoencoder(encoder)
    with torch.no_grad():
        for weights in second.parameters():
            weights.add_(1.0)
    second.load_state_dict(kept, strict=False)
    for a, b in zip(model.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)
    decoder = second.decoder
    assert decoder.get_input_embeddings().weight.data_ptr() == decoder.get_output_embeddings().weight.data_ptr()


def test_embedding_of_the_decoders_width_is_not_mapped(encoder):
    assert isinstance(make_autoencoder(encoder, width=128).bridge, torch.nn.Identity)
    assert make_autoencoder(encoder, width=32).bridge.weight.shape == (128, 32)


@pytest.mark.parametrize("train_encoder", [False, True])
def test_encoder_is_trained_only_if_asked(encoder, train_encoder):
    model = make_autoencoder(encoder, train_encoder)
    reader = AutoTokenizer.from_pretrained(encoder)
    noise = AutoencoderOptions(train_encoder=train_encoder)
    writer = _load_decoder("tiny-gpt2", SENTENCES, 0)[1]
    batch = NoisySentences(SENTENCES, reader, writer, 32, noise, 0)(list(range(4)))
    model.train()(**batch)["loss"].backward()
    moved = [name for name, p in model.encoder.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0]
    assert bool(moved) == train_encoder
    assert model.bridge.weight.grad.abs().sum() > 0


def test_loss_of_a_batch_is_the_mean_over_tokens(encoder):
    model = make_autoencoder(encoder).eval()
    reader = AutoTokenizer.from_pretrained(encoder)
    writer = _load_decoder("tiny-gpt2", SENTENCES, 0)[1]
    batches = NoisySentences(SENTENCES, reader, writer, 32, AutoencoderOptions(), 0)
    lengths = np.array([len(batches.written[row]) for row in range(5)])
    with torch.no_grad():
        together = model(**batches(list(range(5))))["loss"].item()
        alone = np.array([model(**batches([row]))["loss"].item() for row in range(5)])
    assert together == pytest.approx((alone * lengths).sum() / lengths.sum(), rel=1e-5)


# ---- training --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write stories with two dozen different sentences in all."""
    folder, rng = tmp_path_factory.mktemp("corpus"), np.random.default_rng(0)
    splits = ["train"] * 25 + ["valid"] * 3 + ["test"] * 4
    documents = [
        Document(f"d{n}", split, None, (Section(None, "x"),), tuple(rng.permutation(SENTENCES)[:8].tolist()))
        for n, split in enumerate(splits)
    ]
    write_documents(folder / "documents.parquet", documents, Provenance("x"))
    return folder


def options_of(encoder, **given):
    autoencoder = {"decoder": "tiny-gpt2", "epochs": 160, "batch_size": 12, "learning_rate": 4e-3} | given
    return NarrativeOptions(encoder=encoder, max_tokens=32, similarity=None, autoencoders={"writer": autoencoder})


def fit(corpus, encoder, output, **given):
    train_autoencoder(
        corpus / "documents.parquet", options=options_of(encoder, **given), language="en", seed=1,
        checkpoints=output.with_name(output.name + "-ck"), name="writer", output=output,
    )  # fmt: skip
    return output


@pytest.fixture(scope="module")
def writer(corpus, encoder, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        # One sentence is held out: with so few, the best step for it is the first.
        patch.setattr("macroscope.critics.narrative.autoencoder.EVALUATIONS", 1)
        return fit(corpus, encoder, tmp_path_factory.mktemp("writer") / "out")


def test_learnt_sentences_are_generated_from_their_embeddings(writer, encoder):
    vectors, _ = sentence_embedder(options_of(encoder)).embed(SENTENCES)
    for beams in (1, 3):
        written = Decoder(writer, vectors.shape[1]).generate(vectors, beams, 40, at_once=7)
        accuracy = np.mean([generated == original for generated, original in zip(written, SENTENCES, strict=True)])
        assert accuracy > 0.8  # one of them is held out
    assert Decoder(writer, vectors.shape[1]).generate(vectors[:0], 2, 40) == []
    assert max(len(sentence) for sentence in Decoder(writer, 32).generate(vectors, 1, 2)) < min(map(len, SENTENCES))


def test_folder_has_encoder_and_decoder(writer, encoder):
    assert not writer.with_name("out-ck").exists()
    assert json.loads((writer / "training.json").read_text()) == {"sentences": 24, "sentences_cut": 0}
    assert list(pd.read_csv(writer / "training_log.csv")) == ["step", "epoch", "train_loss", "valid_loss"]
    before, after = (AutoModel.from_pretrained(place).state_dict() for place in (encoder, writer / "encoder"))
    assert all(torch.equal(before[name], after[name]) for name in before)  # it is frozen
    assert load_file(writer / "bridge.safetensors")["weight"].shape == (128, 32)


def test_the_best_checkpoint_is_restored_in_all_its_weights(corpus, encoder, tmp_path, monkeypatch):
    """The third validation is made the best: the saved weights are those of that time."""
    seen = []

    def evaluate(trainer, *_, **__):
        seen.append({name: weight.clone() for name, weight in torch.nn.Module.state_dict(trainer.model).items()})
        return {"eval_loss": float(abs(len(seen) - 3))}

    monkeypatch.setattr(shared.Trainer, "evaluate", evaluate)
    folder = fit(corpus, encoder, tmp_path / "out", epochs=8)
    assert len(seen) > 5
    restored = torch.nn.Module.state_dict(Decoder(folder, 32).model)
    assert {name for name in seen[2] if not name.startswith("encoder.")} == set(restored)
    for name, weight in restored.items():
        assert torch.equal(weight, seen[2][name])
        assert not torch.equal(weight, seen[-1][name])


def test_trained_encoder_is_saved(corpus, encoder, tmp_path):
    folder = fit(corpus, encoder, tmp_path / "out", epochs=3, train_encoder=True)
    before, after = (AutoModel.from_pretrained(place).state_dict() for place in (encoder, folder / "encoder"))
    assert any(not torch.equal(before[name], after[name]) for name in before)
    given = {"options": options_of(encoder), "language": "en"}
    embed_by_autoencoder(folder, corpus / "documents.parquet", **given, output=tmp_path / "e")
    trained = read_corpus_narratives(corpus / "documents.parquet", "en", tmp_path / "e").vectors[:]
    original, _ = sentence_embedder(options_of(encoder)).embed(SENTENCES)
    assert trained.shape[1] == 32
    assert np.abs(trained[:3].astype(float) - original[:3]).max() > 0.01


def test_sentences_are_generated_for_damaged_places(corpus, writer, encoder, tmp_path):
    options = options_of(encoder).model_copy(update={"intact": 0.0})
    detector = DetectorOptions(level="sentence", semantic_matching=1.0, heads=2, hidden=8, layers=1)
    given = {"options": options, "language": "en"}
    documents = corpus / "documents.parquet"
    for task in ("missing", "discordant"):
        corrupt(documents, **given, seed=1, task=task, output=tmp_path / "c.parquet")
        (tmp_path / task).mkdir()
        new_detector(options, detector, task, 32, 0).save(tmp_path / task)
        if task == "missing":
            embed_sentences(documents, options=encoding_of(options), language="en", output=tmp_path / "e")
        infill(
            documents, tmp_path / task, tmp_path / "e", tmp_path / "c.parquet", writer,
            **given, resampling=Resampling(resamples=20), task=task, output=tmp_path / f"{task}-out",
        )  # fmt: skip
        table = pd.read_csv(tmp_path / f"{task}-out" / "generated.csv", keep_default_na=False)
        assert 3 <= len(table) <= 4
        assert set(table["true"]) <= set(SENTENCES)
        for row in table.itertuples():
            assert row.true not in row.context
            assert ("[…]" in row.context) == (task == "missing")
        assert (tmp_path / f"{task}-out" / "generation.csv").exists()


def test_too_few_sentences_give_a_clear_error(encoder, tmp_path):
    document = Document("d", "train", None, (Section(None, "x"),), ("One alone.", "One alone."))
    write_documents(tmp_path / "documents.parquet", [document], Provenance("x"))
    with pytest.raises(
        MacroscopeError, match="split 'train' has fewer than two sentences, too few for autoencoder 'writer'"
    ):
        fit(tmp_path, encoder, tmp_path / "out")


def test_noise_is_at_most_all_of_a_sentence():
    with pytest.raises(ValueError, match="'masked' and 'random' add up to more than 1"):
        AutoencoderOptions(masked=0.6, random=0.5)

"""Published models: the same weights and tokenizer, in a folder that later stages can use, without training."""

import shutil
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel

from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.natural_language.words import count_words
from macroscope.pretrained import load_pretrained_encoder
from macroscope.stages import NO_NAME
from macroscope.systems.language_model.log_probabilities import measure_perplexity
from macroscope.systems.language_model.model import copy_base, load_model
from macroscope.systems.language_model.options import LanguageModelSystem, Training
from macroscope.systems.language_model.sampling import sample_shard
from macroscope.systems.language_model.training import finetune, train_tokenizer
from macroscope.systems.tokenizer import train_bpe
from tests.unit.plan.plans import find_job, plan_systems

from ..conftest import CONTEXT, VOCABULARY, tiny_model


@pytest.fixture(scope="module")
def base(tmp_path_factory, letters):
    """Folder of a tiny GPT-2, as a person would download it."""
    folder = tmp_path_factory.mktemp("published")
    tiny_model("gpt2", scale=1.0).save_pretrained(folder)
    letters.save_pretrained(folder)
    return folder


def options(base, **changes):
    required = {"kind": "language_model", "base": str(base), "titles": False, "training": None}
    return LanguageModelSystem(**required | {"samples": 5, "max_tokens": 40, "stride": 4} | changes)


def test_a_published_model_keeps_its_weights_and_its_tokenizer(base, tmp_path, letters):
    copy_base(tmp_path / "model", options(base))
    model, tokenizer = load_model(tmp_path / "model")
    published = AutoModelForCausalLM.from_pretrained(base).state_dict()
    assert all(torch.equal(value.cpu(), published[name]) for name, value in model.state_dict().items())
    assert tokenizer.get_vocab() == letters.get_vocab()
    sizes = {"parameters": sum(p.numel() for p in model.parameters()), "vocabulary": VOCABULARY, "context": CONTEXT}
    assert read_json(tmp_path / "model" / "size.json") == sizes
    assert not (tmp_path / "model" / "training_log.csv").exists()


def test_a_published_model_keeps_the_type_of_its_weights(base, tmp_path):
    half = shutil.copytree(base, tmp_path / "half")
    AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16).save_pretrained(half)
    copy_base(tmp_path / "model", options(half))
    assert load_model(tmp_path / "model")[0].dtype == torch.bfloat16


def test_a_published_model_is_sampled_and_measured(base, tmp_path):
    copy_base(tmp_path / "model", options(base))
    sample_shard(tmp_path / "model", tmp_path / "s", options(base), system="lm", seed=1, shard=0, shards=1)
    assert len(list(read_documents(tmp_path / "s"))) == 5
    texts = [Document(name, "test", None, (Section(None, name * 3),)) for name in "abcd"]
    write_documents(tmp_path / "d", texts, Provenance("c"))
    measure_perplexity(tmp_path / "d", tmp_path / "model", tmp_path / "p", options(base), split="test")
    assert pd.read_parquet(tmp_path / "p")["tokens"].tolist() == [4] * 4


def test_samples_end_at_a_number_of_words(in_gguf, tmp_path):
    path = in_gguf[0]
    copy_base(tmp_path / "model", options(path))
    shard = {"system": "lm", "seed": 1, "shard": 0, "shards": 1}
    sample_shard(tmp_path / "model", tmp_path / "long", options(path), **shard)
    sample_shard(tmp_path / "model", tmp_path / "short", options(path, max_words=2), **shard)
    long, short = (list(read_documents(tmp_path / name)) for name in ("long", "short"))
    assert any(count_words(document.text) > 2 for document in long)
    assert all(count_words(document.text) <= 2 for document in short)
    assert all(whole.text.startswith(beginning.text) for whole, beginning in zip(long, short, strict=True))
    (count,) = [c for c in read_provenance(tmp_path / "short").counts if c.unit == "ends of samples"]
    assert count.filter == "end of a sample beyond 2 words or 40 tokens"
    assert count.dropped >= sum(count_words(document.text) > 2 for document in long)


@pytest.fixture(scope="module")
def in_gguf(tmp_path_factory):
    """A tiny GPT-2 with its byte-level BPE, in one file, and its weights."""
    pytest.importorskip("gguf")
    from tests.gguf_models import write_gguf

    tokenizer = train_bpe(iter(["one two three", "four five six"] * 3), 280)
    torch.manual_seed(1)
    network = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=1024, n_embd=16, n_layer=2, n_head=2))
    path = tmp_path_factory.mktemp("gguf") / "tiny.Q4.gguf"
    return write_gguf(network, tokenizer, path), network, tokenizer


def test_a_base_in_gguf_keeps_its_weights_and_is_sampled(in_gguf, tmp_path):
    path, network, tokenizer = in_gguf
    copy_base(tmp_path / "model", options(path))
    model, words = load_model(tmp_path / "model")
    assert isinstance(model, type(network))
    assert all(torch.equal(value.cpu(), network.state_dict()[name]) for name, value in model.state_dict().items())
    assert words("two five")["input_ids"] == tokenizer("two five")["input_ids"]
    sample_shard(tmp_path / "model", tmp_path / "s", options(path), system="lm", seed=1, shard=0, shards=1)
    assert len(list(read_documents(tmp_path / "s"))) == 5


@pytest.mark.slow
def test_a_base_in_gguf_is_fine_tuned(in_gguf, tmp_path):
    path, network, _ = in_gguf
    documents = [Document(split, split, None, (Section(None, "one two " * 9),)) for split in ("train", "valid")]
    write_documents(tmp_path / "d", documents, Provenance("c"))
    tuned = options(path, training=Training(epochs=1, evaluations=1, learning_rate=0.01))
    train_tokenizer(tmp_path / "d", tmp_path / "tokenizer", tuned)
    finetune(tmp_path / "d", tmp_path / "tokenizer", tmp_path / "model", tuned, seed=1, checkpoints=tmp_path / "ck")
    model, _ = load_model(tmp_path / "model")
    old, new = (published.get_input_embeddings().weight.cpu() for published in (network, model))
    assert 0 < (new - old).abs().max() < 1


def test_a_base_that_the_registry_retrieves_is_read_from_its_file(in_gguf, tmp_path):
    copy_base(tmp_path / "model", options("smollm2-135m"), weights=in_gguf[0])
    embeddings = [model.get_input_embeddings().weight for model in (load_model(tmp_path / "model")[0], in_gguf[1])]
    assert torch.equal(*(embedding.cpu() for embedding in embeddings))
    with pytest.raises(MacroscopeError, match="are retrieved for systems of kind language_model alone"):
        load_pretrained_encoder("smollm2-135m")


def test_a_file_that_is_not_gguf_is_one_sentence(tmp_path):
    (tmp_path / "broken.gguf").write_bytes(b"no")
    with pytest.raises(MacroscopeError, match=r"model '.*broken\.gguf': cannot be loaded"):
        copy_base(tmp_path / "model", options(tmp_path / "broken.gguf"))


def test_the_weights_of_a_retrieved_base_are_an_input_of_its_jobs():
    lm = {"kind": "language_model", "titles": False, "training": None}
    plan = plan_systems(small={**lm, "base": "smollm2-135m"}, other={**lm, "base": "gpt2"})
    weights = find_job(plan, "copy_base").inputs["weights"]
    wildcards = [SimpleNamespace(corpus="wiki", system=name) for name in ("small", "other")]
    assert [weights(w) for w in wildcards] == [["data/smollm2-135m/0.1.2/SmolLM2-135M-Instruct.Q4_1.gguf"], []]


def test_a_base_without_weights_is_one_sentence(tmp_path):
    with pytest.raises(
        MacroscopeError, match="model 'tiny-gpt2': it is trained from scratch and has no published weights"
    ):
        copy_base(tmp_path / "model", options("tiny-gpt2"))
    with pytest.raises(MacroscopeError, match=r"systems\.lm\.training: 'tiny-gpt2' is trained from scratch"):
        plan_systems(lm={"kind": "language_model", "base": "tiny-gpt2", "titles": False, "training": None})


def test_a_published_model_is_not_fine_tuned(base, tmp_path):
    with pytest.raises(MacroscopeError, match="training: null means that the model is not trained"):
        finetune(tmp_path, tmp_path, tmp_path / "model", options(base), seed=1, checkpoints=tmp_path / "ck")


def test_a_context_that_the_model_does_not_have_is_refused_at_once(base, tmp_path):
    with pytest.raises(MacroscopeError, match="context: 99 tokens are more than"):
        copy_base(tmp_path / "model", options(base, context=99))


def test_only_trained_models_have_training_jobs():
    lm = {"kind": "language_model", "base": "gpt2", "titles": False}
    plan = plan_systems(tuned=lm, published={**lm, "training": None})
    stages = ("finetune", "copy_base", "measure_perplexity_language_model")
    constraints = [find_job(plan, stage).constraints["system"] for stage in stages]
    assert constraints == ["tuned", "published", "tuned|published"]
    assert {find_job(plan_systems(), stage).constraints["system"] for stage in stages} == {NO_NAME}
    signatures = [plan.systems.all[name].perplexity_signature() for name in ("tuned", "published")]
    assert signatures[1] == signatures[0] + "|training:none"


@pytest.mark.parametrize("kind", ["bloom", "mamba"])
def test_a_model_that_cannot_be_sampled_is_refused_before_anything_is_trained(kind, tmp_path, letters):
    config = AutoConfig.for_model(kind, vocab_size=VOCABULARY, hidden_size=16, num_hidden_layers=1, n_layer=1, n_head=2)
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path / "base")
    letters.save_pretrained(tmp_path / "base")
    with pytest.raises(MacroscopeError, match=f"models of type {kind} cannot be sampled token by token here"):
        copy_base(tmp_path / "model", options(tmp_path / "base"))
    documents = [Document(split, split, None, (Section(None, "abc"),)) for split in ("train", "valid")]
    write_documents(tmp_path / "d", documents, Provenance("c"))
    trained = options(tmp_path / "base", training=Training())
    with pytest.raises(MacroscopeError, match="use another base, or run it behind a server"):
        finetune(tmp_path / "d", tmp_path / "base", tmp_path / "model", trained, seed=1, checkpoints=tmp_path / "ck")

"""Published models: the same weights and tokenizer, in a folder that later stages can use, without training."""

import shutil

import pandas as pd
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from macroscope.config.schema import parse_config
from macroscope.documents import Document, Provenance, Section, read_documents, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import read_json
from macroscope.plan import Plan
from macroscope.stages import NO_NAME
from macroscope.systems.language_model.model import copy_base, load_model
from macroscope.systems.language_model.options import LanguageModelSystem, Training
from macroscope.systems.language_model.perplexity import measure_perplexity
from macroscope.systems.language_model.sampling import sample_shard
from macroscope.systems.language_model.training import finetune
from tests.unit.plan.plans import find_job

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
    assert all(torch.equal(value, published[name]) for name, value in model.state_dict().items())
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


def test_a_base_without_weights_is_one_sentence(tmp_path):
    with pytest.raises(
        MacroscopeError, match="model 'tiny-gpt2': it is trained from scratch and has no published weights"
    ):
        copy_base(tmp_path / "model", options("tiny-gpt2"))
    with pytest.raises(MacroscopeError, match=r"systems\.lm\.training: 'tiny-gpt2' is trained from scratch"):
        planned(lm={"kind": "language_model", "base": "tiny-gpt2", "titles": False, "training": None})


def test_a_published_model_is_not_fine_tuned(base, tmp_path):
    with pytest.raises(MacroscopeError, match="training: null means that the model is not trained"):
        finetune(tmp_path, tmp_path, tmp_path / "model", options(base), seed=1, checkpoints=tmp_path / "ck")


def test_a_context_that_the_model_does_not_have_is_refused_at_once(base, tmp_path):
    with pytest.raises(MacroscopeError, match="context: 99 tokens are more than"):
        copy_base(tmp_path / "model", options(base, context=99))


def planned(**systems):
    corpora, comparisons = {"wiki": {"source": "simulated"}}, [{"corpus": "wiki", "critics": ["coherence"]}]
    return Plan(parse_config({"corpora": corpora, "systems": systems, "comparisons": comparisons}))


def test_only_trained_models_have_training_jobs():
    lm = {"kind": "language_model", "base": "gpt2", "titles": False}
    plan = planned(tuned=lm, published={**lm, "training": None})
    stages = ("finetune", "copy_base", "measure_perplexity_language_model")
    constraints = [find_job(plan, stage).constraints["system"] for stage in stages]
    assert constraints == ["tuned", "published", "tuned|published"]
    assert {find_job(planned(), stage).constraints["system"] for stage in stages} == {NO_NAME}
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

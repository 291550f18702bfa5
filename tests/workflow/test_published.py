"""A pretrained model as it was published, with prompts, under two seeds: the whole workflow, without any training."""

import pandas as pd
import pytest

from macroscope.documents import read_documents

from ..tiny import simulated_documents
from .conftest import Run


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A run that has finished, of a GPT-2 with random weights from a folder."""
    from transformers import GPT2Config, GPT2LMHeadModel

    from macroscope.systems.formats import format_training_text
    from macroscope.systems.tokenizer import train_bpe

    run = Run(tmp_path_factory.mktemp("published"))
    folder = run.work / "gpt2"
    texts = (format_training_text(document, False) for document in simulated_documents("process", 40, 1))
    train_bpe(texts, 400).save_pretrained(folder)
    GPT2LMHeadModel(GPT2Config(vocab_size=400, n_positions=64, n_embd=16, n_layer=1, n_head=2)).save_pretrained(folder)
    lm = {"kind": "language_model", "base": str(folder), "titles": False, "training": None, "prompt_words": 5}
    again = {"kind": "resampled", "of": "lm", "decoding": {"rule": "ancestral"}, "seed": 1}
    run.config["systems"] = {"lm": {**lm, "samples": 40, "samples_per_shard": 20, "max_tokens": 80}, "again": again}
    run.config["comparisons"] = [{"corpus": "real", "systems": "all", "critics": ["strings"]}]
    run.save()
    asked = [f"results/test/systems/real/{system}/log_probabilities.parquet" for system in ("lm", "again")]
    done = run.snakemake("results/test/report.html", *asked)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return run


def test_nothing_was_trained(published):
    logs = published.work / "logs" / "test"
    assert (logs / "copy_base" / "real" / "lm.log").exists()
    assert not (logs / "finetune").exists()
    assert not (logs / "train_tokenizer").exists()
    page = (published.work / "results" / "test" / "pages" / "training.html").read_text()
    assert "The models" in page
    assert "Training of lm on real" not in page


def test_samples_go_on_from_the_controls_documents_under_every_seed(published):
    systems = published.work / "results" / "test" / "systems" / "real"
    control, lm, again = (list(read_documents(systems / s / "samples.parquet")) for s in ("control", "lm", "again"))
    for samples in (lm, again):
        for number, sample in enumerate(samples):
            prompt = control[number % len(control)].text.split()[:5]
            assert sample.text.split()[:4] == prompt[:4]
            assert sample.text.split()[4].startswith(prompt[4])
    assert len(lm) == len(again) > len(control)
    assert [d.text for d in lm] != [d.text for d in again]


def test_samples_have_log_probabilities(published):
    for system in ("lm", "again"):
        folder = published.work / "results" / "test" / "systems" / "real" / system
        table = pd.read_parquet(folder / "log_probabilities.parquet")
        assert table["id"].tolist() == [d.id for d in read_documents(folder / "samples.parquet")]
        # Random weights: not far from a uniform distribution over the vocabulary.
        assert (-table["log_probability"] / table["tokens"]).mean() == pytest.approx(6.0, abs=0.1)
        assert (table["prompt_tokens"] > 0).all()

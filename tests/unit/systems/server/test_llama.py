"""A real server: llama.cpp, with a tiny model that the workflow's own code trained."""

import re
import socket
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import requests
import torch

from macroscope.documents import Provenance, write_documents
from macroscope.systems.language_model.model import load_model
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.language_model.sampling import merge_shards, sample_shard
from macroscope.systems.language_model.training import finetune, train_tokenizer
from macroscope.systems.server import ServerSystem
from macroscope.systems.server.sampling import sample_server

from ....tiny import simulated_documents

llama_cpp = pytest.importorskip("llama_cpp", reason="no llama.cpp: pip install --group llama")
pytest.importorskip("gguf", reason="no gguf: pip install --group llama")
SAMPLES, MAX_TOKENS, CONTEXT = 300, 150, 192


@pytest.fixture(scope="module")
def language_model():
    training = {"epochs": 1, "batch_size": 8, "learning_rate": 0.005, "evaluations": 1}
    return LanguageModelSystem(
        kind="language_model", base="tiny-gpt2", titles=False, context=CONTEXT, training=training, samples=SAMPLES,
        samples_per_shard=SAMPLES, batch_size=100, max_tokens=MAX_TOKENS,
    )  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory, language_model):
    """Folder of a half-trained model, whose samples are diverse."""
    folder = tmp_path_factory.mktemp("llama")
    documents = [
        type(document)(document.id, "valid" if n % 10 == 0 else "train", document.title, document.sections)
        for n, document in enumerate(simulated_documents("process", 120, 1))
    ]
    write_documents(folder / "documents.parquet", documents, Provenance("wiki"))
    train_tokenizer(folder / "documents.parquet", folder / "tokenizer", language_model)
    finetune(
        folder / "documents.parquet", folder / "tokenizer", folder / "model", language_model, seed=1,
        checkpoints=folder / "checkpoints", threads=1, processes=0,
    )  # fmt: skip
    return folder / "model"


@pytest.fixture(scope="module")
def converted(model):
    from ....gguf_models import write_gguf

    network, tokenizer = load_model(model)
    return write_gguf(network, tokenizer, model.with_name("tiny.gguf"))


@pytest.fixture(scope="module")
def url(converted):
    """URL of the server, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(converted), "--model_alias", "tiny"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT), "--n_threads", "2"]
    log = converted.with_suffix(".log")
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as server:
        address = f"http://127.0.0.1:{port}/v1"
        for _ in range(120):
            try:
                requests.get(f"{address}/models", timeout=1)
                break
            except requests.exceptions.RequestException:
                assert server.poll() is None, log.read_text()[-2000:]
                time.sleep(0.5)
        yield address
        server.kill()


def test_the_converted_model_is_the_same(model, converted):
    network, tokenizer = load_model(model)
    converted_model = llama_cpp.Llama(str(converted), n_ctx=CONTEXT, logits_all=True, verbose=False)
    text = simulated_documents("process", 3, 5)[2].sections[0].text[:200]
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert converted_model.tokenize(text.encode(), add_bos=False) == tokens
    converted_model.eval(tokens)
    with torch.no_grad():
        ours = network(torch.tensor([tokens])).logits[0].float().numpy()
    assert np.abs(converted_model.scores[: len(tokens)] - ours).max() < 0.01


def test_no_critic_distinguishes_its_samples_from_ours(model, url, language_model, tmp_path):
    sample_shard(model, tmp_path / "shard", language_model, system="ours", seed=1, shard=0, shards=1)
    merge_shards([tmp_path / "shard"], tmp_path / "ours.parquet", "wiki")
    options = ServerSystem(
        kind="server", url=url, model="tiny", api="llama_cpp", beginning="<|endoftext|>", samples=SAMPLES,
        max_tokens=MAX_TOKENS, parallel=4,
    )  # fmt: skip
    sample_server(tmp_path / "served.parquet", options, corpus="wiki", system="served", seed=1)
    rows = pd.read_parquet(tmp_path / "completions.parquet")
    assert set(rows["finish_reason"]) <= {"stop", "length"}
    assert rows["seed"].nunique() == SAMPLES
    p_values = _compare(tmp_path / "ours.parquet", tmp_path / "served.parquet", tmp_path / "judged")
    assert len(p_values) > 20
    assert p_values.min() > 0.01, p_values.sort_values().head()


def test_the_default_truncation_of_llama_cpp_changes_samples(url, tmp_path):
    """The option `api` is there to undo the program's defaults."""
    defaults = {"model": "tiny", "prompt": "<|endoftext|>", "max_tokens": 60, "seed": 3}
    untruncated = defaults | {
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": 0,
        "min_p": 0.0,
        "typical_p": 1.0,
        "repeat_penalty": 1.0,
    }
    answers = [requests.post(f"{url}/completions", json=body, timeout=60).json() for body in (defaults, untruncated)]
    texts = [answer["choices"][0]["text"] for answer in answers]
    assert texts[0] != texts[1]


def _compare(reference, candidate, output):
    """Return the adjusted p-values of all tests of `macroscope criticize` on two collections."""
    command = [sys.executable, "-m", "macroscope", "criticize", "--reference", str(reference), "--cores", "2"]
    command += ["--candidate", str(candidate), "--critic", "tendencies", "--critic", "strings", "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert re.search(r"[≈?]", done.stdout), done.stdout
    (path,) = output.rglob("tables/statistics.csv")
    table = pd.read_csv(path)
    return table.loc[~table["system"].isin(["control", "split_half"]), "p_adjusted"].dropna()

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
from macroscope.systems.language_model.sampling import gather, sample_shard
from macroscope.systems.language_model.training import finetune, train_tokenizer
from macroscope.systems.server.options import ServerSystem
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
    """Folder of a model that is half trained: its samples are various."""
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
    """Where the server is, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(converted), "--model_alias", "tiny"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT), "--n_threads", "2"]
    log = converted.with_suffix(".log")
    with log.open("w") as said, subprocess.Popen(command, stdout=said, stderr=said) as server:
        found = f"http://127.0.0.1:{port}/v1"
        for _ in range(120):
            try:
                requests.get(f"{found}/models", timeout=1)
                break
            except requests.exceptions.RequestException:
                assert server.poll() is None, log.read_text()[-2000:]
                time.sleep(0.5)
        yield found
        server.kill()


def test_the_converted_model_is_the_same(model, converted):
    network, tokenizer = load_model(model)
    known = llama_cpp.Llama(str(converted), n_ctx=CONTEXT, logits_all=True, verbose=False)
    text = simulated_documents("process", 3, 5)[2].sections[0].text[:200]
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert known.tokenize(text.encode(), add_bos=False) == tokens
    known.eval(tokens)
    with torch.no_grad():
        ours = network(torch.tensor([tokens])).logits[0].float().numpy()
    assert np.abs(known.scores[: len(tokens)] - ours).max() < 0.01


def test_its_samples_are_told_from_ours_by_no_critic(model, url, language_model, tmp_path):
    sample_shard(model, tmp_path / "shard", language_model, system="ours", seed=1, shard=0, shards=1)
    gather([tmp_path / "shard"], tmp_path / "ours.parquet", "wiki")
    options = ServerSystem(
        kind="server", url=url, model="tiny", api="llama_cpp", beginning="<|endoftext|>", samples=SAMPLES,
        max_tokens=MAX_TOKENS, parallel=4,
    )  # fmt: skip
    sample_server(tmp_path / "served.parquet", options, corpus="wiki", system="served", seed=1)
    rows = pd.read_parquet(tmp_path / "completions.parquet")
    assert set(rows["finish_reason"]) <= {"stop", "length"}
    assert rows["seed"].nunique() == SAMPLES
    found = _judged(tmp_path / "ours.parquet", tmp_path / "served.parquet", tmp_path / "judged")
    assert len(found) > 20
    assert found.min() > 0.01, found.sort_values().head()


def test_what_llama_cpp_truncates_by_itself_is_seen(url, tmp_path):
    """With the defaults of the program, which `api` is there to undo, samples are others."""
    given = {"model": "tiny", "prompt": "<|endoftext|>", "max_tokens": 60, "seed": 3}
    told = given | {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0}
    answers = [requests.post(f"{url}/completions", json=body, timeout=60).json() for body in (given, told)]
    texts = [answer["choices"][0]["text"] for answer in answers]
    assert texts[0] != texts[1]


def _judged(reference, candidate, output):
    """Adjusted p-values of all tests that `macroscope criticize` makes of one collection against the other."""
    command = [sys.executable, "-m", "macroscope", "criticize", "--reference", str(reference), "--cores", "2"]
    command += ["--candidate", str(candidate), "--critic", "tendencies", "--critic", "strings", "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert re.search(r"[≈?]", done.stdout), done.stdout
    (path,) = output.rglob("tables/statistics.csv")
    table = pd.read_csv(path)
    return table.loc[~table["system"].isin(["control", "split_half"]), "p_adjusted"].dropna()

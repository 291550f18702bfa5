"""Samples from a server do not depend on failures, on the order of the answers, or on kills."""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest

from macroscope.documents import Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.rejection_sampling import PartialFile
from macroscope.systems.server import completions
from macroscope.systems.server.sampling import COMPLETIONS, derive_seed, sample_server

from .conftest import KEY
from .test_completions import drop, send_half, status


def sample(output, options, **inputs):
    sample_server(output, options, corpus="c", system="s", seed=1, **inputs)
    return list(read_documents(output))


@pytest.mark.slow
def test_samples_follow_from_seed_and_number(end_point, options, tmp_path):
    documents = sample(tmp_path / "a" / "samples.parquet", options())
    assert [document.id for document in documents] == [f"s-{n:07d}" for n in range(12)]
    expected = [end_point.text({"prompt": "", "seed": derive_seed(1, "s", n, 0)}).strip() for n in range(12)]
    assert [document.text for document in documents] == expected
    end_point.delay = 0.01
    assert sample(tmp_path / "b" / "samples.parquet", options(parallel=12)) == documents
    assert sample(tmp_path / "c" / "samples.parquet", options(seed=1)) != documents
    assert len({derive_seed(1, "s", n, a) for n in range(500) for a in range(3)}) == 1500
    assert all(0 <= derive_seed(1, "s", n, 0) < 2**31 for n in range(500))


def test_requests_and_answers_are_written_beside_the_samples(end_point, options, tmp_path):
    output = tmp_path / "samples.parquet"
    sample(output, options(log_probabilities=True, api="vllm"))
    rows = pq.read_table(output.with_name(COMPLETIONS)).to_pylist()
    assert [row["id"] for row in rows] == [document.id for document in read_documents(output)]
    assert rows[3] == {
        "id": "s-0000003", "prompt_document": None, "attempt": 0, "seed": derive_seed(1, "s", 3, 0),
        "finish_reason": "stop", "tokens": 10, "log_probability": -1.75, "model": "tiny", "fingerprint": "fp1",
    }  # fmt: skip
    provenance = read_provenance(output)
    request = {name: value for name, value in end_point.requests[0].items() if name not in ("prompt", "seed")}
    assert provenance.source["request"] == request
    assert provenance.source["url"] == end_point.url


@pytest.mark.slow
def test_failures_change_no_sample(end_point, options, tmp_path):
    expected = sample(tmp_path / "a" / "samples.parquet", options())
    end_point.failures = [status(500), drop, send_half, status(429), None, drop, status(503)]
    assert sample(tmp_path / "b" / "samples.parquet", options()) == expected


@pytest.mark.slow
def test_no_more_requests_at_a_time_than_allowed(end_point, options, tmp_path):
    end_point.delay = 0.05
    sample(tmp_path / "samples.parquet", options(samples=30, parallel=3))
    assert end_point.busiest == 3


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [3, 12, 20])
def test_finished_samples_are_kept_when_the_server_disappears(end_point, options, tmp_path, monkeypatch, wanted):
    monkeypatch.setattr(completions, "TRIES", 2)
    expected = sample(tmp_path / "a" / "samples.parquet", options(samples=wanted))
    end_point.failures = [None] * 5 + [status(500)] * 40
    output = tmp_path / "b" / "samples.parquet"
    with pytest.raises(MacroscopeError, match=r"system s: .* status 500, 2 times in a row; 5 of 12 samples are kept"):
        sample(output, options(parallel=1))
    assert not output.exists()
    end_point.failures, end_point.requests = [], []
    # Neither the number of samples nor that of parallel requests changes a sample.
    assert sample(output, options(samples=wanted, parallel=2)) == expected
    requested = sorted(body["seed"] for body in end_point.requests)
    assert requested == sorted(derive_seed(1, "s", n, 0) for n in range(5, wanted))


def test_empty_and_filtered_completions_are_requested_again_and_counted(end_point, options, tmp_path):
    requested = Counter()

    def text(body):
        requested[body["seed"]] += 1
        first = {derive_seed(1, "s", n, 0) for n in (2, 3)}
        return "  \n" if body["seed"] in first else end_point.text_of(body)

    end_point.text = text
    output = tmp_path / "samples.parquet"
    assert len(sample(output, options())) == 12
    counts = {count.filter: count.dropped for count in read_provenance(output).counts}
    assert counts["attempt without text"] == 2
    assert pq.read_table(output.with_name(COMPLETIONS)).column("attempt").to_pylist()[:5] == [0, 0, 1, 1, 0]
    assert set(requested.values()) == {1}


def test_a_completion_that_is_cut_within_a_character(end_point, options, tmp_path):
    end_point.text = lambda body: "It is so \ud83d\ude00 \ud83d"
    sample(tmp_path / "samples.parquet", options())
    assert {d.text for d in read_documents(tmp_path / "samples.parquet")} == {"It is so \U0001f600 \ufffd"}


def test_cut_completions_are_counted(end_point, options, tmp_path):
    end_point.finish = "length"
    sample(tmp_path / "samples.parquet", options())
    counts = {count.filter: count.dropped for count in read_provenance(tmp_path / "samples.parquet").counts}
    assert counts["end of a sample beyond 2000 tokens"] == 12


def test_titled_sections(end_point, options, tmp_path):
    end_point.text = lambda body: "Plot: it ends.\n\nCast: Ann."
    (document, *_) = sample(tmp_path / "samples.parquet", options(titles=True))
    assert document.sections == (Section("Plot", "it ends."), Section("Cast", "Ann."))


def test_prompts_are_the_first_words_of_held_out_documents(end_point, options, tmp_path):
    prompts = tmp_path / "control.parquet"
    documents = [Document(f"d{n}", "test", None, (Section(None, f"w{n} two three four"),)) for n in range(5)]
    write_documents(prompts, documents, Provenance("c"))
    output = tmp_path / "samples.parquet"
    samples = sample(output, options(prompt_words=2, beginning="<s>"), prompts=prompts)
    assert [document.text.split()[:2] for document in samples] == [[f"w{n % 5}", "two"] for n in range(12)]
    assert sorted({body["prompt"] for body in end_point.requests}) == [f"w{n} two" for n in range(5)]
    named = pq.read_table(output.with_name(COMPLETIONS)).column("prompt_document").to_pylist()
    assert named[:6] == ["d0", "d1", "d2", "d3", "d4", "d0"]


def test_the_beginning_is_sent_if_there_is_no_prompt(end_point, options, tmp_path):
    documents = sample(tmp_path / "samples.parquet", options(beginning="<|endoftext|>"))
    assert {body["prompt"] for body in end_point.requests} == {"<|endoftext|>"}
    assert all("endoftext" not in document.text for document in documents)


def test_the_key_is_in_no_file(end_point, options, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setattr(PartialFile, "remove", lambda self: None)
    sample(tmp_path / "samples.parquet", options(api_key_variable="TEST_KEY"))
    for path in tmp_path.rglob("*"):
        assert KEY.encode() not in path.read_bytes()
    assert KEY not in json.dumps(read_provenance(tmp_path / "samples.parquet").options)

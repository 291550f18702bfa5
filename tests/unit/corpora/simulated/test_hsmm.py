"""The hidden semi-Markov process: published sizes and numbers, unreachable states, the truth on disk."""

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from macroscope.corpora.simulated import HsmmSizes, SimulatedCorpus
from macroscope.corpora.simulated.hsmm import (
    DELIMITER,
    HsmmProcess,
    hsmm_process,
    simulate_segments,
    simulate_texts,
    write_corpus,
)
from macroscope.critics.synthetic.scoring import expected_nll
from macroscope.documents import read_documents

PUBLISHED = HsmmSizes(states=256, subsequences=10_000, letters=52, shortest=4, longest=11, segments=50)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_at_the_published_size_it_has_the_published_numbers(seed):
    """deng2022 Table 1: latent PPL 44.30, PPL 1.99; 40 processes of the published code lie between 40.7 and 47.5."""
    process = hsmm_process(PUBLISHED, seed)
    assert 40.7 < np.exp(expected_nll(process)) < 47.5
    texts = list(simulate_segments(process, "process", 300, seed))
    tokens = np.array([len(subsequence.split()) for subsequence in process.subsequences])
    nll = -sum(process.log_probability(text) for text in texts)
    assert np.exp(nll / sum(tokens[text].sum() for text in texts)) == pytest.approx(2.0, abs=0.06)
    assert tokens.mean() == pytest.approx(7.5, abs=0.1)
    assert (tokens.min(), tokens.max()) == (4, 11)


@pytest.mark.slow
def test_transitions_are_those_of_the_matrix():
    process = hsmm_process(HsmmSizes(states=5, subsequences=20, segments=4), 2)
    states = np.array([process.states[text] for text in simulate_segments(process, "process", 20_000, 3)])
    before, after = states[:, :-1].ravel(), states[:, 1:].ravel()
    counts = np.zeros((5, 5))
    np.add.at(counts, (before, after), 1)
    reachable = counts.sum(axis=1) > 0  # states without sub-sequences are unreachable
    shares = counts[reachable] / counts[reachable].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, process.transitions[reachable], atol=0.03)
    for place in range(4):
        shares = np.bincount(states[:, place], minlength=5) / len(states)
        np.testing.assert_allclose(shares, process.marginals[place], atol=0.015)


@pytest.mark.slow
def test_damaged_orders_keep_segments_or_marginals():
    process = hsmm_process(HsmmSizes(segments=12), 1)
    straight, shuffled = (list(simulate_segments(process, order, 50, 9)) for order in ("process", "shuffled"))
    assert all(sorted(a) == sorted(b) for a, b in zip(straight, shuffled, strict=True))
    assert any((a != b).any() for a, b in zip(straight, shuffled, strict=True))
    independent = np.array([process.states[text] for text in simulate_segments(process, "independent", 5000, 9)])
    shares = np.bincount(independent[:, 3], minlength=24) / 5000
    np.testing.assert_allclose(shares, process.marginals[3], atol=0.03)


def test_a_state_without_subsequences_is_never_entered():
    process = hsmm_process(HsmmSizes(states=50, subsequences=20), 1)
    empty = np.setdiff1d(np.arange(50), process.states)
    assert len(empty) > 20
    assert (process.transitions[:, empty] == 0).all()
    np.testing.assert_allclose(process.transitions.sum(axis=1), 1)
    assert all(len(text.text.split()) >= 12 * 3 for text in simulate_texts(process, "process", 20, 1))


def test_more_subsequences_than_possible_is_a_clear_error():
    with pytest.raises(
        ValidationError, match="2 letters make 12 different sub-sequences of 3 to 4 tokens, fewer than the 13"
    ):
        HsmmSizes(letters=2, shortest=3, longest=4, subsequences=13)
    every = hsmm_process(HsmmSizes(letters=2, shortest=3, longest=4, subsequences=12), 1)
    assert len(set(every.subsequences)) == 12
    with pytest.raises(ValidationError, match="longest is 2, below shortest, 3"):
        HsmmSizes(longest=2)


def test_the_truth_is_written_beside_the_corpus(tmp_path):
    options = SimulatedCorpus(source="simulated", kind="hsmm", documents=30)
    for name in ("once", "again"):
        (tmp_path / name).mkdir()
        write_corpus(options, 4, tmp_path / f"{name}.jsonl", tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "once").iterdir())
    assert files == ["documents.parquet", "process.json", "states.parquet", "subsequences.csv"]
    for file in ("process.json", "subsequences.csv", "states.parquet"):
        assert (tmp_path / "once" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()
    process = HsmmProcess.load(tmp_path / "once" / "process.json")
    table = pd.read_csv(tmp_path / "once" / "subsequences.csv")
    assert table.groupby("state")["probability"].sum().to_numpy() == pytest.approx(1)
    states = pd.read_parquet(tmp_path / "once" / "states.parquet").set_index("id")["states"]
    for document in read_documents(tmp_path / "once" / "documents.parquet"):
        pieces = [f"{piece.strip()} {DELIMITER}" for piece in document.text.split(DELIMITER)[:-1]]
        assert [process.states[process.places[piece]] for piece in pieces] == list(states[document.id])


def test_sizes_of_another_kind_are_refused():
    with pytest.raises(ValidationError, match="this corpus is of kind 'topics'"):
        SimulatedCorpus(source="simulated", kind="topics", hsmm={"states": 3})

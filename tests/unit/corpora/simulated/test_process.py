"""The section process: exact values against enumeration and simulation."""

import itertools

import numpy as np
import pytest

from macroscope.corpora.simulated.process import SectionProcess, wiki_process
from macroscope.errors import MacroscopeError


@pytest.fixture
def tiny() -> SectionProcess:
    return SectionProcess(["a", "b"], [0.7, 0.3], [[0.1, 0.4], [0.2, 0.2]], [0.5, 0.6])


def enumerate_documents(process: SectionProcess, longest: int):
    for length in range(1, longest + 1):
        for sections in itertools.product(process.states, repeat=length):
            nll = process.nll(sections)
            yield sections, nll, np.exp(-nll)


@pytest.mark.slow
def test_exact_values_equal_enumeration(tiny):
    documents = list(enumerate_documents(tiny, 16))
    assert sum(p for *_, p in documents) == pytest.approx(1, abs=1e-4)
    assert sum(p * nll for _, nll, p in documents) == pytest.approx(tiny.expected_nll(), abs=2e-3)
    assert sum(p * len(s) for s, _, p in documents) == pytest.approx(tiny.expected_sections(), abs=2e-3)
    share_of_a = sum(p * s.count("a") for s, _, p in documents) / sum(p * len(s) for s, _, p in documents)
    assert share_of_a == pytest.approx(tiny.section_marginal()[0], abs=1e-4)


def test_latent_ppl_is_the_exponential_of_nats_per_section(tiny):
    assert tiny.latent_ppl() == pytest.approx(np.exp(tiny.expected_nll() / tiny.expected_sections()))
    assert tiny.latent_ppl(published=True) == pytest.approx(
        np.exp(tiny.expected_nll() / (tiny.expected_sections() + 1))
    )


@pytest.mark.slow
def test_walks_that_are_too_short_are_generated_again():
    long = SectionProcess(["a", "b"], [0.7, 0.3], [[0.1, 0.4], [0.2, 0.2]], [0.5, 0.6], shortest=3)
    documents = [(s, nll, p) for s, nll, p in enumerate_documents(long, 16) if len(s) >= 3]
    assert sum(p for *_, p in documents) == pytest.approx(1, abs=1e-3)
    assert sum(p * nll for _, nll, p in documents) == pytest.approx(long.expected_nll(), abs=1e-2)
    assert sum(p * len(s) for s, _, p in documents) == pytest.approx(long.expected_sections(), abs=1e-2)
    pairs = sum(p * sum(pair == ("a", "b") for pair in itertools.pairwise(s)) for s, _, p in documents)
    assert pairs == pytest.approx(long.expected_transitions[1, 1], abs=2e-3)
    assert long.nll(("a", "b")) == np.inf


def test_the_encyclopaedia_can_generate_any_order():
    """No transition is impossible, so the NLL of an unusual one does not depend on smoothing."""
    process = wiki_process()
    assert min(process.begin.min(), process.transition.min(), process.end.min()) > 5e-4
    assert 2.5 < process.latent_ppl() < 4  # that of real encyclopaedias is 3 to 5


def test_samples_follow_the_process():
    process = wiki_process()
    rng = np.random.default_rng(0)
    samples = [process.sample(rng) for _ in range(4000)]
    nll = np.array([process.nll(sections) for sections in samples])
    assert abs(nll.mean() - process.expected_nll()) < 4 * nll.std() / np.sqrt(len(nll))
    lengths = np.array([len(sections) for sections in samples])
    assert abs(lengths.mean() - process.expected_sections()) < 4 * lengths.std() / np.sqrt(len(lengths))
    assert lengths.min() == 4


def test_json_round_trip(tmp_path, tiny):
    from macroscope.files import write_json

    write_json(tmp_path / "process.json", tiny.to_json())
    assert SectionProcess.load(tmp_path / "process.json").expected_nll() == pytest.approx(tiny.expected_nll())


@pytest.mark.parametrize(
    ("begin", "transition", "end"),
    [
        ([0.5, 0.4], [[0.1, 0.4], [0.2, 0.2]], [0.5, 0.6]),  # begin does not sum to 1
        ([0.7, 0.3], [[0.1, 0.4], [0.2, 0.2]], [0.5]),  # shapes
        ([0.7, 0.3], [[1.0, 0.0], [0.2, 0.2]], [0.0, 0.6]),  # never ends
    ],
)
def test_malformed_process_is_refused(begin, transition, end):
    with pytest.raises(MacroscopeError, match="section process"):
        SectionProcess(["a", "b"], begin, transition, end)

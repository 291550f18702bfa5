"""Nucleus and beam sampling of n-gram models, against their definitions and enumeration."""

from collections import Counter

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import chisquare

from macroscope.config.schema import Config
from macroscope.documents import read_documents, read_provenance
from macroscope.systems.ngram import NgramSystem
from macroscope.systems.ngram.counts import MISSING
from macroscope.systems.ngram.generation import NgramBeamSampler, NgramSampler, sample_ngram, truncate_to_nucleus

from ..language_model.test_beam_sampler import enumerate_samples
from .test_generation import count, documents  # noqa: F401 - documents is a fixture
from .test_model import BEGINNING, END, model_of, random_texts


def probabilities_after(model, history, words):
    rows = np.tile(np.array(history, dtype=np.int64), (len(words), 1))
    return model.probabilities(rows, words)


def test_a_low_temperature_leaves_the_most_probable_word():
    """In floating point, all powers of probabilities are then 0, even that of the largest one."""
    texts = [f"word{n} is {'good' if n % 3 else 'bad'}" for n in range(60)]
    model, vocabulary = model_of(texts, 3, "none")
    sampler = NgramSampler(truncate_to_nucleus(model, 0.9, 1e-4), END, 10)
    names = list(vocabulary)
    sampled = [
        " ".join(names[word] for word in words[:-1]) for words in sampler.generate(400, np.random.default_rng(0))
    ]
    assert set(sampled) == set(texts[:54])  # all are equally probable, and these have nine tenths


@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("p", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_nucleus_is_that_of_its_definition(order, p, temperature):
    model, vocabulary = model_of(random_texts(), order, "none")
    kept = truncate_to_nucleus(model, p, temperature)
    words = np.array([n for n in range(len(vocabulary)) if n != BEGINNING])
    for history in ([MISSING, BEGINNING], [BEGINNING, 2], [2, 3], [3, 3]):
        context = history[-(order - 1) :] if order > 1 else []
        full = probabilities_after(model, context, words) ** (1 / temperature)
        full = full / full.sum()
        order_of_words = np.lexsort((words, -full))
        fewest = next(n for n in range(1, len(words) + 1) if full[order_of_words[:n]].sum() >= p - 1e-9)
        expected = np.zeros(len(words))
        expected[order_of_words[:fewest]] = full[order_of_words[:fewest]]
        np.testing.assert_allclose(probabilities_after(kept, context, words), expected / expected.sum(), atol=1e-12)


def test_shares_that_reach_the_nucleus_exactly_are_enough():
    # Ten words follow, a tenth each: 0.1 added up nine times is a little less than 0.9.
    model, _ = model_of([f"w{n}" for n in range(10)], 2, "none")
    level = truncate_to_nucleus(model, 0.9).shares[1]
    contexts = model.trie.levels[1].keys // model.trie.words
    assert np.count_nonzero(level[contexts == contexts[0]]) == 9


def test_no_word_outside_the_nucleus_is_sampled():
    model, _ = model_of(random_texts(), 2, "none")
    kept = truncate_to_nucleus(model, 0.5)
    texts = NgramSampler(kept, END, 20).generate(3000, np.random.default_rng(0))
    pairs = {(a, b) for text in texts for a, b in zip([BEGINNING, *text[:-1]], text, strict=True)}
    rows = np.array(sorted(pairs))
    assert (kept.probabilities(rows[:, :1], rows[:, 1]) > 0).all()


@pytest.mark.parametrize(("smoothing", "order"), [("kneser_ney", 2), ("kneser_ney", 3), ("none", 3)])
def test_beams_come_with_their_exact_probabilities(smoothing, order):
    model, vocabulary = model_of(random_texts(40, 3), order, smoothing)
    words = np.array([END, *(n for n in range(len(vocabulary)) if n not in (BEGINNING, END))])
    k, longest, n = 2, 3, 4000

    def logs_of(tokens):
        history = [MISSING] * order + [BEGINNING, *(words[token] for token in tokens)]
        with np.errstate(divide="ignore"):
            return np.log(probabilities_after(model, history[len(history) - order + 1 :], words))

    exact = {text: p for text, p in enumerate_samples(logs_of, k, longest).items() if p}
    assert sum(exact.values()) == pytest.approx(1)
    place = {word: i for i, word in enumerate(words.tolist())}
    sampled = NgramBeamSampler(model, END, longest, k).generate(n, np.random.default_rng(0))
    counts = Counter(tuple(place[word] for word in text.tolist()) for text in sampled)
    assert set(counts) <= set(exact)
    common = [tokens for tokens, p in exact.items() if p * n >= 5]
    observed, expected = [counts[tokens] for tokens in common], [exact[tokens] * n for tokens in common]
    if n - sum(expected) > 1:
        observed, expected = [*observed, n - sum(observed)], [*expected, n - sum(expected)]
    assert len(common) >= 5
    assert chisquare(observed, np.array(expected) * sum(observed) / sum(expected)).pvalue > 1e-4


@pytest.mark.parametrize("order", [1, 3])
def test_one_beam_is_ancestral_sampling(order):
    model, _ = model_of(random_texts(), order, "none")
    counts = [
        Counter(tuple(text.tolist()) for text in sampler.generate(5000, np.random.default_rng(seed)))
        for seed, sampler in enumerate((NgramBeamSampler(model, END, 2, 1), NgramSampler(model, END, 2)))
    ]
    common = [text for text in counts[0] if counts[0][text] + counts[1][text] > 20]
    beam, ancestral = (np.array([count[text] for text in common]) for count in counts)
    total = beam + ancestral
    assert (np.square(beam - ancestral) / total).sum() < len(common) + 4 * np.sqrt(2 * len(common))


def test_a_beam_that_does_not_end_is_cut():
    model, _ = model_of(["a b " * 30], 2, "none")
    texts = NgramBeamSampler(model, END, 5, 3).generate(20, np.random.default_rng(0))
    assert all(len(text) == 5 for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("decoding", [{"rule": "nucleus", "p": 0.9}, {"rule": "beam_sampling", "beams": 5}])
def test_a_system_generates_under_its_rule(documents, tmp_path, decoding):  # noqa: F811
    options = NgramSystem(kind="ngram", titles=False, samples=30, max_tokens=300, decoding=decoding)
    model = count(documents, tmp_path, options)
    for name in ("one", "two"):
        sample_ngram(model, tmp_path / name, options, corpus="wiki", system="trigram", seed=1)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert len(list(read_documents(tmp_path / "one"))) == 30
    assert read_provenance(tmp_path / "one").source["decoding"]["rule"] == decoding["rule"]


def test_a_smoothed_model_has_no_nucleus():
    system = {"kind": "ngram", "titles": False, "smoothing": "kneser_ney", "decoding": {"rule": "nucleus", "p": 0.9}}
    with pytest.raises(ValidationError, match=r"systems\.x\.decoding: a smoothed n-gram model"):
        Config(
            run="x",
            corpora={"c": {"source": "simulated", "kind": "wiki", "documents": 10}},
            systems={"x": system},
            critics={"tendencies": {}},
            comparisons=[{"corpus": "c", "systems": ["x"], "critics": ["tendencies"]}],
        )

"""N-grams against a count by hand; the model as a distribution over texts; expectation maximisation; samples."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from macroscope.errors import MacroscopeError
from macroscope.systems.hsmm.marginal import expected_counts
from macroscope.systems.hsmm.model import Hsmm, HsmmSampler, Size, compute_nll
from macroscope.systems.hsmm.ngrams import NONE, Ngrams, Texts, collate, count_ngrams
from macroscope.systems.hsmm.training import expectation_maximisation, randomise
from macroscope.systems.tokenizer import UNKNOWN

# ---- n-grams ---------------------------------------------------------------------------------------------------------


def random_texts(number, words, seed, most=12):
    rng = np.random.default_rng(seed)
    return [[words[k] for k in rng.integers(len(words), size=rng.integers(1, most))] for _ in range(number)]


def test_the_most_frequent_ngrams_are_those_of_a_counter():
    texts = random_texts(60, "abc", 1)
    ngrams = count_ngrams(texts, 4, 5)
    assert ngrams.words == (UNKNOWN, *dict.fromkeys("".join("".join(text) for text in texts)))
    for length in range(2, 5):
        counts = Counter(tuple(text[n : n + length]) for text in texts for n in range(len(text) - length + 1))
        most_frequent = [tuple(ngrams.words[word] for word in row) for row in ngrams.tokens[length - 1]]
        assert most_frequent == [ngram for ngram, _ in counts.most_common(5)]  # among equally frequent ones, the first


def test_exactly_the_ngrams_of_a_text_are_found(tmp_path):
    ngrams = count_ngrams(random_texts(40, [f"w{n}" for n in range(300)], 2), 3, 200)
    ngrams.save(tmp_path)
    again = Ngrams.load(tmp_path)
    rows_by_ngram = {tuple(again.text(row)): row for row in range(len(again))}
    assert len(rows_by_ngram) == len(ngrams)
    words = random_texts(1, [f"w{n}" for n in range(330)], 3, 400)[0]
    rows = again.rows(again.numbers(words))
    mapped = [word if word in again.words else UNKNOWN for word in words]
    for n, k in product(range(len(words)), range(3)):
        expected = rows_by_ngram.get(tuple(mapped[n : n + k + 1]), NONE) if n + k < len(words) else NONE
        assert rows[n, k] == expected


def test_texts_shorter_than_the_longest_ngram_have_no_longer_ones():
    ngrams = count_ngrams([["a"], ["a", "b"]], 5, 10)
    assert [len(rows) for rows in ngrams.tokens] == [3, 1]
    with pytest.raises(MacroscopeError, match="no words"):
        count_ngrams([[]], 3, 10)


# ---- the model -------------------------------------------------------------------------------------------------------


def small_model(ends=True, seed=0, states=3, longest=2):
    """Return a model over two words, whose texts are short."""
    ngrams = count_ngrams([list("abba"), list("aab")], longest, 3)
    torch.manual_seed(seed)
    model = Hsmm(Size(states, tuple(map(len, ngrams.tokens)), ends)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, dtype=torch.float64))
        if ends:
            model.transition[:, -1] += 2
        model.emission[0][0] = -40  # hardly ever an unknown word
    return model.eval(), ngrams


def probabilities(model, ngrams, longest):
    """Compute P(text) of all texts up to a number of words: text -> P(text)."""
    texts = [list(words) for size in range(1, longest + 1) for words in product("ab", repeat=size)]
    return dict(zip(map("".join, texts), np.exp(-compute_nll(model, Texts(texts, ngrams))), strict=True))


def test_probabilities_of_all_texts_add_up_to_one():
    model, ngrams = small_model()
    totals = [sum(probabilities(model, ngrams, longest).values()) for longest in (4, 8, 12)]
    assert totals == sorted(totals)
    assert totals[-1] == pytest.approx(1, abs=2e-3)
    assert totals[-1] <= 1 + 1e-9


def test_without_an_end_texts_of_one_segmentation_add_up_to_one():
    """With segments of one word only, texts of each length add up to one."""
    model, ngrams = small_model(ends=False, longest=1)
    totals = probabilities(model, ngrams, 5)
    for size in range(1, 6):
        assert sum(p for text, p in totals.items() if len(text) == size) == pytest.approx(1)


def test_a_saved_model_is_the_same(tmp_path):
    model, ngrams = small_model()
    model.float().save(tmp_path, ngrams)
    again, read = Hsmm.load(tmp_path)
    texts = [list("abab"), list("b"), ["a", "new"]]
    np.testing.assert_array_equal(compute_nll(model, Texts(texts, ngrams)), compute_nll(again, Texts(texts, read)))
    assert np.isfinite(compute_nll(again, Texts(texts, read))).all()


def test_long_texts_are_processed_in_double_precision():
    """In single precision, 5,000 tokens count as 4,988. Each must be in one segment, and each text must begin once."""
    texts = [random_texts(1, "abcdefgh", seed, 9)[0] * 2500 for seed in (5, 7)]
    ngrams = count_ngrams(texts, 4, 500)
    torch.manual_seed(2)
    model = Hsmm(Size(8, tuple(map(len, ngrams.tokens)), True))
    data = Texts(texts, ngrams)
    assert data.tokens > 5000
    batch = collate([data[0], data[1]])
    with torch.no_grad():
        _, counts = expected_counts(*model.batch(**batch, normalisers=model.normalisers()))
    assert float(counts.initial.sum()) == pytest.approx(2, abs=1e-6)
    tokens = (counts.length.sum(dim=1) * torch.arange(1, 5)).sum()
    assert float(tokens) == pytest.approx(data.tokens, rel=1e-8)


@pytest.mark.parametrize("segments", [None, 2])
def test_samples_follow_the_model(segments):
    """Frequencies of texts against their probabilities; with a fixed number of segments, by enumerating them."""
    model, ngrams = small_model(seed=4)
    samples = HsmmSampler(model, ngrams, segments, 50).generate(20_000, np.random.default_rng(1))
    assert not any(cut for _, cut in samples)
    counts = Counter("".join(words) for words, _ in samples)
    expected_shares = probabilities(model, ngrams, 7) if segments is None else two_segment_probabilities(model, ngrams)
    frequent = [text for text, p in expected_shares.items() if p > 1e-3]
    observed = np.array([counts[text] for text in frequent])
    expected = np.array([expected_shares[text] for text in frequent]) * 20_000
    rest = 20_000 - expected.sum()
    assert 20_000 - observed.sum() == pytest.approx(rest, abs=5 * np.sqrt(rest + 1))
    assert chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 1e-3


def two_segment_probabilities(model, ngrams):
    """Compute P(text) of all texts of two segments by enumeration: text -> P(text)."""
    with torch.no_grad():
        initial, length = torch.softmax(model.initial, 0), torch.softmax(model.length, 0)
        onwards = torch.softmax(model.transition[:, :-1], 1)
        emission = torch.cat([torch.softmax(logits, 0) * length[k] for k, logits in enumerate(model.emission)])
    probabilities = Counter()
    for first, second in product(range(1, len(ngrams)), repeat=2):
        p = (initial * emission[first]) @ onwards @ emission[second]
        probabilities["".join(ngrams.text(first) + ngrams.text(second))] += float(p)
    return probabilities


def test_a_long_text_is_cut():
    model, ngrams = small_model()
    with torch.no_grad():
        model.transition[:, -1] = -30
    for words, cut in HsmmSampler(model, ngrams, None, 9).generate(50, np.random.default_rng(1)):
        assert len(words) == 9
        assert cut
    assert not any(cut for _, cut in HsmmSampler(model, ngrams, 3, 9).generate(50, np.random.default_rng(1)))


# ---- expectation maximisation ----------------------------------------------------------------------------------------


def test_a_batch_of_long_texts_has_fewer_of_them(monkeypatch):
    monkeypatch.setattr("macroscope.systems.hsmm.ngrams.MOST_CELLS", 120)
    texts = [["a"] * size for size in (2, 40, 3, 10, 2, 2)]
    batches = Texts(texts, count_ngrams(texts, 2, 5)).by_length(3, 4)
    assert batches == [[0, 4, 5], [2, 3], [1]]  # three at most; padded 2 x 10 x 4 = 80 cells; too long to share


@pytest.mark.parametrize("smoothing", [0.0, 2.0])
@pytest.mark.parametrize("ends", [True, False])
def test_expectation_maximisation_never_lowers_the_likelihood(smoothing, ends):
    texts = random_texts(40, "abcd", 5)
    ngrams = count_ngrams(texts, 3, 20)
    model = Hsmm(Size(3, tuple(map(len, ngrams.tokens)), ends)).double()
    randomise(model, torch.Generator().manual_seed(1))
    data = Texts(texts, ngrams)

    def batches():
        return [collate([data[index] for index in indices]) for indices in data.by_length(16, 3)]

    steps = list(expectation_maximisation(model, batches, smoothing, 0.0, 25))
    objective = np.array([objective for _, objective in steps])
    assert (np.diff(objective) > -1e-10).all()
    assert objective[-1] > objective[0] + 0.05
    if not smoothing:
        assert objective == pytest.approx([likelihood for likelihood, _ in steps])


def test_the_fixed_point_for_texts_of_one_segment_is_exact():
    """With one state and one n-gram per text, the solution is the shares of the texts."""
    texts = [["a"]] * 6 + [["b"]] * 2
    ngrams = count_ngrams(texts, 1, 5)
    model = Hsmm(Size(1, tuple(map(len, ngrams.tokens)), True)).double()
    randomise(model, torch.Generator().manual_seed(1))
    data = Texts(texts, ngrams)
    list(expectation_maximisation(model, lambda: [collate([data[k] for k in range(8)])], 0.0, 0.0, 4))
    np.testing.assert_allclose(torch.softmax(model.emission[0], 0)[:, 0].detach(), [0, 0.75, 0.25], atol=1e-6)
    np.testing.assert_allclose(torch.softmax(model.transition, 1).detach(), [[0, 1]], atol=1e-6)

"""N-gram models against published models, their definition, and sums of probabilities."""

import itertools
from collections import Counter
from io import BytesIO

import numpy as np
import pytest

from macroscope import arrays
from macroscope.systems.ngram import counts
from macroscope.systems.ngram import model as model_module
from macroscope.systems.ngram.counts import MISSING, count_ngrams, write_words
from macroscope.systems.ngram.model import estimate

BEGINNING, END = 0, 1


def numbered(texts):
    """Return texts as the numbers of their words, with their end, and the vocabulary."""
    vocabulary = {"<s>": BEGINNING, "</s>": END}
    numbers = [
        np.array([*(vocabulary.setdefault(w, len(vocabulary)) for w in text.split()), END], dtype=np.int64)
        for text in texts
    ]
    return numbers, vocabulary


def trie_of(texts, order, words, folder=None):
    """Count the n-grams of numbered texts."""
    stream = BytesIO()
    write_words(texts, BEGINNING, stream)
    return count_ngrams(np.frombuffer(stream.getvalue(), np.int32), order, words, BEGINNING, folder)


def model_of(texts, order, smoothing, unknown=False):
    numbers, vocabulary = numbered(texts)
    return estimate(trie_of(numbers, order, len(vocabulary)), smoothing, unknown), vocabulary


def probability(model, vocabulary, *words):
    *context, word = (vocabulary.get(w, MISSING) for w in words)
    before = model.trie.order - 1
    padded = [MISSING] * (before - len(context)) + context[len(context) - before :]
    return model.probabilities(np.array([padded]), np.array([word]))[0]


# lm/common/test_data/toy0.arpa of KenLM: lmplz --discount_fallback -o 3.
TOY0 = {
    ("<unk>",): -0.90309,
    ("a",): -0.46943438,
    ("b",): -0.5720968,
    ("</s>",): -0.5720968,
    ("<s>", "a", "a"): -0.14885087,
    ("b", "a", "a"): -0.33741078,
    ("<s>", "b", "a"): -0.124077894,
    ("a", "b", "a"): -0.2997394,
    ("b", "a", "</s>"): -0.42082912,
    ("a", "b", "</s>"): -0.397617,
    ("a", "a", "b"): -0.20102891,
}


@pytest.mark.parametrize("ngram", TOY0, ids=" ".join)
def test_kneser_ney_is_that_of_kenlm(ngram):
    model, vocabulary = model_of(["a a b a", "b a a b"], 3, "kneser_ney", unknown=True)
    assert model.fallback_orders == (1, 2, 3)
    assert np.log10(probability(model, vocabulary, *ngram)) == pytest.approx(TOY0[ngram], abs=5e-8)


def random_texts(count=300, words=12, seed=0):
    rng = np.random.default_rng(seed)
    law = 1 / np.arange(1, words + 1) ** 1.3
    names = np.array([f"w{n}" for n in range(words)])
    return [" ".join(rng.choice(names, rng.integers(1, 12), p=law / law.sum())) for _ in range(count)]


def ngrams(texts, order):
    counts = Counter()
    for text in texts:
        padded = ["<s>", *text.split(), "</s>"]
        for n in range(1, order + 1):
            counts.update(tuple(padded[i : i + n]) for i in range(len(padded) - n + 1))
    return counts


def test_counts_are_those_of_the_texts():
    texts = random_texts(50)
    numbers, vocabulary = numbered(texts)
    trie = trie_of(numbers, 4, len(vocabulary))
    expected, words = ngrams(texts, 4), list(vocabulary)
    names = [()]
    for n, level in enumerate(trie.levels, 1):
        names = [(*names[key // trie.words], words[key % trie.words]) for key in level.keys]
        assert dict(zip(names, level.counts.tolist(), strict=True)) == {
            g: c for g, c in expected.items() if len(g) == n
        }


def test_unsmoothed_probabilities_are_relative_frequencies():
    texts = random_texts()
    model, vocabulary = model_of(texts, 3, "none")
    counts = ngrams(texts, 3)
    for (a, b, c), count in [(g, n) for g, n in counts.items() if len(g) == 3][:200]:
        continued = sum(n for g, n in counts.items() if len(g) == 3 and g[:2] == (a, b))
        assert probability(model, vocabulary, a, b, c) == pytest.approx(count / continued)
    assert probability(model, vocabulary, "<s>", "w0") == pytest.approx(counts["<s>", "w0"] / len(texts))


def kneser_ney(texts, order, vocabulary):
    """Return the probability function of modified Kneser-Ney, from dictionaries (Chen and Goodman 1999)."""
    raw = ngrams(texts, order)
    adjusted = {}
    for gram, count in raw.items():
        if len(gram) == order or gram[0] == "<s>":
            adjusted[gram] = count
        else:
            adjusted[gram] = len({g[0] for g in raw if len(g) == len(gram) + 1 and g[1:] == gram})
    del adjusted[("<s>",)]
    discounts = {}
    for n in range(1, order + 1):
        counts = Counter(c for g, c in adjusted.items() if len(g) == n)
        y = counts[1] / (counts[1] + 2 * counts[2])
        discounts[n] = [0, *(j - (j + 1) * y * counts[j + 1] / counts[j] for j in (1, 2, 3))]
        assert all(d > 0 for d in discounts[n][1:])

    def p(context, word):
        n = len(context) + 1
        lower = p(context[1:], word) if context else 1 / (len(vocabulary) - 1)
        following = {g: c for g, c in adjusted.items() if len(g) == n and g[:-1] == context}
        if not following:
            return lower
        total = sum(following.values())
        left = sum(discounts[n][min(c, 3)] for c in following.values()) / total
        count = following.get((*context, word), 0)
        return (count - discounts[n][min(count, 3)]) / total + left * lower

    return p


@pytest.mark.slow
def test_kneser_ney_by_its_definition():
    texts = random_texts(400, 60)
    model, vocabulary = model_of(texts, 3, "kneser_ney")
    assert model.fallback_orders == ()
    p = kneser_ney(texts, 3, vocabulary)
    words = [word for word in vocabulary if word not in ("<s>", "</s>")]
    for context in [(), ("<s>",), ("w0",), ("<s>", "w3"), ("w1", "w40"), ("w0", "w0"), ("w2", "w9")]:
        for word in [*words, "</s>"]:
            expected = p(context, word)
            assert probability(model, vocabulary, *context, word) == pytest.approx(expected, rel=1e-12), (context, word)


@pytest.mark.parametrize("smoothing", ["none", "kneser_ney"])
def test_probabilities_sum_to_one_in_every_context(smoothing):
    model, vocabulary = model_of(random_texts(), 3, smoothing)
    words = np.array([n for n in range(len(vocabulary)) if n != BEGINNING])
    everything = [MISSING, *range(len(vocabulary))]
    for context in itertools.product(everything, everything):
        if context[1] in (BEGINNING, END) or (context[1] == MISSING and context[0] != MISSING):
            continue
        probabilities = model.probabilities(np.tile(context, (len(words), 1)), words)
        assert probabilities.min() >= 0
        assert probabilities.sum() == pytest.approx(1)


def test_an_unknown_word_does_not_match_another_context():
    # "a c" ends with the last word of the vocabulary, so that the next key belongs to the next context, "b".
    model, vocabulary = model_of(["a b", "a c", "b a"], 2, "kneser_ney", unknown=True)
    left = [probability(model, vocabulary, context, "never") for context in ("a", "b", "c")]
    for context, p in zip(("a", "b", "c"), left, strict=True):
        words = [word for word in vocabulary if word != "<s>"]
        assert sum(probability(model, vocabulary, context, word) for word in words) + p == pytest.approx(1)


@pytest.mark.parametrize("smoothing", ["none", "kneser_ney"])
def test_a_model_in_files_is_that_in_memory(tmp_path, monkeypatch, smoothing):
    texts, vocabulary = numbered(random_texts(80, 20))
    inside = estimate(trie_of(texts, 3, len(vocabulary)), smoothing, True)
    monkeypatch.setattr(arrays, "_MOST_IN_MEMORY", 0)
    for module in (counts, model_module):
        monkeypatch.setattr(module, "BLOCK", 17)
    outside = estimate(trie_of(texts, 3, len(vocabulary), tmp_path), smoothing, True, tmp_path)
    assert isinstance(outside.shares[2].base, np.memmap)
    for name in ("shares", "left"):
        for in_memory, in_file in zip(getattr(inside, name), getattr(outside, name), strict=True):
            np.testing.assert_array_equal(in_memory, in_file)

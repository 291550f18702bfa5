"""Tests of retrieval against BM25 written out (without the factor k1 + 1, as in Lucene; Kamphuis et al. 2020)."""

from collections import Counter

import numpy as np
import pytest

from macroscope.critics.narrative import retrieval
from macroscope.critics.narrative.retrieval import find_best_matches
from macroscope.natural_language.words import lower_case_words

from .made import random_sentences


def bm25(pool, query, k1=1.5, b=0.75):
    """Return BM25: sum over words of log(1 + (N - n + .5) / (n + .5)) f / (f + k1 (1 - b + b l / mean l))."""
    texts = [lower_case_words(text) for text in pool]
    mean = np.mean([max(1, len(text)) for text in texts])
    scores = np.zeros(len(pool))
    for word in lower_case_words(query):
        n = sum(word in text for text in texts)
        weight = np.log(1 + (len(pool) - n + 0.5) / (n + 0.5))
        for number, text in enumerate(texts):
            f = Counter(text)[word]
            scores[number] += weight * f / (f + k1 * (1 - b + b * len(text) / mean))
    return scores


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_matches_are_those_of_the_formula(compiled, monkeypatch):
    monkeypatch.setattr(retrieval, "MANY", 0 if compiled else 10**9)
    pool = random_sentences(60, np.random.default_rng(0).integers(1, 12, 60), 40, 1)
    queries = [*pool[:5], *random_sentences(20, 6, 45, 2)]
    matches = find_best_matches(pool, queries, 60)
    for query, numbers, scores in zip(queries, matches.numbers, matches.scores, strict=True):
        expected = bm25(pool, query)
        assert sorted(numbers) == list(range(60))
        assert scores == pytest.approx(expected[numbers], rel=1e-4, abs=1e-5)
        assert (np.diff(scores) <= 0).all()


def pool_with_ties():
    """Make a pool in which a fifth of the sentences occur four times."""
    pool = random_sentences(40, 5, 60, 3) + random_sentences(10, 5, 60, 4) * 4
    return [pool[number] for number in np.random.default_rng(5).permutation(len(pool))]


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("most", [1, 7, 20])
def test_best_matches_are_returned_with_ties_in_order(most, compiled, monkeypatch):
    monkeypatch.setattr(retrieval, "MANY", 0 if compiled else 10**9)
    pool, queries = pool_with_ties(), random_sentences(30, 5, 60, 6)
    matches = find_best_matches(pool, queries, most)
    for query, numbers in zip(queries, matches.numbers, strict=True):
        expected = bm25(pool, query).round(4)
        assert expected[numbers] == pytest.approx(np.sort(expected)[::-1][:most], abs=2e-4)
        assert numbers.tolist() == numbers[np.lexsort((numbers, -expected[numbers]))].tolist()


def test_queries_in_parts_give_the_same(monkeypatch):
    pool = random_sentences(50, 6, 40, 8)
    whole = find_best_matches(pool, pool, 9)
    monkeypatch.setattr(retrieval, "QUERIES_AT_ONCE", 7)
    parts = find_best_matches(pool, pool, 9)
    assert parts.numbers.tolist() == whole.numbers.tolist()
    assert parts.scores == pytest.approx(whole.scores)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_sentences_may_have_no_words(compiled, monkeypatch):
    monkeypatch.setattr(retrieval, "MANY", 0 if compiled else 10**9)
    pool = ["", "...", "12", "A cat sat.", "The cat."]
    matches = find_best_matches(pool, ["...", "", "!", "cat", "Nothing of that"], 5)
    assert matches.numbers.shape == (5, 5)
    assert matches.numbers[0, 0] == 1
    assert matches.scores[2].tolist() == [0] * 5
    assert matches.numbers[3, :2].tolist() == [4, 3]
    assert matches.scores[4].tolist() == [0] * 5


def test_a_pool_of_one_and_no_queries():
    assert find_best_matches(["A cat."], ["A dog."], 100).numbers.tolist() == [[0]]
    assert find_best_matches(["A cat.", "A dog."], [], 100).numbers.shape == (0, 2)


def test_a_pool_of_none():
    assert find_best_matches([], [], 100).numbers.shape == (0, 0)

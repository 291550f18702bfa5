"""Features of texts against their definitions, one text at a time."""

import random
import zlib

import numpy as np
import pytest

from macroscope.critics.tendencies.features import compression_ratio, count_features, is_symbol
from macroscope.natural_language.tokens import Batch


def batch_of(texts):
    numbers = {}
    ids = [numbers.setdefault(token, len(numbers)) for tokens in texts for token in tokens]
    return Batch(list(numbers), np.array(ids, dtype=np.int64), np.array([len(t) for t in texts], dtype=np.int64))


def ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def longest_repeat(tokens):
    return max((n for n in range(len(tokens)) if len(set(ngrams(tokens, n))) < len(ngrams(tokens, n))), default=0)


@pytest.fixture(scope="module")
def texts():
    rng = random.Random(0)
    random_texts = [[rng.choice("abc1,") for _ in range(rng.randint(0, 40))] for _ in range(300)]
    return [*random_texts, ["a"] * 17, [], ["x"], ["x", "x"], list("abcd") * 9]


def test_every_feature_by_its_definition(texts):
    columns = count_features(batch_of(texts), frozenset("a"))
    for i, tokens in enumerate(texts):
        assert columns["tokens"][i] == len(tokens)
        assert columns["types"][i] == len(set(tokens))
        assert columns["bigram_types"][i] == len(set(ngrams(tokens, 2)))
        assert columns["stop_words"][i] == tokens.count("a")
        assert columns["symbols"][i] == tokens.count("1") + tokens.count(",")
        assert columns["longest_repeat"][i] == longest_repeat(tokens)
        for n in (2, 4):
            grams = ngrams(tokens, n)
            expected = 1 - len(set(grams)) / len(grams) if grams else np.nan
            assert columns[f"duplicate_{n}grams"][i] == pytest.approx(expected, nan_ok=True)


def test_no_texts_and_only_empty_texts():
    assert len(count_features(batch_of([]), frozenset())["tokens"]) == 0
    assert count_features(batch_of([[], []]), frozenset())["types"].tolist() == [0, 0]


def test_symbols_hold_no_letter():
    assert all(map(is_symbol, [",", "1990", "$", "5,300", "—", "½", "(", "..."]))
    assert not any(map(is_symbol, ["a", "1st", "don't", "é", "北"]))


def test_compression_ratio():
    assert compression_ratio("ab" * 500) == pytest.approx(1000 / len(zlib.compress(b"ab" * 500, 6)))
    assert np.isnan(compression_ratio(" "))
    assert compression_ratio("One. Two.\n\nThree.\n") == compression_ratio("One. Two. Three.")

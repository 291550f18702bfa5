"""Metrics of written sentences: hand-made examples, closed forms, and sentences of nothing."""

from math import exp, log, sqrt

import numpy as np
import pytest

from macroscope.critics.narrative import generation
from macroscope.critics.narrative.generation import (
    METRICS_SHOWN,
    diversity,
    generation_metrics,
    meteor,
    overlap,
    words_of,
)
from macroscope.statistics.latent import Resampling

RESAMPLING = Resampling(resamples=50)


def words(text):
    return text.split()


def test_words_numbers_and_marks_are_told_apart():
    assert words_of("It's James' 2nd car, no?") == ["it's", "james'", "2", "nd", "car", ",", "no", "?"]
    assert words_of("") == []


def test_bleu_by_hand():
    """Of four words three are right, of three pairs two; the written one is as long as the true one."""
    found = overlap([words("the cat sat there")], [words("the cat sat down")])
    assert found["bleu_2"] == pytest.approx(sqrt(3 / 4 * 2 / 3))
    assert found["bleu_4"] == 0  # no four words in common
    # Corpus: counts are added up, and a short text is punished: 4 + 2 words, true ones have 4 + 4.
    found = overlap([words("the cat sat there"), words("a dog")], [words("the cat sat down"), words("a dog ran off")])
    assert found["bleu_2"] == pytest.approx(exp(1 - 8 / 6) * sqrt(5 / 6 * 3 / 4))


def test_nist_by_hand():
    """A word weighs log2 of all words over its count: of 8 here 'a' has two, the others one each; log2 8 is 3.

    A pair weighs log2 of the count of its first word over its own: 1 for 'a b' and 'a c' after 'a', else 0.
    """
    true = [words("a b c d"), words("a e f g")]
    found = overlap(true, true)
    of_words = (2 * log(8 / 2, 2) + 6 * log(8, 2)) / 8
    of_pairs = (2 * log(2, 2) + 4 * 0) / 6
    assert found["nist_2"] == pytest.approx(of_words + of_pairs)
    assert found["nist_4"] == pytest.approx(of_words + of_pairs)  # three and four words add nothing
    # Half as long: the words that are left weigh as much, and the penalty for a ratio of 2/3 is a half.
    half = [words("a b"), words("a e")]
    ratio = 4 / 8
    penalty = exp(log(0.5) / log(1.5) ** 2 * log(ratio) ** 2)
    expected = (2 * 2 + 2 * 3) / 4 + (2 * 1) / 2
    assert overlap(half, true)["nist_2"] == pytest.approx(expected * penalty)


def test_meteor_by_hand(monkeypatch):
    """All four words match in one chunk: F is 1, the penalty .5 (1/4)^3; in two chunks .5 (2/4)^3."""
    monkeypatch.setattr(generation, "_wordnet", lambda: (generation._NoSynonyms(), "meteor_without_synonyms"))
    true = [words("the cat sat down")]
    assert meteor(true, true)[1] == pytest.approx([1 - 0.5 / 64])
    assert meteor([words("sat down the cat")], true)[1] == pytest.approx([1 - 0.5 / 8])
    # Two of four match, 'sits' by no stem of 'sat'; F = 10 P R / (R + 9 P).
    assert meteor([words("the cat sits")], true)[1] == pytest.approx(
        [(10 * (2 / 3) * (1 / 2) / (1 / 2 + 9 * (2 / 3))) * (1 - 0.5 * (1 / 2) ** 3)]
    )
    assert meteor([words("a dog")], true)[1] == pytest.approx([0])
    assert meteor([words("the cats sat down")], true)[1] == pytest.approx([1 - 0.5 / 64])  # by its stem


def test_the_metric_is_called_by_what_it_has():
    name, _ = meteor([["a"]], [["a"]])
    assert name in ("meteor", "meteor_without_synonyms")
    assert name in METRICS_SHOWN


def test_diversity_in_closed_form():
    once = [words("a b c d e f"), words("g h i j k")]
    found = diversity(once)
    assert found["entropy_4"] == pytest.approx(log(5))  # three and two sets of four words, all different
    assert (found["dist_1"], found["dist_2"], found["length"]) == (1, 1, 5.5)
    same = [words("a b c d")] * 10
    found = diversity(same)
    assert found["entropy_4"] == pytest.approx(0)
    assert (found["dist_1"], found["dist_2"]) == (pytest.approx(4 / 40), pytest.approx(3 / 30))
    mixed = [words("a b c d")] * 3 + [words("e f g h")]
    assert diversity(mixed)["entropy_4"] == pytest.approx(-(0.75 * log(0.75) + 0.25 * log(0.25)))


@pytest.mark.parametrize("written", [["", ""], ["", "It rained all day long."], ["It", "."], ["x", "y"]])
def test_sentences_of_nothing_are_no_error(written):
    true = ["It rained all day long.", "He left."]
    table = generation_metrics(written, true, range(len(true)), RESAMPLING)
    values = table[table["of"] == "generated"].set_index("metric")["value"]
    shown = values.drop(["dist_1", "dist_2"])
    assert np.isfinite(shown).all()
    assert set(values.index) <= set(METRICS_SHOWN)
    if written == ["", ""]:
        assert (shown == 0).all()
        assert np.isnan(values[["dist_1", "dist_2"]]).all()


@pytest.fixture(scope="module")
def measured():
    """Metrics of sixty sentences in which three words of ten are others."""
    rng = np.random.default_rng(0)
    vocabulary = [f"{a}{b}" for a in "bcdfg" for b in "aeiou"]
    true = [" ".join(rng.choice(vocabulary, 8)) for _ in range(60)]
    written = [" ".join(w if rng.random() < 0.7 else rng.choice(vocabulary) for w in some.split()) for some in true]
    return generation_metrics(written, true, range(len(true)), RESAMPLING).set_index(["of", "metric"])


@pytest.mark.parametrize("metric", ["bleu_2", "bleu_4", "nist_2", "nist_4"])
def test_an_interval_holds_its_value_or_is_none(metric, measured):
    """Of metrics that look at how rare words are, a resample says less: it has sentences several times."""
    value, low, high = measured.loc[("generated", metric)]
    assert np.isnan([low, high]).all() or low < value < high


def test_true_sentences_are_measured_by_their_variety_alone(measured):
    theirs = measured.loc["true", "value"]
    assert theirs["length"] == 8
    assert set(theirs.index) == {"entropy_4", "dist_1", "dist_2", "length"}

"""Tests of metrics of generated sentences: examples by hand, closed forms, empty sentences."""

import zipfile
from math import exp, log, sqrt

import numpy as np
import pytest

from macroscope.critics.narrative.generation import (
    METRICS_SHOWN,
    compute_bleu,
    compute_diversity,
    compute_generation_metrics,
    compute_meteor,
    compute_nist,
    count_ngram_matches,
    read_wordnet,
    split_words,
)
from macroscope.errors import MacroscopeError
from macroscope.options import Resampling

pytestmark = pytest.mark.slow

RESAMPLING = Resampling(resamples=50)


def words(text):
    return text.split()


def bleu(written, true):
    return compute_bleu(count_ngram_matches(written, true).sum(axis=0))


def test_bleu_is_that_of_sacrebleu_over_the_corpus():
    from sacrebleu import BLEU

    true = ["It rained all day long, Ada's dog said.", "He left at 5.30 p.m.", "She laughed about it."]
    written = ["It rained all day, Ada's cat said.", "He left.", "She laughed about it again!"]
    for n, value in ((2, bleu(written, true)["bleu_2"]), (4, bleu(written, true)["bleu_4"])):
        whole = BLEU(lowercase=True, smooth_method="none", max_ngram_order=n).corpus_score(written, [true])
        assert value == pytest.approx(whole.score / 100)


def test_words_numbers_and_marks_are_split():
    assert split_words("It's James' 2nd car, no?") == ["it's", "james'", "2", "nd", "car", ",", "no", "?"]
    assert split_words("") == []


def test_bleu_by_hand():
    """Three of four words and two of three bigrams are right; the lengths are equal."""
    metrics = bleu(["the cat sat there"], ["The cat sat down"])
    assert metrics["bleu_2"] == pytest.approx(sqrt(3 / 4 * 2 / 3))
    assert metrics["bleu_4"] == 0  # no four words in common
    # Counts are summed over the corpus, with a brevity penalty: 4 + 2 words against 4 + 4.
    metrics = bleu(["the cat sat there", "a dog"], ["the cat sat down", "a dog ran off"])
    assert metrics["bleu_2"] == pytest.approx(exp(1 - 8 / 6) * sqrt(5 / 6 * 3 / 4))


def test_nist_by_hand():
    """A word weighs log2 of all words over its count: of 8 here 'a' has two, the others one each; log2 8 is 3.

    A pair weighs log2 of the count of its first word over its own: 1 for 'a b' and 'a c' after 'a', else 0.
    """
    true = [words("a b c d"), words("a e f g")]
    metrics = compute_nist(true, true)
    word_score = (2 * log(8 / 2, 2) + 6 * log(8, 2)) / 8
    bigram_score = (2 * log(2, 2) + 4 * 0) / 6
    assert metrics["nist_2"] == pytest.approx(word_score + bigram_score)
    assert metrics["nist_4"] == pytest.approx(word_score + bigram_score)  # three and four words add nothing
    # Half as long: the words that are left weigh as much, and the penalty for a ratio of 2/3 is a half.
    half = [words("a b"), words("a e")]
    ratio = 4 / 8
    penalty = exp(log(0.5) / log(1.5) ** 2 * log(ratio) ** 2)
    expected = (2 * 2 + 2 * 3) / 4 + (2 * 1) / 2
    assert compute_nist(half, true)["nist_2"] == pytest.approx(expected * penalty)


def test_meteor_by_hand():
    """All four words match in one chunk: F is 1, the penalty .5 (1/4)^3; in two chunks .5 (2/4)^3."""
    true = [words("the cat sat down")]
    assert compute_meteor(true, true)[1] == pytest.approx([1 - 0.5 / 64])
    assert compute_meteor([words("sat down the cat")], true)[1] == pytest.approx([1 - 0.5 / 8])
    # Two of four match, 'sits' by no stem of 'sat'; F = 10 P R / (R + 9 P).
    assert compute_meteor([words("the cat sits")], true)[1] == pytest.approx(
        [(10 * (2 / 3) * (1 / 2) / (1 / 2 + 9 * (2 / 3))) * (1 - 0.5 * (1 / 2) ** 3)]
    )
    assert compute_meteor([words("a dog")], true)[1] == pytest.approx([0])
    assert compute_meteor([words("the cats sat down")], true)[1] == pytest.approx([1 - 0.5 / 64])  # by its stem


@pytest.fixture
def wordnet(tmp_path):
    """A WordNet of one noun with two words, in the layout of NLTK's zip."""
    path = tmp_path / "wordnet.zip"
    parts = {part: "" for part in ("verb", "adj", "adv")}
    index = {"noun": "car n 1 0 1 0 00000000  \nauto n 1 0 1 0 00000000  \n", **parts}
    data = {"noun": "00000000 00 n 02 car 0 auto 0 000 | a vehicle  \n", **parts}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("wordnet/lexnames", "00\tnoun.artifact\t1\n")
        for part in index:
            archive.writestr(f"wordnet/index.{part}", index[part])
            archive.writestr(f"wordnet/data.{part}", data[part])
            archive.writestr(f"wordnet/{part}.exc", "")
    return path


def test_meteor_matches_synonyms_of_wordnet(wordnet):
    """With 'auto' for 'car' both words match in one chunk; without synonyms one of two matches."""
    written, true = [words("the auto")], [words("the car")]
    name, values = compute_meteor(written, true, read_wordnet(wordnet))
    assert (name, values) == ("meteor", pytest.approx([1 - 0.5 / 8]))
    name, values = compute_meteor(written, true)
    assert (name, values) == ("meteor_without_synonyms", pytest.approx([0.5 * (1 - 0.5)]))


def test_a_file_that_is_not_wordnet(tmp_path):
    (tmp_path / "wordnet.zip").write_text("a page")
    with pytest.raises(MacroscopeError, match=r"wordnet\.zip: not the wordnet\.zip of NLTK's data"):
        read_wordnet(tmp_path / "wordnet.zip")


def test_diversity_in_closed_form():
    once = [words("a b c d e f"), words("g h i j k")]
    metrics = compute_diversity(once)
    assert metrics["entropy_4"] == pytest.approx(log(5))  # three and two sets of four words, all different
    assert (metrics["dist_1"], metrics["dist_2"], metrics["length"]) == (1, 1, 5.5)
    same = [words("a b c d")] * 10
    metrics = compute_diversity(same)
    assert metrics["entropy_4"] == pytest.approx(0)
    assert (metrics["dist_1"], metrics["dist_2"]) == (pytest.approx(4 / 40), pytest.approx(3 / 30))
    mixed = [words("a b c d")] * 3 + [words("e f g h")]
    assert compute_diversity(mixed)["entropy_4"] == pytest.approx(-(0.75 * log(0.75) + 0.25 * log(0.25)))


@pytest.mark.parametrize("written", [["", ""], ["", "It rained all day long."], ["It", "."], ["x", "y"]])
def test_empty_sentences_are_allowed(written):
    true = ["It rained all day long.", "He left."]
    table = compute_generation_metrics(written, true, range(len(true)), RESAMPLING)
    values = table[table["of"] == "generated"].set_index("metric")["value"]
    shown = values.drop(["dist_1", "dist_2"])
    assert np.isfinite(shown).all()
    assert set(values.index) <= set(METRICS_SHOWN)
    if written == ["", ""]:
        assert (shown == 0).all()
        assert np.isnan(values[["dist_1", "dist_2"]]).all()


@pytest.fixture(scope="module")
def measured():
    """Compute metrics of sixty sentences with three of ten words replaced."""
    rng = np.random.default_rng(0)
    vocabulary = [f"{a}{b}" for a in "bcdfg" for b in "aeiou"]
    true = [" ".join(rng.choice(vocabulary, 8)) for _ in range(60)]
    written = [
        " ".join(w if rng.random() < 0.7 else rng.choice(vocabulary) for w in sentence.split()) for sentence in true
    ]
    return compute_generation_metrics(written, true, range(len(true)), RESAMPLING).set_index(["of", "metric"])


@pytest.mark.parametrize("metric", ["bleu_2", "bleu_4", "nist_2", "nist_4"])
def test_interval_contains_its_value_or_is_undefined(metric, measured):
    """Metrics that weight words by rarity have no interval, since resamples repeat sentences."""
    value, low, high = measured.loc[("generated", metric)]
    assert np.isnan([low, high]).all() or low < value < high


def test_true_sentences_have_only_diversity_metrics(measured):
    true_metrics = measured.loc["true", "value"]
    assert true_metrics["length"] == 8
    assert set(true_metrics.index) == {"entropy_4", "dist_1", "dist_2", "length"}

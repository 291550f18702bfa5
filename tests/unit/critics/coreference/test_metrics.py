"""Measures of coreference, compared with the values of the original papers."""

import pytest

from tests.benchmarks.coreference.gap import Example, score_gap
from tests.benchmarks.coreference.metrics import Score, conll_mean, evaluate, lea, muc


def clusters(*words):
    """Build clusters of letters: "abc" is a cluster of three mentions."""
    return [frozenset(word) for word in words]


def ratio(fraction):
    return fraction[0] / fraction[1]


def test_lea_equals_the_example_of_its_paper():
    """Moosavi and Strube 2016, section 4: recall .24, precision .33."""
    key, response = clusters("abc", "defg"), clusters("ab", "cd", "fghi")
    assert ratio(lea(key, response)) == pytest.approx((3 * 1 / 3 + 4 * 1 / 6) / 7)
    assert ratio(lea(response, key)) == pytest.approx((2 * 1 + 2 * 0 + 4 * 1 / 6) / 8)


def test_muc_equals_the_example_of_its_paper():
    """Vilain et al. 1995: key {A,B,C,D}, response {A,B}, {C,D}: recall 2/3, precision 2/2."""
    key, response = clusters("ABCD"), clusters("AB", "CD")
    assert ratio(muc(key, response)) == pytest.approx(2 / 3)
    assert ratio(muc(response, key)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("response", "b3", "ceaf"),
    [
        (("12345", "6789ABC"), 0.865, 0.733),
        (("1234589ABC", "67"), 0.737, 0.667),
        (("123456789ABC",), 0.545, 0.294),
    ],
)
def test_b3_and_ceaf_equal_the_examples_of_luo(response, b3, ceaf):
    """Luo 2005, Table 2: the truth is {1..5}, {6,7}, {8,9,A,B,C}; F1 of B3 and of CEAF with phi 4."""
    scores = evaluate([(clusters("12345", "67", "89ABC"), clusters(*response))])
    assert scores["B3"].f1 == pytest.approx(b3, abs=5e-4)
    assert scores["CEAF-e"].f1 == pytest.approx(ceaf, abs=5e-4)


def test_equal_clusters_score_one_and_no_clusters_zero():
    key = clusters("abc", "de")
    scores = evaluate([(key, key)])
    assert all(score == Score(1, 1) for score in scores.values())
    assert conll_mean(scores) == 1
    assert conll_mean(evaluate([(key, [])])) == 0


def test_counts_are_summed_over_documents():
    first, second = (clusters("abcd"), clusters("ab", "cd")), (clusters("ab"), clusters("ab"))
    assert evaluate([first, second])["MUC"].recall == pytest.approx((2 + 1) / (3 + 1))


def test_gap_counts_names_instead_of_examples():
    """Two examples, one correct, one wrong: the micro average of the official scorer."""
    examples = [
        Example("1", "", "", 0, True, ((0, 1, True), (2, 3, False))),
        Example("2", "", "", 0, False, ((0, 1, False), (2, 3, True))),
    ]
    scores = score_gap(examples, [(True, False), (True, False)])
    assert scores["masculine"].f1 == 1
    assert scores["feminine"].f1 == 0
    assert (scores["overall"].precision, scores["overall"].recall) == (0.5, 0.5)

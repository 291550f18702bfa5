import numpy as np
import pandas as pd
import pytest

from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.statistics.word_kinds import CONTENT_WORDS, FUNCTION_WORDS, compare_by_word_kinds, is_only_content

THE_FUNCTION_WORDS = frozenset(f"f{number}" for number in range(20))


def sample_words(rng, n, kind, shift):
    """Return texts of 20 function and 20 content words; those of a kind favour other words after a shift."""
    shares = 1 / np.arange(1, 21)
    shares /= shares.sum()
    shifted = {kind_of: np.roll(shares, shift if kind_of == kind else 0) for kind_of in "fc"}
    return [[f"{k}{i}" for k in "fc" for i in rng.choice(20, 20, p=shifted[k])] for _ in range(n)]


def compare(seed, n=40, kind="c", shift=0, function_words=THE_FUNCTION_WORDS):
    rng = np.random.default_rng(seed)
    words = sample_words(rng, n, kind, 0), sample_words(rng, n, kind, shift)
    keys = tuple(pd.DataFrame({"id": [f"{sample}{i}" for i in range(n)]}) for sample in "ab")
    return compare_by_word_kinds(keys, words, function_words, 0.95, seed).set_index("statistic")


def is_content(rows):
    return is_only_content(rows.loc[FUNCTION_WORDS], rows.loc[CONTENT_WORDS])


@pytest.mark.parametrize(("kind", "unchanged"), [("c", FUNCTION_WORDS), ("f", CONTENT_WORDS)])
def test_words_of_one_kind_differ(kind, unchanged):
    rows = compare(0, kind=kind, shift=7)
    assert is_content(rows) == (kind == "c")
    differing = rows.drop(unchanged).iloc[0]
    assert differing["value"] > 0.9 > rows.loc[unchanged, "ci_high"]
    assert differing["p_value"] < SIGNIFICANT


@pytest.mark.slow
def test_equal_sources_seldom_seem_to_be_on_other_subjects():
    """Content words are above chance in 5 % of comparisons; function words mostly are not then."""
    assert sum(is_content(compare(seed, n=20)) for seed in range(20)) <= 4


def test_without_function_words_both_are_undefined_with_a_reason():
    rows = compare(0, function_words=frozenset())
    assert rows["value"].isna().all()
    assert set(rows["reason"]) == {"no list of stop words for the language of the texts"}
    assert not is_content(rows)


def test_texts_without_words_of_a_kind_are_at_chance():
    rows = compare(0, function_words=frozenset({"absent"}))
    assert rows.loc[FUNCTION_WORDS, "value"] == 0.5

"""Repeated phrases and openings: counts by prompts, tests, nesting, places."""

from itertools import count

import numpy as np
import pytest
from scipy.stats import fisher_exact

from macroscope.sameness.phrases import PROMPT, REAL, SYSTEM, find_phrases, join_words, take_words


def encode(texts, numbers):
    return [np.array([numbers.setdefault(word, len(numbers)) for word in text.split()]) for text in texts]


def search(system, real=(), prompts=(), words=30):
    """Find the phrases of texts, one per prompt."""
    numbers = {}
    parts, first = [], 0
    for group, texts in ((SYSTEM, system), (REAL, real), (PROMPT, prompts)):
        if texts:
            parts.append(take_words(encode(texts, numbers), range(len(texts)), group, words, first))
            first += len(texts)
    return find_phrases(join_words(parts), list(numbers))


COUNTER = count()


def fill(number):
    """Words that occur nowhere else."""
    return " ".join(f"w{next(COUNTER)}" for _ in range(number))


def write(begin="", middle="", end=""):
    return f"{begin} {fill(10)} {fill(5)} {middle} {fill(15)} {end}"


REAL_TEXTS = [write() for _ in range(40)]


def test_a_phrase_of_many_prompts_is_found_with_its_place():
    system = [write(end="and so it was that day" if k < 20 else "") for k in range(40)]
    table, tests = search(system, REAL_TEXTS)
    (row,) = table.to_dict("records")
    assert (row["phrase"], row["kind"], row["words"]) == ("and so it was that day", "phrase", 6)
    assert (row["prompts"], row["real_prompts"], row["texts"], row["share"]) == (20, 0, 20, 0.5)
    assert row["place"] == "end"
    assert row["position"] > 0.8
    assert row["p_value"] == pytest.approx(fisher_exact([[20, 20], [0, 40]], alternative="greater").pvalue)
    assert tests == 10  # 4 phrases of 3 words, 3 of 4, 2 of 5, 1 of 6


def test_openings_are_phrases_of_their_own():
    system = [write(begin="once upon a time" if k < 25 else "") for k in range(40)]
    table, _ = search(system, REAL_TEXTS)
    assert table[["kind", "phrase", "place"]].to_numpy().tolist() == [
        ["opening", "once upon a time", "beginning"],
        ["phrase", "once upon a time", "beginning"],
    ]


def test_what_real_texts_repeat_as_well_does_not_count():
    system, real = ([write(middle="on the other hand") for k in range(40)] for _ in range(2))
    assert search(system, real)[0].empty


def test_phrases_of_the_prompts_do_not_count():
    system = [write(middle="the cat of the king") for k in range(40)]
    assert search(system, REAL_TEXTS, ["write about the cat of the king"] * 40)[0].empty
    assert len(search(system, REAL_TEXTS, ["write about the cat of the king"] * 10 + ["write"] * 30)[0]) == 1


def test_several_texts_of_a_prompt_count_once():
    numbers = {}
    system = encode([write(middle="said the old man") for k in range(40)], numbers)
    real = encode(REAL_TEXTS, numbers)
    parts = [take_words(system, [k // 20 for k in range(40)], SYSTEM, 30, 0), take_words(real, range(40), REAL, 30, 40)]
    assert find_phrases(join_words(parts), list(numbers))[0].empty


def test_the_longer_of_nested_phrases_counts_if_it_has_most_of_the_prompts():
    system = [
        write(middle="a testament to the power" if k < 12 else "a testament to" if k < 36 else "") for k in range(40)
    ]
    assert search(system, REAL_TEXTS)[0]["phrase"].tolist() == ["a testament to"]
    system = [
        write(middle="a testament to the power" if k < 24 else "a testament to" if k < 36 else "") for k in range(40)
    ]
    assert search(system, REAL_TEXTS)[0]["phrase"].tolist() == ["a testament to the power"]


def test_without_real_texts_frequent_phrases_are_listed_untested():
    system = [write(middle="said the old man" if k < 4 else "") for k in range(40)]
    table, tests = search(system)
    assert table["phrase"].tolist() == ["said the old man"]
    assert table[["p_value", "real_share"]].isna().all(axis=None)
    assert tests == 0


def test_passages_have_equal_lengths_and_no_phrase_crosses_them():
    words = take_words([np.arange(100)], [0], SYSTEM, 30, 0)
    assert (words.codes >= 0).sum() == 30
    assert words.codes[[0, 10, 11, 21, 22, 32]].tolist() == [0, -1, 45, -1, 90, -1]
    assert words.is_first.sum() == 1


@pytest.mark.slow
def test_exchangeable_texts_have_false_discoveries_at_the_level():
    rng = np.random.default_rng(0)
    false = 0
    for _ in range(40):
        codes = [rng.integers(0, 4, 30) for _ in range(60)]
        parts = [take_words(codes[:30], range(30), SYSTEM, 30, 0), take_words(codes[30:], range(30), REAL, 30, 30)]
        table, tests = find_phrases(join_words(parts), list("abcd"))
        assert tests > 50
        false += bool(len(table))
    assert false <= 8  # two kinds of 5 % each; 8 or more of 40 have a probability below 4 %

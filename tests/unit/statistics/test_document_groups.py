"""Groups of documents: pairs, and several texts of a prompt."""

import numpy as np
import pandas as pd
import pytest

from macroscope.document_keys import key_of_prompt, key_of_text
from macroscope.statistics.document_groups import (
    Units,
    find_repeats,
    group_labels,
    paired_groups,
    prompt_labels,
    sum_by_prompt,
)
from macroscope.statistics.permutation_groups import build_permutation


@pytest.fixture(autouse=True)
def few_prompts(monkeypatch):
    monkeypatch.setattr("macroscope.statistics.document_groups.FEWEST_PROMPTS", 1)


def keys_of(ids, openings=None):
    return pd.DataFrame({"id": ids} | ({} if openings is None else {"opening": openings}))


def test_several_samples_of_a_prompt_are_paired_with_its_text():
    permutation = build_permutation(keys_of(["a", "b"]), keys_of(["a", "a", "b", "b"]))
    assert permutation.smallest_p == pytest.approx(1 / 9)


def test_texts_with_the_same_opening_are_paired_whatever_their_ids():
    first = keys_of(["a", "b", "c"], ["Once upon", "In this", "At last"])
    second = keys_of(["x", "y", "b"], ["Once upon", "else", "In that"])
    groups = group_labels(first, second)
    assert groups[0][0] == groups[1][0]
    assert groups[0][1] == groups[1][2]
    assert len({*groups[0], *groups[1]}) == 4
    codes = paired_groups(*groups)
    assert [code > 0 for code in codes[1]] == [True, False, True]
    assert build_permutation(first, second).n_paired == 2
    assert not build_permutation(first, second.assign(id=["x", "y", "z"]), keys=("id",)).is_paired


def test_an_opening_that_a_sample_repeats_pairs_no_texts():
    """Otherwise a text that a system repeats would be permuted with the one real text of that opening only."""
    once, often = keys_of(["a", "b"], ["Once upon", "Yes"]), keys_of(["x", "y", "z"], ["Once upon", "Once upon", "No"])
    assert not build_permutation(once, often).is_paired
    assert not build_permutation(often, once).is_paired


def test_a_text_can_link_two_others():
    first, second = keys_of(["a", "b"], ["one", "two"]), keys_of(["a"], ["two"])
    assert len({*np.concatenate(group_labels(first, second))}) == 1


def test_missing_keys_pair_no_texts():
    first, second = keys_of(["a", "b"], [None, ""]), keys_of(["c", "d"], ["", None])
    assert not build_permutation(first, second).is_paired
    assert not build_permutation(pd.DataFrame(index=range(3)), keys_of(["a"])).is_paired


def test_texts_of_a_prompt_are_paired_with_its_text_by_their_ids():
    first = keys_of(["a", "b", "c"])
    second = keys_of(["b", "b (sample 2)", "d", "d (sample 2)", "a"])
    ours, theirs = paired_groups(*group_labels(first, second))
    assert theirs.tolist() == [ours[1], ours[1], 0, 0, ours[0]]
    assert ours[2] == 0


def test_an_opening_of_one_prompt_pairs_all_of_its_texts():
    first = keys_of(["real 1", "real 2"], ["Once upon", "In the beginning"])
    second = keys_of(["x", "x (sample 2)", "y"], ["Once upon", "Once upon", "Once upon"])
    assert not np.concatenate(paired_groups(*group_labels(first, second))).any()  # two prompts have it
    ours, theirs = paired_groups(*group_labels(first, second.iloc[:2]))
    assert theirs.tolist() == [ours[0], ours[0]]
    assert ours[1] == 0


def test_prompts_are_numbered_in_their_order_and_a_bracket_of_the_user_is_no_number():
    table = keys_of(["b", "a", "b (sample 2)", "a (sample 10)", "a (sample x)", "(sample 2)"])
    assert prompt_labels(table).tolist() == [0, 1, 0, 1, 2, 3]
    y, x = sum_by_prompt(table, (np.arange(6.0), np.ones(6)))
    assert y.tolist() == [2, 4, 4, 5]
    assert x.tolist() == [2, 2, 1, 1]


def test_unpaired_texts_of_a_prompt_are_one_unit_and_paired_ones_are_permuted_one_by_one():
    first = keys_of(["a", "b"])
    second = keys_of(["c", "c (sample 2)", "b", "b (sample 2)"])
    units = Units.from_keys(first, second)
    (y, _), (of_second, x) = units.sums((np.array([1.0, 2]), np.ones(2)), (np.array([10.0, 20, 30, 40]), np.ones(4)))
    assert y.tolist() == [1, 2]
    assert of_second.tolist() == [30, 30, 40]
    assert x.tolist() == [2, 1, 1]
    assert units.groups[0].tolist() == [0, 1]
    assert units.groups[1].tolist() == [0, 1, 1]


def test_texts_of_one_prompt_are_repeats_whatever_their_ids():
    prompts = [key_of_prompt(text) for text in ("Tell a story.", "Tell  a story.", "Tell a joke.")]
    table = keys_of(["a", "b", "c", "d", "d (sample 2)"], [*prompts, "Once upon a time", "Once upon a time"])
    assert find_repeats(table).tolist() == [False, True, False, False, True]
    sections = keys_of(["a", "a", "b", "b"], [prompts[0]] * 4)
    assert find_repeats(sections).tolist() == [False, False, True, True]


def test_texts_that_begin_with_their_prompt_are_repeats_and_pairs():
    """Their pairs may name the prompt, or only begin with the same words."""
    prompts = [f"Tale {n} of the old king of the northern islands" for n in range(3)]
    texts = [f"{prompt} who {deed}." for prompt in prompts[:2] for deed in ("slept", "ran")]
    keys = [key_of_text(text, prompts[number // 2]) for number, text in enumerate(texts)]
    mine = keys_of(list("abcd"), keys)
    assert find_repeats(mine).tolist() == [False, True, False, True]
    for real_keys in ([key_of_text(f"{prompt} of old.", None) for prompt in prompts], map(key_of_prompt, prompts)):
        ours, theirs = paired_groups(*group_labels(keys_of(["r1", "r2", "r3"], [*real_keys]), mine))
        assert theirs.tolist() == [ours[0]] * 2 + [ours[1]] * 2
        assert 0 not in theirs
        assert ours[2] == 0


def test_prompts_of_both_sides_pair_all_their_texts():
    first = keys_of(["r1", "r2"], [key_of_prompt("one"), key_of_prompt("two")])
    second = keys_of(["a", "b", "c"], [key_of_prompt("two"), key_of_prompt("two"), key_of_prompt("three")])
    ours, theirs = paired_groups(*group_labels(first, second))
    assert theirs.tolist() == [ours[1], ours[1], 0]


def test_texts_of_a_few_prompts_are_independent_given_these(monkeypatch):
    monkeypatch.setattr("macroscope.statistics.document_groups.FEWEST_PROMPTS", 3)
    first = keys_of(["r1", "r2"], [key_of_prompt("one"), key_of_prompt("two")])
    second = keys_of(["a", "b", "c"], [key_of_prompt("two"), key_of_prompt("two"), key_of_prompt("one")])
    assert not find_repeats(second).any()
    assert not find_repeats(first).any()
    ours, theirs = paired_groups(*group_labels(first, second))
    assert theirs.tolist() == [0, 0, ours[0]]  # one text a side: still a pair

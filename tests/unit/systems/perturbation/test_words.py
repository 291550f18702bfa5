"""Perturbations of words: truncation, removal and order."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.documents import Section
from macroscope.natural_language.words import needs_dictionary

from .damaging import damage, document, texts_of

words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=4)
lines = st.lists(words, min_size=1, max_size=8).map(" ".join)
texts = st.lists(lines, min_size=1, max_size=3).map("\n".join)
documents = st.lists(texts, min_size=1, max_size=4).map(lambda sections: document(*sections))


@pytest.mark.slow
@given(documents, st.integers(0, 5))
def test_shuffled_words_are_the_same_words_in_the_same_places(before, seed):
    after = damage("shuffle_words", before, seed=seed)
    words_before, words_after = (" ".join(texts_of(each)) for each in (before, after))
    assert Counter(words_after) == Counter(words_before)
    if not needs_dictionary(words_before):  # without spaces, neighbours that meet may make another word
        assert Counter(words_after.split()) == Counter(words_before.split())
    for new, old in zip(after.sections, before.sections, strict=True):
        assert new.title == old.title
        assert [len(line.split()) for line in new.text.split("\n")] == [
            len(line.split()) for line in old.text.split("\n")
        ]


def test_words_are_shuffled_across_sections_and_all_orders_occur():
    before = document("a b", "c")
    counts = Counter(tuple(texts_of(damage("shuffle_words", before, seed=seed))) for seed in range(600))
    assert set(counts) == {("a b", "c"), ("b a", "c"), ("a c", "b"), ("c a", "b"), ("b c", "a"), ("c b", "a")}
    assert min(counts.values()) > 60  # 100 expected, standard deviation 9


@pytest.mark.parametrize(
    ("n", "share", "kept"),
    [(9, 1 / 3, 3), (10, 1 / 3, 3), (11, 1 / 3, 4), (510, 1 / 3, 170), (1, 0.01, 1), (4, 0.9, 4)],
)
def test_share_of_the_words_is_kept(n, share, kept):
    before = [f"w{number}" for number in range(n)]
    assert texts_of(damage("truncate", document(" ".join(before)), 1 - share)) == [" ".join(before[:kept])]


def test_truncation_counts_through_the_sections_and_drops_those_beyond():
    before = document("one two\nthree", "four five six", "seven eight nine")
    assert damage("truncate", before, 0.5).sections == (
        Section("title 0", "one two\nthree"),
        Section("title 1", "four"),
    )
    assert texts_of(damage("truncate", before)) == ["one two\nthree"]
    assert texts_of(damage("truncate", before, 0.9, words=2)) == ["one two"]  # the number overrules the share
    assert damage("truncate", before, 0.9, words=170) == before


def test_all_articles_and_nothing_else_are_removed_in_any_case():
    before = document('The cat (the black one) saw "an owl" and A dog.\nAn end.', "It was then theirs: area, than.")
    after = damage("remove_articles", before)
    assert texts_of(after) == ['cat (black one) saw "owl" and dog.\nend.', "It was then theirs: area, than."]


def test_articles_as_in_the_published_code():
    before = document("The cat saw the owl and A dog a lot.")
    assert texts_of(damage("remove_articles", before, match_case=True)) == ["The cat saw owl and A dog lot."]


def test_initials_are_not_articles():
    assert texts_of(damage("remove_articles", document("Robert A. Heinlein, A."))) == ["Robert A. Heinlein, A."]


@pytest.mark.slow
@given(documents)
def test_removal_of_nothing_changes_nothing(before):
    assert damage("remove_articles", before, articles=["no such word"]) == before


@pytest.mark.slow
@given(st.lists(st.sampled_from(["the", "The", "it", "owl", "(of", "it)", "don’t", "tree,", "was.", "\n"]), min_size=1))
def test_no_stop_word_is_left_and_the_others_keep_their_order(tokens):
    before = " ".join(tokens)
    after = " ".join(texts_of(damage("remove_stop_words", document(before))))
    cores = [word.strip('.,()"') for word in after.split()]
    assert [core for core in cores if core] == [word.strip(",") for word in tokens if word in ("owl", "tree,")]


def test_punctuation_of_a_removed_word_goes_to_its_neighbour():
    after = damage("remove_stop_words", document('They saw him. It ended ("for him"), she said: "it was good."'))
    assert texts_of(after) == ['saw. ended, said: "good."']


def test_sections_and_documents_of_stop_words_are_removed():
    after = damage("remove_stop_words", document("It was.", "Owls."))
    assert after.sections == (Section("title 1", "Owls."),)
    assert damage("remove_stop_words", document("It was the.")).sections == ()

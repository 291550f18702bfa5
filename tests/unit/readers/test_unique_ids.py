"""Uniqueness of ids against a dictionary, and its memory."""

import random

import pytest

from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.readers.unique_ids import HashMap, UniqueIds


def document(name, text):
    return Document(name, "train", None, (Section(None, text),))


@pytest.mark.parametrize("has_values", [True, False])
def test_a_hash_map_is_a_dictionary(has_values):
    rng = random.Random(0)
    ours, expected = HashMap(has_values), {}
    for _ in range(8000):
        key, value = rng.randrange(1, 6000) << 40, rng.randrange(2**64)
        ours.set(key, value)
        expected[key] = value if has_values else 0
    assert len(ours) == len(expected)
    assert all(ours.get(key) == value for key, value in expected.items())
    assert ours.get(7) is None


def test_an_entry_takes_no_more_than_its_slots():
    ours = HashMap(has_values=False)
    for key in range(1, 20_001):
        ours.set(key, 0)
    assert 8 * len(ours._keys) <= 16 * 20_000


def test_the_first_document_of_an_id_counts():
    unique = UniqueIds(own_ids=False)
    assert [unique.is_new(document(name, text), "here") for name, text in ("ax", "bx", "ay", "by")] == [
        True,
        True,
        False,
        False,
    ]


def test_another_text_under_an_id_of_the_user_is_an_error():
    unique = UniqueIds()
    assert unique.is_new(document("a", "x"), "line 1")
    assert not unique.is_new(document("a", "x"), "line 2")
    with pytest.raises(MacroscopeError, match="line 3: an earlier document with another text has the id 'a'"):
        unique.is_new(document("a", "y"), "line 3")


def test_texts_of_one_id_are_numbered():
    unique, names = UniqueIds(), []
    for text in ("x", "y", "x", "z"):
        named = unique.numbered(document("a", text), "{}-{}".format)
        unique.is_new(named, "here")
        names.append(named.id)
    assert names == ["a", "a-2", "a", "a-3"]

"""A cache of what was computed from contents: found again, never out of date, harmless where it cannot be used."""

import json

import pytest

from macroscope.digest_cache import MOST_ENTRIES, DigestCache


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "macroscope" / "names.json"


def value(content, new, rules=b"1"):
    """Return the value of a content in a cache that is read anew and saved: a stored one, or `new`."""
    cache = DigestCache("names.json", rules)
    kept = cache.get(content, lambda: new)
    cache.save()
    return kept


def test_values_are_found_by_content_and_rules(path):
    assert value([b"a"], 1) == 1
    assert value([b"a"], 2) == 1
    assert value([b"b"], 2) == 2
    assert value([b"a"], 3, rules=b"2") == 3
    assert [value([b"xy", b"z"], 4), value([b"x", b"yz"], 5)] == [4, 5]


def test_processes_that_write_at_the_same_time_keep_the_entries_of_both(path):
    first, second = DigestCache("names.json", b""), DigestCache("names.json", b"")
    first.get([b"a"], lambda: 1)
    second.get([b"b"], lambda: 2)
    first.save()
    second.save()
    assert sorted(json.loads(path.read_text()).values()) == [1, 2]


def test_the_oldest_entries_go(path):
    cache = DigestCache("names.json", b"")
    for number in range(MOST_ENTRIES + 5):
        cache.get([str(number).encode()], lambda number=number: number)
    cache.save()
    assert list(json.loads(path.read_text()).values()) == list(range(5, MOST_ENTRIES + 5))


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff"])
def test_a_damaged_file_is_replaced(path, damage):
    path.parent.mkdir()
    path.write_bytes(damage)
    assert [value([b"a"], 1), value([b"a"], 2)] == [1, 1]


def test_a_place_that_cannot_be_written_is_no_error(path):
    path.parent.write_text("no folder")
    assert [value([b"a"], 1), value([b"a"], 2)] == [1, 2]

"""Versions of stages: none stays where code changed, unless the change is listed as one that leaves the numbers."""

import pytest

from tests import versions

STAGE = '''"""A stage."""

import logging

from toy.helper import twice

log = logging.getLogger("toy")


def run(x: int) -> int:
    """Return three times a number."""
    if x < 0:
        raise ValueError(f"{x} is below zero")
    return twice(x) + x
'''
HELPER = "WORDS = 'title_spellings.yaml'\n\n\ndef twice(x):\n    return 2 * x\n"


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function of edits of a stage and of what it imports, (before, after), that returns its digest."""
    monkeypatch.setitem(versions.ROOTS, "toy", tmp_path)

    def of(edit=("", ""), helper_edit=("", "")):
        (tmp_path / "stage.py").write_text(STAGE.replace(*edit, 1))
        (tmp_path / "helper.py").write_text(HELPER.replace(*helper_edit, 1))
        versions._parsed.cache_clear()
        return versions.digest(["toy.stage"])

    yield of
    versions._parsed.cache_clear()


@pytest.mark.parametrize(
    "edit",
    [
        ("Return three times", "Return thrice"),
        ("x: int) -> int", "x: float) -> float"),
        ("    return", "    # at the end\n    return"),
        ("is below zero", "is negative"),
    ],
)
def test_docstrings_annotations_comments_and_messages_do_not_count(digest, edit):
    assert digest(edit) == digest()


@pytest.mark.parametrize("edit", [("+ x", "- x"), ("x < 0", "x < 1")])
def test_what_a_stage_computes_counts(digest, edit):
    assert digest(edit) != digest()


def test_code_and_resources_of_imported_modules_count(digest, tmp_path, monkeypatch):
    before = digest()
    assert digest(helper_edit=("2 * x", "3 * x")) != before
    (tmp_path / "title_spellings.yaml").write_text("{}")
    monkeypatch.setattr(versions, "RESOURCES", tmp_path)
    assert digest() != before


def test_only_changed_code_under_an_equal_version_is_undecided():
    listed = {"same": ("1", "a"), "edited": ("1", "a"), "raised": ("1", "a"), "gone": ("1", "a")}
    present = {"same": ("1", "a"), "edited": ("1", "b"), "raised": ("2", "b"), "new": ("1", "b")}
    assert versions.list_changed(listed, present) == ["edited"]
    assert versions.read_list(versions.render_list(present)) == present


def test_a_stage_with_the_lines_of_both_sides_of_a_merge_is_undecided_or_raised():
    merged = versions.read_list("raised 1 a\nraised 2 b\nchanged 1 a\nchanged 1 b\n")
    assert versions.list_changed(merged, {"raised": ("2", "c"), "changed": ("1", "c")}) == ["changed", "raised"]


@pytest.mark.slow
def test_the_list_of_versions_is_that_of_the_code():
    text, present = versions.LISTED.read_text(encoding="utf-8"), versions.present_lines()
    assert not (names := versions.list_changed(versions.read_list(text), present)), versions.describe(names)
    advice = "a version was raised, or lines of both sides of a merge stand here: run python tests/versions.py"
    assert text == versions.render_list(present), advice

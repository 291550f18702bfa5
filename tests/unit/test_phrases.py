"""Numbers in the profile: one text is a text, and a file without records is called so."""

import json
from collections import Counter

import pytest

from macroscope.criticize.checks import TEXTS, describe
from macroscope.criticize.choice import choose
from macroscope.criticize.profile import Profile, profile_texts
from macroscope.criticize.profile_table import table_of
from macroscope.errors import MacroscopeError
from macroscope.phrases import choose_form, format_count, number, shorten
from macroscope.reporting.formats import format_number


@pytest.mark.parametrize(
    ("number", "counted"), [(0, "0 texts"), (1, "1 text"), (2, "2 texts"), (1000, "1,000 texts"), (-1, "-1 texts")]
)
def test_numbers_have_their_nouns_in_the_right_form(number, counted):
    assert format_count(number, "text") == counted
    assert format_count(number, "text of one", "texts of one") == counted + " of one"
    assert choose_form(number, "is", "are") == ("is" if number == 1 else "are")


def test_one_of_anything_is_singular_in_the_profile(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"text": "Cafe\u0301!", "label": "x"}) + "\n")
    column = table_of(profile_texts("mine", [path]), [])["mine"]
    assert column["labels"] == "1 on 1 text"
    assert column["characters composed (NFC)"] == "in 1 text"
    assert column["shortest text"] == "1 word (mine.jsonl-1)"
    single = Profile("mine", words=[9], prompts=[1], openings=[0], texts=[1], ids_by_place={1}, marks=Counter())
    said = " ".join(describe(TEXTS, single, [single]))
    assert "With 1 real text and 1 of mine" in said
    assert "1 text of mine is in the reference" in said


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.json", "empty.csv"])
def test_a_file_without_records_is_said_to_have_none(name, tmp_path):
    path = tmp_path / name
    path.write_text({"empty.json": "[]", "empty.csv": "text\n"}.get(name, "\n"))
    profile = profile_texts("mine", [path])
    assert table_of(profile, []).loc["read as", "mine"] == "a file without records"
    with pytest.raises(MacroscopeError, match=r"^mine: no texts in "):
        choose(profile, [profile], [])


def test_marks_of_missing_values_are_said(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("id,text\n1,NaN\n2,A text of six words is here.\n3,None\n")
    profile = profile_texts("mine", [path])
    assert profile.missing == 2
    (said, *_) = describe(TEXTS, profile, [])
    assert said.startswith(
        "2 texts of mine are only marks of a missing value, such as NaN or None, and count as texts."
    )


def test_powers_of_ten_are_written_as_people_do():
    assert [number(value) for value in (9.109e-05, 1e20, 12345.0, 0.0)] == ["9.11 × 10⁻⁵", "1 × 10²⁰", "12,345", "0"]


def test_what_rounding_left_of_0_is_0():
    assert [number(value) for value in (-1.73e-18, -0.0, 4e-13, 4e-12)] == ["0", "0", "0", "4 × 10⁻¹²"]
    assert format_number(-1.73e-18) == "0"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("one two", "one two"),
        ("one  two\nsix", "one two …"),
        ("one two, six", "one two, …"),
        ("twelve twelve", "twelve …"),
        ("x" * 30, "x" * 8 + " …"),
        ("one" + " " * 40 + "two", "one …"),
        (" " * 40 + "two", "…"),
    ],
)
def test_only_a_word_longer_than_the_excerpt_is_cut(text, shown):
    assert shorten(text, 8) == shown

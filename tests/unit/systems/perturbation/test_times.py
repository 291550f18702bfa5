"""Words and dates that order events."""

import re

import pytest

from macroscope.documents import Document, Section
from macroscope.natural_language.languages import LANGUAGES
from macroscope.natural_language.rewordings import CALENDAR, OPPOSITES
from macroscope.systems.perturbation import STEPS
from macroscope.systems.perturbation.generation import apply_step

from .damaging import damage


def swap(text, dose=1.0, seed=0, language="en"):
    return damage("swap_times", Document("d", "test", None, (Section(None, text),)), dose, seed, language).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Before the war she sang.", "After the war she sang."),
        ("AFTER that, they left at first.", "BEFORE that, they left at last."),
        ("It rained in 1912, not in 1950.", "It rained in 1950, not in 1912."),
        ("On Monday he wrote, on Friday he called.", "On Friday he wrote, on Monday he called."),
        ("In June it was hot, in March and December cold.", "In December it was hot, in March and June cold."),
        ("The next day, in the morning, they came.", "The previous day, in the evening, they came."),
        ("Yesterday's bread, earlier than usual.", "Tomorrow's bread, later than usual."),
    ],
)
def test_opposite_words_and_other_dates(before, after):
    assert swap(before) == after
    assert swap(after) == before


@pytest.mark.parametrize(
    "text",
    [
        "He sat next to her, in the last row.",
        "It was 1912 in Berlin.",  # there is no other year
        "1,912 men, 19125 women, 3.1950 litres, 21950.",
        "On Monday, and Monday again. We may march.",
        "The aftermath of a beforehanded, after-dinner speech.",
        "",
    ],
)
def test_other_words_and_single_dates_stay(text):
    assert swap(text) == text


def test_years_become_other_years_of_the_text():
    text = "In 1900, 1910, 1920 and 1930. Then 1900."
    assert set(re.findall(r"\d+", swap(text))) <= {"1900", "1910", "1920", "1930"}
    assert all(a != b for a, b in zip(re.findall(r"\d+", text), re.findall(r"\d+", swap(text)), strict=True))


@pytest.mark.parametrize(("dose", "places"), [(0.01, 1), (0.25, 5), (0.5, 10), (1.0, 20)])
def test_the_dose_is_a_share_of_the_places(dose, places):
    assert swap("They ate before noon. " * 20, dose).count("after") == places


def test_each_text_has_the_same_copy_for_the_same_seed_whatever_the_others_are():
    documents = [
        Document(name, "test", None, (Section("A", f"{name} slept before 1912."), Section("B", "After 1950, 1960.")))
        for name in "abc"
    ]
    step = STEPS["swap_times"](rule="swap_times", dose=0.5)
    first = apply_step(documents, step, "en", (1,))
    assert apply_step(documents, step, "en", (1,)) == first
    assert apply_step(documents[1:], step, "en", (1,)) == first[1:]
    assert [section.title for section in first[0].sections] == ["A", "B"]
    assert any(apply_step(documents, step, "en", (seed,)) != first for seed in range(2, 8))


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("de", "Bevor er kam, am Montag früher als Freitag.", "Nachdem er kam, am Freitag später als Montag."),
        ("es", "Antes de comer", "Después de comer"),
        ("fr", "Hier, d'abord, avant 1789 et 1815", "Demain, enfin, après 1815 et 1789"),
        ("it", "Ieri, prima di cena", "Domani, dopo di cena"),
        ("nl", "Voordat hij kwam, gisteren", "Nadat hij kwam, overmorgen"),
        ("pt", "Ontem, antes de sair", "Amanhã, depois de sair"),
    ],
)
def test_other_languages(language, before, after):
    assert swap(before, language=language) == after


def test_words_of_a_language_are_in_one_pair_alone():
    assert OPPOSITES.keys() == CALENDAR.keys() <= LANGUAGES.keys()
    for pairs in OPPOSITES.values():
        words = [*pairs, *pairs.values()]
        assert len(set(words)) == len(words)
        assert all(word == word.lower() for word in words)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.documents import Document, Section
from macroscope.systems.formats import InvalidSample, format_training_text, parse_sample

DOCUMENT = Document("x", "train", "X", (Section("abstract", "One: two."), Section("early life", "Three.\nFour.")))


def test_both_formats():
    assert format_training_text(DOCUMENT, True) == "abstract: One: two.\n\nearly life: Three.\nFour."
    assert format_training_text(DOCUMENT, False) == "One: two.\n\nThree.\nFour."


def test_parsing_restores_the_training_text():
    assert parse_sample(format_training_text(DOCUMENT, True), True) == (DOCUMENT.sections, 0)
    assert parse_sample(format_training_text(DOCUMENT, False), False)[0] == tuple(
        Section(None, s.text) for s in DOCUMENT.sections
    )


words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(lambda t: "<|" not in t)


@pytest.mark.slow
@given(st.lists(st.tuples(words.filter(lambda t: ":" not in t), words), min_size=1, max_size=5))
def test_round_trip_of_any_words(pairs):
    document = Document("x", "train", None, tuple(Section(title, text) for title, text in pairs))
    assert parse_sample(format_training_text(document, True), True) == (document.sections, 0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "attempt without text"),
        ("<|endoftext|>\n", "attempt without text"),
        ("abstract: One.\n\nno colon here", "section without a colon"),
        ("abstract: One.\n\n: no title", "section with an empty title"),
        ("abstract:", "section with an empty text"),
    ],
)
def test_invalid_samples_have_a_reason(text, reason):
    with pytest.raises(InvalidSample, match=reason):
        parse_sample(text, True)


def test_without_titles_empty_sections_are_removed_and_counted():
    assert parse_sample("One.\n\n\n\nTwo.", False) == ((Section(None, "One."), Section(None, "Two.")), 1)

"""Views of texts: features whose inner product is a similarity."""

import numpy as np
import pytest

from macroscope.documents import Document, Section
from macroscope.sameness.texts import Line, Texts, cut_lines
from macroscope.sameness.views import (
    OPENING_WORDS,
    VIEWS,
    Beginning,
    choose_views,
    compare_function_words,
    compare_names,
    compare_openings,
    compare_structure,
    compare_vocabulary,
    compare_wording,
    make_vectors,
)

STORY = "Mara went out. The rain fell on Mara, and on the house of Tom. She ran and ran until it was dark."
OTHER = "Nobody saw the man. It was late, so late that he slept. In the morning Tom was gone."


def begin(text, language="en"):
    return Beginning([Line(text)], text.lower().replace(".", "").replace(",", "").split(), language)


def compare(function, first, second):
    a, b = function(begin(first)), function(begin(second))
    return sum(value * b.get(name, 0.0) for name, value in a.items())


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_text_is_as_similar_to_itself_as_possible(view):
    assert compare(view.features, STORY, STORY) == pytest.approx(1)
    assert 0 <= compare(view.features, STORY, OTHER) < 1


def test_similarities_are_shares_and_coefficients():
    assert compare(compare_wording, "a b c d", "a b x y") == pytest.approx(1 / 3)
    assert compare(compare_openings, "a b c d e f", "a b x y z f") == pytest.approx(2 / OPENING_WORDS)
    shares = np.sqrt([0.5 * 1.0])  # "the" and "of" against "the" alone
    assert compare(compare_function_words, "the house of", "the tree") == pytest.approx(shares.sum())
    assert compare(compare_vocabulary, "the house of", "the tree") == 0
    assert compare_names(begin(STORY)).keys() == {"Mara", "Tom"}


def test_structure_knows_no_words():
    renamed = STORY.replace("Mara", "Xyzz").replace("rain", "moon").replace("dark", "cold")
    assert compare(compare_structure, STORY, renamed) == pytest.approx(1)
    assert compare(compare_structure, STORY, STORY.replace(".", "!")) < 0.95


def test_structure_sees_marks_of_other_scripts():
    parts = {name for part, name in compare_structure(begin("他说：“好的。”她走了！", "zh")) if part == "mark"}
    assert parts == {"colon", "quotation", "full stop", "exclamation"}


def test_languages_have_the_views_that_their_script_allows():
    assert "names" not in [view.name for view in choose_views("zh")]
    assert "names" not in [view.name for view in choose_views("de")]
    assert len(choose_views("en")) == len(VIEWS)
    assert "wording" in [view.name for view in choose_views("xx")]


def test_texts_end_after_a_number_of_words():
    document = Document("a", "test", None, (Section("One", "a b\nc d e"), Section("Two", "f g")))
    assert [line.text for line in cut_lines(document, 4)] == ["One", "a b", "c d"]
    assert [line.is_heading for line in cut_lines(document, 6)] == [True, False, False, True, False]
    assert cut_lines(document, 7)[-1].text == "f g"


def test_vectors_of_all_collections_have_the_same_features():
    documents = [Document(str(k), "test", None, (Section(None, text),)) for k, text in enumerate((STORY, OTHER, STORY))]
    collections = [
        Texts("a", documents[:1], np.array([0]), 0, 0),
        Texts("b", documents[1:], np.array([0, 1]), 0, 0),
    ]
    for first, second in make_vectors(collections, VIEWS, 12, "en").values():
        products = (first @ second.T).toarray().ravel()
        assert products[1] == pytest.approx(1)
        assert products[0] < 1

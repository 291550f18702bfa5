"""Tests of the use of names."""

import numpy as np
import pytest

from macroscope.critics.coreference.name_use import FEATURES, describe_names, find_names, measure_name_mismatch
from macroscope.critics.coreference.rules.lexicon import tokenize
from macroscope.documents import Document, Section
from macroscope.systems.perturbation.declaration import Touch
from macroscope.systems.perturbation.harmless import move_paragraph_breaks
from tests.benchmarks.coreference.name_training import compare_copies, train

TOWN = " ".join(
    [
        "The painter Anna Berg moved to Vienna in spring. In the morning, Anna said that Vienna was cold.",
        "Her brother Tom laughed, and Tom told Anna that the markets in Vienna were full.",
        "Later Anna asked Tom for money. Then Tom left for Prague.",
        "In May the trains from Prague to Vienna were late, so Tom said that he would stay in Prague.",
    ]
)
REST = "When the snow fell in {Vienna}, {Anna} said little. At night {Tom} told {Anna} of the bridges in {Prague}."
REAL = f"{TOWN} {REST.format(Vienna='Vienna', Anna='Anna', Tom='Tom', Prague='Prague')}"
SWAPPED = f"{TOWN} {REST.format(Vienna='Tom', Anna='Prague', Tom='Vienna', Prague='Anna')}"


def test_names_in_other_names_places_raise_the_number():
    assert measure_name_mismatch(SWAPPED) > measure_name_mismatch(REAL)


def test_other_words_do_not_change_the_number():
    assert measure_name_mismatch(REAL.replace("cold", "warm").replace("snow", "rain")) == measure_name_mismatch(REAL)


def test_paragraphs_do_not_change_the_number():
    text = REAL.replace(". ", ".\n\n")
    document = Document(id="a", split="test", title=None, sections=(Section(None, text),))
    moved = move_paragraph_breaks(document, Touch("en", np.random.default_rng(1), 1.0)).text
    assert measure_name_mismatch(moved) == pytest.approx(measure_name_mismatch(text))


@pytest.mark.parametrize("text", ["", "it rained all day.", "We saw Anna. Anna waved.", "NO ONE HERE"])
def test_texts_with_few_names_have_no_number(text):
    assert np.isnan(measure_name_mismatch(text))


def test_a_short_name_is_that_of_the_full_name():
    text = "We met Marie Curie in Paris. Then Curie said that in Paris, Curie worked. So Curie left Paris."
    names = [mention.words for mention in find_names(tokenize(text))]
    assert names == [{"Marie", "Curie"}, {"Paris"}, {"Curie"}, {"Paris"}, {"Curie"}, {"Curie"}, {"Paris"}]
    described = dict(zip(FEATURES, describe_names(text), strict=True))
    assert described["new"] == 0  # after the first two names


def test_words_at_the_beginning_of_sentences_are_not_names_by_their_capital():
    assert not list(find_names(tokenize("Rain fell. Snow followed. Later it was Monday.")))


def test_time_is_linear_in_the_names():
    names = " ".join(f"we saw Person{n} in Town{n} and" for n in range(3000))
    assert np.isfinite(measure_name_mismatch(names))


def test_training_learns_that_names_keep_their_use():
    weights = train([REAL], seed=1)
    assert list(weights) == list(FEATURES)
    copies = list(compare_copies(REAL, np.random.default_rng(2)))
    assert copies
    assert all(copy @ np.array(list(weights.values())) > 0 for copy in copies)


def test_training_needs_names():
    with pytest.raises(ValueError, match="no text has two names"):
        train(["it rained."], seed=1)

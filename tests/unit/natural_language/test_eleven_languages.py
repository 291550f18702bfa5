"""Each of eleven languages: recognized, cut into sentences and words, with stop words and types of section titles."""

import pytest

from macroscope.corpora.titles import normalise_title
from macroscope.natural_language.detection import detect_language
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.tokens import DictionaryTokens, MosesTokens, make_tokenizer
from macroscope.natural_language.words import count_words, has_stop_words, locate_words, lower_case_words, stop_words
from tests.unit.natural_language.samples import SAMPLES

pytestmark = pytest.mark.parametrize(("language", "sample"), SAMPLES.items(), ids=list(SAMPLES))


@pytest.mark.slow
def test_its_texts_are_recognized(language, sample):
    assert detect_language("".join(sample.sentences)) == language


def test_its_sentences_end_where_they_end(language, sample):
    sentences = split_sentences("".join(sample.sentences), language)
    assert [sentence.strip() for sentence in sentences] == [sentence.strip() for sentence in sample.sentences]


def test_its_words_are_words(language, sample):
    text = sample.sentences[0]
    assert lower_case_words(text) == sample.words
    assert [word for *_, word in locate_words(text)] == sample.words
    assert all(text[start:end].lower() == word for start, end, word in locate_words(text))
    assert count_words(text) >= len(sample.words)


def test_its_tokens_are_words_and_marks(language, sample):
    batch = make_tokenizer(language)([sample.sentences[0]])
    tokens = [batch.types[number] for number in batch.ids]
    assert set(sample.words[-2:]) <= set(tokens)  # the first are abbreviations, or elided
    assert tokens[-1] == sample.sentences[0][-1]


def test_its_stop_words_are_known(language, sample):
    assert has_stop_words(language)
    words = stop_words(language)
    assert sample.stop_word in words
    assert not {word for word in words if not any(map(str.isalpha, word))}


@pytest.mark.slow
def test_its_titles_are_brought_to_a_type(language, sample):
    assert normalise_title(sample.title, language) == sample.section_type


def test_moses_is_not_asked_about_languages_that_it_does_not_know(language, sample):
    with_rules = language in {"de", "fr", "es", "it", "pt", "nl", "ru", "hi"}
    assert isinstance(make_tokenizer(language), MosesTokens if with_rules else DictionaryTokens)

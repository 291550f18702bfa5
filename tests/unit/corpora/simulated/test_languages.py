"""The simulated corpus of three languages: distinct vocabularies, orders, and reading it back."""

from itertools import combinations

import numpy as np
import pytest

from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.languages import (
    Meaning,
    Thing,
    describe_process,
    generate,
    languages,
    resource,
    simulate_texts,
    write_corpus,
)
from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.natural_language.words import lower_case_words

NAMES = {name.lower() for name in resource()["meanings"]["place"]}


def _count_words(document):
    """Count the words of each language in a text, and all words; names are ignored."""
    words = set(lower_case_words(document.text)) - NAMES
    return np.array([len(words & language.words()) for language in languages()]), len(words)


def test_no_word_is_a_word_of_two_languages():
    for first, second in combinations(languages(), 2):
        assert not first.words() & second.words()
    assert all(len(set(language.lexicon.values())) == len(language.lexicon) for language in languages())


def test_a_sentence_has_the_word_order_of_its_language():
    meaning = Meaning(Thing("woman", "old", False), "see", Thing("dog", "", True), "Arna", "today")
    for language in languages():
        parts, lexicon, grammar = language.grammar["particles"], language.lexicon, language.grammar
        described = [lexicon["woman"], lexicon["old"]] if grammar["noun_first"] else [lexicon["old"], lexicon["woman"]]
        expected = {
            "subject": [parts["the"], *described],
            "verb": [lexicon["see"] + grammar["verb"]],
            "object": [parts["the"], lexicon["dog"] + grammar["plural"] + grammar["object"]],
            "place": [parts["in"], "Arna"],
            "time": [lexicon["today"]],
        }
        assert language.sentence(meaning) == [word for part in grammar["order"] for word in expected[part]]


def test_texts_are_of_the_language_of_their_label():
    for document in simulate_texts("process", 60, 1):
        counts, words = _count_words(document)
        assert counts.max() == words
        assert languages()[int(counts.argmax())].name == document.label


@pytest.mark.slow
def test_independent_words_are_of_all_languages():
    counts = np.array([_count_words(document)[0] for document in simulate_texts("independent", 300, 1)])
    shares = counts.sum(axis=0) / counts.sum()
    assert np.allclose(shares, 1 / 3, atol=0.05)
    assert ((counts > 0).sum(axis=1) > 1).mean() > 0.95


def test_shuffled_texts_have_the_same_words():
    for plain, shuffled in zip(simulate_texts("process", 9, 1), simulate_texts("shuffled", 9, 1), strict=True):
        assert sorted(lower_case_words(plain.text)) == sorted(lower_case_words(shuffled.text))
        assert plain.text != shuffled.text
        assert plain.label == shuffled.label


def test_same_seed_same_texts_whatever_their_number():
    assert list(simulate_texts("process", 3, 5)) == list(simulate_texts("process", 9, 5))[:3]


def test_unknown_order():
    with pytest.raises(ValueError, match="not one of process"):
        next(simulate_texts("other", 1, 0))


def test_truth_is_written_with_the_corpus_and_generates_texts(tmp_path):
    options = SimulatedCorpus(source="simulated", kind="languages", documents=40)
    write_corpus(options, 2, tmp_path / "raw.jsonl", tmp_path)
    written = list(read_documents(tmp_path / "documents.parquet"))
    assert len(written) == 40
    assert {document.label for document in written} == {language.name for language in languages()}
    assert list(generate(tmp_path / "process.json", "process", 3, 9)) == list(simulate_texts("process", 3, 9))
    write_json(tmp_path / "process.json", describe_process() | {"languages": ["other"]})
    with pytest.raises(MacroscopeError, match="other languages"):
        generate(tmp_path / "process.json", "process", 3, 9)

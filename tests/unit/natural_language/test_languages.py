"""The list of languages: valid codes, and what follows from scripts."""

from collections import Counter

import pytest

from macroscope.corpora.options import Corpus
from macroscope.errors import MacroscopeError
from macroscope.natural_language.detection import UNKNOWN, detect_language, main_language
from macroscope.natural_language.languages import LANGUAGES, require_code


def test_fifty_languages_and_more_are_known():
    assert len(LANGUAGES) >= 50
    assert all(code == language.code and len(code) == 2 for code, language in LANGUAGES.items())


@pytest.mark.parametrize(
    ("code", "hint"), [("xx", ""), ("German", "'de'"), ("pt-BR", "'pt'"), ("zh_Hans", "'zh'"), ("EN", "'en'"), ("", "")]
)
def test_other_codes_are_one_sentence_that_names_the_valid_ones(code, hint):
    with pytest.raises(MacroscopeError, match=r"is not a language.*choose from af, ar, .*, zh$") as caught:
        require_code(code)
    assert ("did you mean " + hint in str(caught.value)) if hint else "did you mean" not in str(caught.value)
    with pytest.raises(ValueError, match="is not a language"):
        Corpus(source="files", language=code)


def test_scripts_tell_spaces_and_capitals():
    without_spaces = {code for code, language in LANGUAGES.items() if not language.has_spaces}
    assert without_spaces == {"zh", "ja", "th", "lo", "km", "my"}
    assert LANGUAGES["ru"].has_capitals
    assert not LANGUAGES["ar"].has_capitals
    assert not LANGUAGES["ko"].has_capitals


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "12, 34!", "zibo karu mela tibi soru", "a b c d", 40 * "word "])
def test_texts_in_no_language_are_unknown(text):
    assert detect_language(text) == UNKNOWN


def test_the_main_language_is_that_of_more_than_half_of_the_texts():
    assert main_language(Counter(de=3, en=2)) == "de"
    assert main_language(Counter(de=2, en=2)) == UNKNOWN
    assert main_language(Counter()) == UNKNOWN

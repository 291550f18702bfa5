"""Languages of many texts at once: the results are the library's, which reads one after the other."""

import random

import pytest

from macroscope.natural_language import detection
from macroscope.natural_language.detection import detect_each, detect_language
from tests.unit.natural_language.samples import SAMPLES


def _texts():
    random.seed(1)
    sentences = [sentence for sample in SAMPLES.values() for sentence in sample.sentences]
    odd = ["", "123 456", "HELLO THIS IS LOUD", "х", "xq zz", "ja " * 700, "a", "これは日本語です。"]
    mixed = [" ".join(random.sample(sentences, 2)) for _ in range(60)]
    letters = ["".join(random.choices("abc déü 的是不 хуя", k=random.randint(1, 300))) for _ in range(100)]
    return [*sentences, *odd, *mixed, *letters]


def test_many_texts_have_the_languages_that_the_library_gives_each():
    texts = _texts()
    assert list(detect_each(texts)) == [detection._classify(detection._beginning(text)) for text in texts]


@pytest.mark.parametrize("number", [0, 1, 8, 9, 128, 129])
def test_each_text_has_a_language_whatever_their_number(number):
    texts = (_texts() * 2)[:number]
    assert list(detect_each(texts)) == [detect_language(text) for text in texts]

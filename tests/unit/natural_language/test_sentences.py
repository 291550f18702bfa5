"""Segmentation of texts into sentences."""

from macroscope.natural_language.sentences import split_sentences


def test_very_long_lines_are_cut_after_sentences():
    text = 'He said: "No. ' + "The fox ran home. It rained. " * 4000
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert sum(sentence in ("The fox ran home. ", "It rained. ") for sentence in sentences) > 6000
    chinese = "狐狸跑回家。" * 10_000
    assert "".join(split_sentences(chinese, "zh")) == chinese
    assert len(split_sentences(chinese, "zh")) > 9000

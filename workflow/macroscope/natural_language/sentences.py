"""Segmentation of texts into sentences."""

import re
from collections.abc import Iterable, Iterator

from sentencex import segment

from macroscope.natural_language.spacy_pipeline import is_pipeline, split_by_pipeline

_SPACE = re.compile(r"\s")
_LINES = re.compile(r"[^\n]{20000,}?(?:[.!?]\s|[。！？])|[^\n]*\n|[^\n]+")
"""Lines, and parts of very long ones: the segmenter takes time with the square of their length, and a quotation mark
without its partner joins what follows it."""


def split_sentences(text: str, language: str = "en") -> list[str]:
    """Split a text into sentences, by rules and a language's abbreviations.

    A line break ends a sentence, because a section's text has one line per paragraph.

    Parameters
    ----------
    language
        ISO 639-1 code, or the name of a pipeline; an unknown language is split by the rules that all languages share.

    Returns
    -------
    list of str
        Sentences, each with the white space after it; joined, they give the text. Empty if the text is white space.
    """
    if is_pipeline(language):
        return next(split_by_pipeline([text], language))
    sentences: list[str] = []
    start = 0
    for line in _LINES.findall(text):
        # Unusual white space can make the segmenter fail, so it is replaced by spaces. The segmenter's sentences are
        # together as long as its input.
        for sentence in segment(language, _SPACE.sub(" ", line)):
            piece = text[start : start + len(sentence)]
            start += len(sentence)
            if sentences and not (piece.strip() and sentences[-1].strip()):
                sentences[-1] += piece  # white space belongs to the sentence beside it
            else:
                sentences.append(piece)
    return sentences if text.strip() else []


def split_texts(texts: Iterable[str], language: str) -> Iterator[list[str]]:
    """Split texts into sentences, in a stream; a pipeline reads them in batches. See `split_sentences`."""
    if is_pipeline(language):
        return split_by_pipeline(texts, language)
    return (split_sentences(text, language) for text in texts)

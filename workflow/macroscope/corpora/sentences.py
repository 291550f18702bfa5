"""Sentences of a text."""

import re

from sentencex import segment

_SPACE = re.compile(r"\s")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


def split_sentences(text: str, language: str = "en") -> list[str]:
    """Cut a text into sentences, by rules and a language's abbreviations.

    A line break ends a sentence: a section's text has one line a paragraph.

    Parameters
    ----------
    language
        ISO 639-1 code; an unknown one is cut by the rules that all languages share.

    Returns
    -------
    list of str
        Sentences, each with the white space after it: joined, they are the text. Empty where there is nothing but
        white space.
    """
    found: list[str] = []
    start = 0
    for line in _LINES.findall(text):
        # Other white space than the plain one can make the segmenter fail, so it sees plain white space alone. What it
        # returns is as long as what it was given.
        for sentence in segment(language, _SPACE.sub(" ", line)):
            piece = text[start : start + len(sentence)]
            start += len(sentence)
            if found and not (piece.strip() and found[-1].strip()):
                found[-1] += piece  # white space belongs to the sentence beside it
            else:
                found.append(piece)
    return found if text.strip() else []

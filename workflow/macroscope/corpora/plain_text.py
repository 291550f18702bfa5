"""Sentences of a text."""

import re
from collections.abc import Iterable

from sentencex import segment

_SPACES = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def tidy(text: str) -> str:
    r"""Strip lines, collapse spaces and remove blank lines.

    Returns
    -------
    str
        Paragraphs separated by single newlines: "\n\n" separates sections in the training text of a language model
        (deng2022's released code asserts the same), so it must not occur within one. May be empty.
    """
    return join_lines(_LINE_BREAKS.sub("\n", text).split("\n"))


def join_lines(lines: Iterable[str]) -> str:
    """Join the lines that have any text; see `tidy`."""
    tidied = (_SPACES.sub(" ", line).strip() for line in lines)
    return "\n".join(line for line in tidied if line)


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

"""Tokenization of a text into words with their positions, for the rules."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from macroscope.natural_language.sentences import split_sentences

# Initials and abbreviated titles keep their dot, names their apostrophe and hyphen; "'s" and "n't" are words.
_LETTER = r"[^\W_]"
_WORD = re.compile(
    rf"(?:{_LETTER}\.)+(?={_LETTER})|{_LETTER}\.(?=\s+[A-Z])|(?:Mr|Mrs|Ms|Dr|Prof|St|Rev|Capt|Col|Gen|Lt|Sgt|Jr|Sr|Mme|Messrs)\."
    r"|['’](?:s|d|ll|re|ve|m)\b|n['’]t\b"
    rf"|{_LETTER}+?(?=n['’]t\b)|{_LETTER}+(?:-{_LETTER}+|['’](?!(?:s|d|ll|re|ve|m|t)\b){_LETTER}+|[\u0300-\u036f]+{_LETTER}*)*"
    r"|\S",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Words:
    """Words of a text; punctuation marks count as words.

    Attributes
    ----------
    words
        Words as written.
    starts, ends
        Character offsets of the words; ends are exclusive.
    sentence_starts
        Indices of the first words of sentences.
    """

    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    sentence_starts: Sequence[int]


def tokenize(text: str, language: str = "en") -> Words:
    """Split a text into words and sentences."""
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    sentence_starts: list[int] = []
    offset = 0
    for sentence in split_sentences(text, language):
        matches = list(_WORD.finditer(sentence))
        if matches:
            sentence_starts.append(len(words))
        words += [match.group() for match in matches]
        starts += [offset + match.start() for match in matches]
        ends += [offset + match.end() for match in matches]
        offset += len(sentence)
    return Words(words, starts, ends, sentence_starts)

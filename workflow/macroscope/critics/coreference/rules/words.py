"""Tokenization of a text into words with their positions, for the rules."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.spacy_pipeline import Annotation

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
    persons, phrases
        Of a pipeline, if one has read the text: first word of the name of a person -> end; head of a noun phrase ->
        first word.
    """

    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    sentence_starts: Sequence[int]
    persons: Mapping[int, int] = field(default_factory=dict)
    phrases: Mapping[int, int] = field(default_factory=dict)


def tokenize(text: str, language: str = "en", annotation: Annotation | None = None) -> Words:
    """Split a text into words and sentences; those of a pipeline if it has annotated the text."""
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    sentence_starts: list[int] = []
    offset = 0
    for sentence in split_sentences(text, language) if annotation is None else annotation.sentences:
        matches = list(_WORD.finditer(sentence))
        if matches:
            sentence_starts.append(len(words))
        words += [match.group() for match in matches]
        starts += [offset + match.start() for match in matches]
        ends += [offset + match.end() for match in matches]
        offset += len(sentence)
    tokenized = Words(words, starts, ends, sentence_starts)
    return tokenized if annotation is None else add_annotation(tokenized, annotation)


def add_annotation(words: Words, annotation: Annotation) -> Words:
    """Return words with the names and the noun phrases of an annotation of their text."""
    persons = {bisect_right(words.ends, start): bisect_left(words.starts, end) for start, end in annotation.persons}
    phrases = {bisect_right(words.ends, head): bisect_right(words.ends, start) for start, head in annotation.phrases}
    return replace(words, persons=persons, phrases=phrases)

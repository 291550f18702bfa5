"""Lexicon of English words that indicate persons, from resources/persons.yaml."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import yaml

from macroscope.files import RESOURCES
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.spacy_pipeline import Annotation
from macroscope.natural_language.words import stop_words

UNKNOWN, MALE, FEMALE, PLURAL = 0, 1, 2, 3
US, ME, YOU = 4, 5, 6
"""Gender of a mention, or person and number of a pronoun without gender."""
GENDERS = {"unknown": UNKNOWN, "male": MALE, "female": FEMALE, "plural": PLURAL, "us": US, "me": ME, "you": YOU}
OTHER, SUBJECT, OBJECT, POSSESSIVE, REFLEXIVE = range(5)
"""Role of a mention, guessed from the neighbouring words."""
CASES = {"subject": SUBJECT, "object": OBJECT, "possessive": POSSESSIVE, "reflexive": REFLEXIVE}

# Word classes, as bits: a word may have several.
TITLE, NOUN, FIRST_NAME, NOT_PERSON, OPENER, SPEECH, PREPOSITION, CONJUNCTION, VERB, PARTICLE, DETERMINER, STOP = (
    1 << bit for bit in range(12)
)
_DETERMINERS = "the a an this that these those my your his her its our their another every each no some any two three"


@dataclass(frozen=True)
class Lexicon:
    """Lexical properties of English words, all in lower case.

    Attributes
    ----------
    flags
        Word -> its word classes, as bits.
    pronouns
        Word -> (gender or person, role).
    title_gender, noun_gender, name_gender
        Word -> gender.
    """

    flags: dict[str, int]
    pronouns: dict[str, tuple[int, int]]
    title_gender: dict[str, int]
    noun_gender: dict[str, int]
    name_gender: dict[str, int]


@cache
def load_lexicon() -> Lexicon:
    """Load the lexicon."""
    raw = yaml.safe_load((RESOURCES / "persons.yaml").read_text(encoding="utf-8"))
    titles = _by_gender(raw["titles"])
    nouns = _by_gender(raw["nouns"]) | dict.fromkeys(raw["plural_nouns"].split(), PLURAL)
    names = _by_gender(raw["first_names"])
    flags: dict[str, int] = {}
    for bit, words in (
        (TITLE, titles),
        (NOUN, nouns),
        (FIRST_NAME, names),
        (NOT_PERSON, raw["not_persons"].split()),
        (OPENER, raw["openers"].split()),
        (SPEECH, raw["speech_verbs"].split()),
        (PREPOSITION, raw["prepositions"].split()),
        (CONJUNCTION, raw["conjunctions"].split()),
        (VERB, raw["verbs"].split()),
        (PARTICLE, raw["particles"].split()),
        (DETERMINER, _DETERMINERS.split()),
        (STOP, stop_words("en")),
    ):
        for word in words:
            flags[word] = flags.get(word, 0) | bit
    pronouns = {}
    for word, described in raw["pronouns"].items():
        gender, case = described.split()
        pronouns[word] = (GENDERS[gender], CASES[case])
    return Lexicon(flags, pronouns, titles, nouns, names)


def _by_gender(groups: dict[str, str]) -> dict[str, int]:
    return {word: GENDERS[gender] for gender, words in groups.items() for word in words.split()}


# ---- words -----------------------------------------------------------------------------------------------------------
# Tokenization of a text into words with their positions, for the rules.

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

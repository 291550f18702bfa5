"""Lexicon of English words that indicate persons, from resources/persons.yaml."""

from dataclasses import dataclass
from functools import cache

import yaml

from macroscope.files import RESOURCES
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

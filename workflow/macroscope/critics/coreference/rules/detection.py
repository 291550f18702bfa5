"""Detection of mentions: names, person nouns and pronouns of a text, in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from macroscope.critics.coreference.rules.lexicon import (
    CONJUNCTION,
    DETERMINER,
    FIRST_NAME,
    NOT_PERSON,
    NOUN,
    OBJECT,
    OPENER,
    OTHER,
    PARTICLE,
    PLURAL,
    POSSESSIVE,
    PREPOSITION,
    STOP,
    SUBJECT,
    TITLE,
    UNKNOWN,
    VERB,
    Lexicon,
    Words,
)

NAME, NOMINAL, PRONOUN, GROUP = range(4)
"""Kind of a mention; a group is two or more names or nouns joined by "and"."""
CERTAIN, POSSIBLE = 2, 1
"""Degrees of certainty that a mention refers to a person."""
LONGEST_NAME, LONGEST_NOMINAL = 7, 6
FEWEST_SMALL = 0.15
"""Smallest share of words with a small initial in texts whose capital letters indicate names."""
_POSSESSIVE = ("'s", "’s", "'", "’")
_ADVERBS = ("also", "always", "first", "later", "never", "now", "often", "once", "soon", "still", "then")
_OPEN, _CLOSE, _EITHER = "“", "”", '"'


@dataclass(slots=True)
class DetectedMention:
    """A mention detected by the rules.

    Attributes
    ----------
    first, last, head
        Word indices: span, the end exclusive, and head.
    kind, gender, role
        Kind (`NAME` ...), gender (`UNKNOWN`, `MALE` ...; for pronouns also the person), and role (`SUBJECT` ...).
    person
        Certainty that it refers to a person: `CERTAIN` or `POSSIBLE`.
    sentence
        Index of its sentence.
    quote
        Number of the quotation around it, 0 outside quotations.
    key
        Lower-case words that identify it: a name without titles, the head of a noun phrase, or the pronoun.
    owner
        Possessor in the same noun phrase ("his" in "his wife").
    definite
        Whether a noun phrase begins with "the" or a demonstrative.
    """

    first: int
    last: int
    head: int
    kind: int
    gender: int
    role: int
    person: int
    sentence: int
    quote: int
    key: tuple[str, ...]
    owner: "DetectedMention | None" = None
    definite: bool = False


class Detector:
    """Detector of the mentions of a text."""

    def __init__(self, text: Words, lexicon: Lexicon) -> None:
        self.words, self.lexicon = text.words, lexicon
        self.persons, self.phrases = text.persons, text.phrases
        self.in_persons = {at for first, last in text.persons.items() for at in range(first, last)}
        self.lower = [word.lower() for word in text.words]
        self.flags = [lexicon.flags.get(word, 0) for word in self.lower]
        self.upper = [word[0].isupper() for word in text.words]
        self.sentences = _number_sentences(text.sentence_starts, len(text.words))
        self.opens = set(text.sentence_starts)
        self.quotes = _number_quotations(text.words, self.opens)
        capitals, small = sum(self.upper), sum(word[0].islower() for word in text.words)
        # If (nearly) all words have capital initials, or none has, capital letters carry no information.
        self.cased = capitals > 0 and small > FEWEST_SMALL * (small + capitals)
        self.says_i = self.cased and "I" in text.words
        self.inside = (
            {self.lower[at] for at, upper in enumerate(self.upper) if upper and at and not self._opens(at)}
            if self.cased
            else set()
        )
        self.small = {word for word, upper in zip(self.lower, self.upper, strict=True) if not upper}
        self.mentions: list[DetectedMention] = []

    def detect(self) -> list[DetectedMention]:
        """Return all mentions, in order of their heads."""
        at, end = 0, len(self.words)
        while at < end:
            flags, lower = self.flags[at], self.lower[at]
            if lower in self.lexicon.pronouns and self._is_pronoun(at):
                self._pronoun(at)
                at += 1
            elif self.upper[at] if self.cased else flags & (FIRST_NAME | TITLE):
                at = self._name(at)
            elif flags & NOUN:
                self._nominal(at)
                at += 1
            else:
                at += 1
        return self._with_groups()

    # ---- pronouns ------------------------------------------------------------------------------------------------

    def _is_pronoun(self, at: int) -> bool:
        """Check that a word is a pronoun, not part of a title ("Coal Mine", "Film i Väst") or the US."""
        word = self.words[at]
        if word == "i":
            return not self.says_i
        if word == "US" and self.cased:
            return False
        if word == "I" or not (self.cased and self.upper[at]) or at in self.opens:
            return True
        return not self.words[at - 1][0].isalnum() and self.words[at - 1] not in (*_POSSESSIVE, "(")

    def _pronoun(self, at: int) -> None:
        gender, role = self.lexicon.pronouns[self.lower[at]]
        if self.lower[at] == "her":
            role = POSSESSIVE if self._noun_follows(at) else OBJECT
        elif self.lower[at] == "you":
            role = SUBJECT if self._verb_follows(at + 1) else OBJECT
        self._add(at, at + 1, at, PRONOUN, gender, role, CERTAIN, (self.lower[at],))

    def _noun_follows(self, at: int) -> bool:
        """Check that the next word can begin the noun after possessive "her"."""
        if at + 1 >= len(self.words) or at + 1 in self.opens or not self.words[at + 1][0].isalpha():
            return False
        flags = self.flags[at + 1]
        return not flags & (STOP | PREPOSITION | CONJUNCTION | DETERMINER) or self.lower[at + 1] in (
            "own",
            "most",
            "very",
        )

    # ---- names ---------------------------------------------------------------------------------------------------

    def _name(self, at: int) -> int:
        """Add the name that a pipeline has found, or else the longest from this word on; return where it ends."""
        if at in self.persons and self.lower[at] not in self.lexicon.pronouns:
            last = self.persons[at]
            last -= last - 1 > at and self.lower[last - 1] in _POSSESSIVE
            self._take_name(at, last)
            return last
        last = at + 1
        while last < min(len(self.words), at + LONGEST_NAME) and last not in self.opens:
            if self._is_capital(last) and self.lower[last] not in self.lexicon.pronouns:
                last += 1
            elif (
                self.flags[last] & PARTICLE
                and last + 1 < len(self.words)
                and self.lower[last] != "of"
                and self._is_capital(last + 1)
                and last + 1 not in self.opens
            ):
                last += 2
            else:
                break
        first = at
        while first < last and self._is_not_name(first):
            first += 1
        # "New York Mayor Michael Bloomberg": words before a title or first name need not belong to the name.
        person = next((n for n in range(first + 1, last) if self.flags[n] & (TITLE | FIRST_NAME)), None)
        if person is not None and any(flag & NOT_PERSON for flag in self.flags[first:person]):
            first = person
        if first == last or (last == first + 1 and self._opens(first) and not self._is_name(first)):
            if first < last and self.flags[first] & NOUN:
                self._nominal(first)
            return last if first == last else first + 1
        self._take_name(first, last)
        return last

    def _take_name(self, first: int, last: int) -> None:
        words, flags = self.lower[first:last], self.flags[first:last]
        titles = 0
        while titles < len(words) and flags[titles] & TITLE:
            titles += 1
        if titles == len(words):  # a title alone is a noun: "the Captain"
            if self.flags[last - 1] & NOUN:
                self._nominal(last - 1)
            return
        gender = self._title_gender(words[:titles]) or self.lexicon.name_gender.get(words[titles], UNKNOWN)
        is_known = titles > 0 or bool(flags[0] & FIRST_NAME) or bool(flags[titles] & FIRST_NAME)
        is_person = last - 1 in self.in_persons
        foreign = not is_person and (
            any(flag & NOT_PERSON for flag in flags[titles:]) or any(w.isdigit() for w in words)
        )
        if foreign and not is_known:
            return
        if foreign and flags[-1] & NOT_PERSON and not titles and len(words) > 1 and not flags[-1] & FIRST_NAME:
            return  # "Victoria Station"
        before = self.lower[first - 1] if first and first not in self.opens else ""
        if not (is_known or is_person) and (
            before == "the" or (self.words[first].isupper() and len(words[0]) > 1 and len(words) == 1)
        ):
            return  # "the Senate", "NATO"
        person = CERTAIN if is_known or is_person else POSSIBLE
        head = last - 1
        self._add(first, last, head, NAME, gender, self._role(first, last), person, tuple(words[titles:]))

    def _title_gender(self, titles: Sequence[str]) -> int:
        return next((g for t in titles if (g := self.lexicon.title_gender[t]) != UNKNOWN), UNKNOWN)

    def _is_capital(self, at: int) -> bool:
        if self.cased:
            return self.upper[at]
        return bool(self.flags[at] & FIRST_NAME)

    def _is_not_name(self, at: int) -> bool:
        """Check that a capitalised word is not part of a name: a function word, or a frequent sentence opener."""
        flags = self.flags[at]
        if flags & (TITLE | FIRST_NAME) and not flags & STOP:
            return False
        return bool(flags & (STOP | OPENER | DETERMINER | PREPOSITION | CONJUNCTION))

    def _is_name(self, at: int) -> bool:
        """Check that a single word at the beginning of a sentence is a name."""
        if self.flags[at] & FIRST_NAME or self.lower[at] in self.inside:
            return True
        if self.lower[at] in self.small or self.flags[at]:
            return False
        return self._verb_follows(at + 1) or (at + 1 < len(self.words) and self.words[at + 1] in _POSSESSIVE[:2])

    # ---- nouns ---------------------------------------------------------------------------------------------------

    def _nominal(self, head: int) -> None:
        """Add the noun phrase with this head: back to its determiner, or to the possessive before it."""
        if head + 1 < len(self.words) and self.flags[head + 1] & NOUN and head + 1 not in self.opens:
            return  # "police officer": the next word is the head
        first = self._begin_phrase(head)
        determined = bool(self.flags[first] & DETERMINER) or self.lower[first] in _POSSESSIVE
        if not determined:
            first = head
        gender = self.lexicon.noun_gender[self.lower[head]]
        owner = None
        if self.mentions and first < head and self.mentions[-1].head in (first, first - 1):
            owner = self.mentions[-1]
        if not determined and gender != PLURAL:
            return  # "as director", "actress Anne Baxter"
        definite = self.lower[first] in ("the", "this", "that", "these", "those")
        key = (self.lower[head],)
        begin = first if self.lower[first] not in _POSSESSIVE else owner.first if owner else head
        last = head + 1
        self._add(begin, last, head, NOMINAL, gender, self._role(begin, last), CERTAIN, key, owner, definite)

    def _begin_phrase(self, head: int) -> int:
        """Return the first word of a noun phrase: a pipeline's, or else back to a determiner or a possessive."""
        first = self.phrases.get(head, head)
        if self.flags[first] & DETERMINER and not any(word in _POSSESSIVE for word in self.lower[first:head]):
            return first
        first = head
        while first > 0 and head - first < LONGEST_NOMINAL and first not in self.opens:
            before = self.flags[first - 1]
            if before & DETERMINER or self.lower[first - 1] in _POSSESSIVE:
                return first - 1
            if before & (STOP | PREPOSITION | CONJUNCTION | VERB) or not self.words[first - 1][0].isalpha():
                return first
            first -= 1
        return head

    # ---- all -----------------------------------------------------------------------------------------------------

    def _add(
        self,
        first: int,
        last: int,
        head: int,
        kind: int,
        gender: int,
        role: int,
        person: int,
        key: tuple[str, ...],
        owner: DetectedMention | None = None,
        definite: bool = False,
    ) -> None:
        self.mentions.append(
            DetectedMention(
                first,
                last,
                head,
                kind,
                gender,
                role,
                person,
                self.sentences[head],
                self.quotes[head],
                key,
                owner,
                definite,
            )
        )

    def _role(self, first: int, last: int) -> int:
        if last < len(self.words) and self.lower[last] in _POSSESSIVE and last not in self.opens:
            return POSSESSIVE
        if first and first not in self.opens and self.flags[first - 1] & PREPOSITION:
            return OBJECT
        if self._verb_follows(last):
            return SUBJECT
        return OTHER

    def _verb_follows(self, at: int) -> bool:
        if at >= len(self.words) or at in self.opens:
            return False
        if self.flags[at] & VERB:
            return True
        word = self.lower[at]
        if (word.endswith("ly") or word in _ADVERBS) and at + 1 < len(self.words):
            at, word = at + 1, self.lower[at + 1]
            if self.flags[at] & VERB:
                return True
        if self.upper[at] or len(word) <= 3:
            return False
        return word.endswith("ed") or (word.endswith("es") and not self.flags[at])

    def _opens(self, at: int) -> bool:
        if at in self.opens:
            return True
        before = self.words[at - 1]
        is_break = at - 1 in self.opens or before not in (*_POSSESSIVE, ",", "-", "(", "–")
        return is_break and not before[0].isalnum()

    def _with_groups(self) -> list[DetectedMention]:
        """Add a mention for every "A and B", as an antecedent of "they"."""
        result: list[DetectedMention] = []
        for number, mention in enumerate(self.mentions):
            before = self.mentions[number - 1] if number else None
            if (
                before is not None
                and mention.kind != PRONOUN
                and mention.first - before.last == 1
                and self.lower[before.last] in ("and", "&")
                and before.gender != PLURAL
            ):
                role = mention.role if mention.role != OTHER else before.role
                result.append(
                    DetectedMention(
                        before.first,
                        mention.last,
                        before.last,
                        GROUP,
                        PLURAL,
                        role,
                        min(before.person, mention.person),
                        mention.sentence,
                        mention.quote,
                        (*before.key, "and", *mention.key),
                    )
                )
            result.append(mention)
        return result


def _number_sentences(starts: Sequence[int], length: int) -> list[int]:
    numbers = [0] * length
    bounds = [*starts, length]
    for number, (begin, end) in enumerate(pairwise(bounds)):
        numbers[begin:end] = [number] * (end - begin)
    return numbers


def _number_quotations(words: Sequence[str], opens: set[int]) -> list[int]:
    """Number the quotation around each word, 0 outside; an unclosed quotation ends after 12 sentences."""
    numbers, number, inside, sentences = [], 0, False, 0
    for at, word in enumerate(words):
        if inside and at in opens:
            sentences += 1
            inside = sentences <= 12
        if word == _OPEN or (word == _EITHER and not inside) or word == "``":
            number, inside, sentences = number + 1, True, 0
        elif inside and word in (_CLOSE, _EITHER, "''"):
            inside = False
        numbers.append(number if inside else 0)
    return numbers

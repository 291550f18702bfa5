"""Entities of a text, as they grow: who has been mentioned so far, how, and where last."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from macroscope.critics.coreference.rules.detection import CERTAIN, GROUP, NAME, NOMINAL, Found
from macroscope.critics.coreference.rules.lexicon import FEMALE, MALE, ME, PLURAL, SUBJECT, UNKNOWN, US, YOU

NAMESAKES = 20
"""How many entities that share a word of their names are looked at."""


@dataclass(slots=True, eq=False)
class Entity:
    """Somebody, as far as the text has told.

    Attributes
    ----------
    number
        In order of first mention.
    mentions
        In order.
    person
        Whether one of them tells for certain that it is a person.
    votes
        How often a pronoun, noun, title or first name said each gender.
    by_pronoun
        Whether one of them was a pronoun.
    names
        Its names, lower-case words without titles.
    longest
        The longest of them.
    """

    number: int
    mentions: list[Found] = field(default_factory=list)
    person: bool = False
    votes: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    by_pronoun: bool = False
    names: set[tuple[str, ...]] = field(default_factory=set)
    longest: tuple[str, ...] = ()

    @property
    def gender(self) -> int:
        """The gender that most mentions tell; `UNKNOWN` where none does."""
        most = max(self.votes)
        return self.votes.index(most) if most else UNKNOWN

    @property
    def last(self) -> Found:
        """Its last mention so far."""
        return self.mentions[-1]

    def allows(self, gender: int) -> bool:
        """Whether a mention of a gender (or of none that is known) does not contradict what is known."""
        own = self.gender
        return UNKNOWN in (own, gender) or own == gender


class Entities:
    """All entities of a text so far, by recency and by what they were called.

    Nothing here grows with the length of the text but the number of entities: who a mention means is looked up.

    Attributes
    ----------
    first_of, subject_of
        Sentence -> whoever was mentioned first in it, was its first subject.
    last_pronoun
        Gender -> whom the last pronoun of it meant.
    """

    def __init__(self) -> None:
        self._number = 0
        self._recent: dict[int, Entity] = {}
        self._by_word: dict[str, dict[int, Entity]] = {}
        self._by_noun: dict[tuple[str, int | None], Entity] = {}
        self._by_group: dict[tuple[str, ...], Entity] = {}
        self._speakers: dict[tuple[int, int], Entity] = {}
        self.first_of: dict[int, Entity] = {}
        self.subject_of: dict[int, Entity] = {}
        self.last_pronoun: dict[int, Entity] = {}

    def new(self) -> Entity:
        """Make an entity that has no mention yet."""
        self._number += 1
        return Entity(self._number - 1)

    def most_recent(self) -> Iterator[Entity]:
        """Entities by their last mention, the latest first, but for those who only say "I", "we", "you"."""
        return reversed(self._recent.values())

    def named(self, word: str) -> Iterator[Entity]:
        """Entities with a word in one of their names, the latest named first."""
        return islice(reversed(self._by_word.get(word, {}).values()), NAMESAKES)

    def called(self, noun: str, owner: "Entity | None") -> Entity | None:
        """Whoever was last called by a noun, as somebody's ("his wife") or nobody's ("the wife")."""
        return self._by_noun.get((noun, owner.number if owner else None))

    def group(self, key: tuple[str, ...]) -> Entity | None:
        """Those who were named together by the same words."""
        return self._by_group.get(key)

    def speaker(self, mention: Found) -> Entity | None:
        """Whom "I", "we" or "you" meant before in the same quotation, or outside of all."""
        return self._speakers.get((mention.gender, mention.quote))

    def add(self, entity: Entity, mention: Found, owner: Entity | None = None) -> None:
        """Put a mention to an entity.

        Parameters
        ----------
        owner
            Whose the person is, in "his wife".
        """
        entity.mentions.append(mention)
        entity.person = entity.person or mention.person == CERTAIN
        if mention.gender in (MALE, FEMALE, PLURAL):
            entity.votes[mention.gender] += 1
        if mention.kind == NAME:
            self._name(entity, mention.key)
        elif mention.kind == NOMINAL:
            self._by_noun[mention.key[0], owner.number if owner else None] = entity
        elif mention.kind == GROUP:
            self._by_group[mention.key] = entity
        elif mention.gender in (MALE, FEMALE, PLURAL):
            entity.by_pronoun = True
            self.last_pronoun[mention.gender] = entity
        else:
            self._speakers[mention.gender, mention.quote] = entity
        if mention.gender not in (US, ME, YOU) or entity.names:  # those who only speak are meant by no "he"
            _to_the_end(self._recent, entity)
        self.first_of.setdefault(mention.sentence, entity)
        if mention.role == SUBJECT:
            self.subject_of.setdefault(mention.sentence, entity)

    def _name(self, entity: Entity, name: tuple[str, ...]) -> None:
        entity.names.add(name)
        if len(name) > len(entity.longest):
            entity.longest = name
        for word in {*name, *entity.longest}:
            _to_the_end(self._by_word.setdefault(word, {}), entity)


def _to_the_end(entities: dict[int, Entity], entity: Entity) -> None:
    entities.pop(entity.number, None)
    entities[entity.number] = entity

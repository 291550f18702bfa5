"""Entities of a text during resolution, with indices of recent mentions, names and nouns."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from macroscope.critics.coreference.rules.detection import CERTAIN, GROUP, NAME, NOMINAL, DetectedMention
from macroscope.critics.coreference.rules.lexicon import FEMALE, MALE, ME, PLURAL, SUBJECT, UNKNOWN, US, YOU

NAMESAKES = 20
"""Largest number of candidates that share a word of their names."""


@dataclass(slots=True, eq=False)
class Entity:
    """An entity, with the mentions so far.

    Attributes
    ----------
    number
        Index of the entity, in order of first mention.
    mentions
        Mentions of the entity, in order.
    person
        Whether a mention certainly refers to a person.
    votes
        Number of mentions (pronoun, noun, title or first name) that indicate each gender.
    by_pronoun
        Whether a mention is a third-person pronoun.
    names
        Names of the entity, as lower-case words without titles.
    longest
        Longest of its names.
    """

    number: int
    mentions: list[DetectedMention] = field(default_factory=list)
    person: bool = False
    votes: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    by_pronoun: bool = False
    names: set[tuple[str, ...]] = field(default_factory=set)
    longest: tuple[str, ...] = ()

    @property
    def gender(self) -> int:
        """Return the gender that most mentions indicate; `UNKNOWN` if none does."""
        most = max(self.votes)
        return self.votes.index(most) if most else UNKNOWN

    @property
    def last(self) -> DetectedMention:
        return self.mentions[-1]

    def allows(self, gender: int) -> bool:
        """Check that a mention's gender is compatible with that of the entity; `UNKNOWN` is compatible with all."""
        majority = self.gender
        return UNKNOWN in (majority, gender) or majority == gender


class Entities:
    """All entities of a text so far, indexed by recency, names, nouns, groups and speakers.

    Antecedents are looked up, so the work per mention does not grow with the length of the text.

    Attributes
    ----------
    first_of, subject_of
        Sentence -> its first entity, and its first subject.
    last_pronoun
        Gender -> entity of the last pronoun of this gender.
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

    def create(self) -> Entity:
        """Create an entity without mentions."""
        self._number += 1
        return Entity(self._number - 1)

    def most_recent(self) -> Iterator[Entity]:
        """Iterate over entities, the latest mentioned first, without those mentioned only as "I", "we", "you"."""
        return reversed(self._recent.values())

    def iterate_named(self, word: str) -> Iterator[Entity]:
        """Iterate over entities with a word in one of their names, the latest named first."""
        return islice(reversed(self._by_word.get(word, {}).values()), NAMESAKES)

    def find_by_noun(self, noun: str, owner: "Entity | None") -> Entity | None:
        """Return the last entity with this noun and this possessor ("his wife"; None: "the wife"), or None."""
        return self._by_noun.get((noun, owner.number if owner else None))

    def find_group(self, key: tuple[str, ...]) -> Entity | None:
        """Return the group that was named by the same words ("A and B"), or None."""
        return self._by_group.get(key)

    def find_speaker(self, mention: DetectedMention) -> Entity | None:
        """Return the entity of the same pronoun ("I", "we", "you") in the same quotation, or outside any, or None."""
        return self._speakers.get((mention.gender, mention.quote))

    def add(self, entity: Entity, mention: DetectedMention, owner: Entity | None = None) -> None:
        """Add a mention to an entity, and update the indices.

        Parameters
        ----------
        owner
            Possessor, as in "his wife".
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
        # Entities known only as speakers ("I", "we", "you") are not antecedents of "he".
        if mention.gender not in (US, ME, YOU) or entity.names:
            _move_to_end(self._recent, entity)
        self.first_of.setdefault(mention.sentence, entity)
        if mention.role == SUBJECT:
            self.subject_of.setdefault(mention.sentence, entity)

    def _name(self, entity: Entity, name: tuple[str, ...]) -> None:
        entity.names.add(name)
        if len(name) > len(entity.longest):
            entity.longest = name
        for word in {*name, *entity.longest}:
            _move_to_end(self._by_word.setdefault(word, {}), entity)


def _move_to_end(entities: dict[int, Entity], entity: Entity) -> None:
    entities.pop(entity.number, None)
    entities[entity.number] = entity

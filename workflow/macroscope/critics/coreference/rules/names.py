"""Who a name or a person noun means: a sieve of rules, the most precise first."""

from macroscope.critics.coreference.rules.detection import Found
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.lexicon import PLURAL

NEAR_NOUN = 12
"""Sentences after which "the man" is somebody else."""


def entity_of_name(entities: Entities, mention: Found) -> Entity | None:
    """Return who a name means, or None for somebody new.

    In this order: the same name; a name that has all words of this one, or the other way round; one that shares its
    first or its last word where one of the two is a single word. Titles and first names that tell another gender forbid
    it.
    """
    key = mention.key
    possible = [entity for entity in entities.named(key[-1]) if entity.allows(mention.gender)]
    for entity in possible:
        if key in entity.names:
            return entity
    if len(key) == 1:
        for entity in possible:
            if key[0] in (entity.longest[-1], entity.longest[0]):
                return entity
        return possible[0] if possible else None
    others = (entity for entity in entities.named(key[0]) if entity.allows(mention.gender))
    for entity in (*possible, *others):
        if _within(entity.longest, key) or _within(key, entity.longest):
            return entity
    return None


def _within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether the words of one name are those of another, in order, with its first or last word among them."""
    if not short or len(short) > len(long) or (short[0] != long[0] and short[-1] != long[-1]):
        return False
    rest = iter(long)
    return all(word in rest for word in short)


def entity_of_noun(entities: Entities, mention: Found, owner: Entity | None) -> Entity | None:
    """Return who a noun phrase means, or None for somebody new.

    "His wife" is the wife of the same person as before; "the man" is the last man; both where they were mentioned not
    long ago.
    """
    entity = entities.called(mention.key[0], owner)
    if entity is None or (owner is None and not mention.definite):
        return None
    if mention.sentence - entity.last.sentence > NEAR_NOUN or (entity.gender == PLURAL) != (mention.gender == PLURAL):
        return None
    return entity

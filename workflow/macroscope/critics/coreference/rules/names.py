"""Antecedents of names and person nouns, by a sieve of rules, the most precise first."""

from macroscope.critics.coreference.rules.detection import DetectedMention
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.lexicon import PLURAL

NEAR_NOUN = 12
"""Largest distance in sentences between mentions of an entity by the same noun."""


def find_entity_of_name(entities: Entities, mention: DetectedMention) -> Entity | None:
    """Return the entity of a name, or None for a new entity.

    The rules, in this order: the same name; for a single word, an entity with this first or last name; for several
    words, a name that contains all words of the other. Titles and first names of another gender rule out an entity.
    """
    key = mention.key
    possible = [entity for entity in entities.iterate_named(key[-1]) if entity.allows(mention.gender)]
    for entity in possible:
        if key in entity.names:
            return entity
    if len(key) == 1:
        for entity in possible:
            if key[0] in (entity.longest[-1], entity.longest[0]):
                return entity
        return possible[0] if possible else None
    others = (entity for entity in entities.iterate_named(key[0]) if entity.allows(mention.gender))
    for entity in (*possible, *others):
        if _is_short_form(entity.longest, key) or _is_short_form(key, entity.longest):
            return entity
    return None


def _is_short_form(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Check that a name is a subsequence of another one, with the same first or last word."""
    if not short or len(short) > len(long) or (short[0] != long[0] and short[-1] != long[-1]):
        return False
    rest = iter(long)
    return all(word in rest for word in short)


def find_entity_of_noun(entities: Entities, mention: DetectedMention, owner: Entity | None) -> Entity | None:
    """Return the entity of a noun phrase, or None for a new entity.

    "His wife" is the last wife of the same person; "the man" is the last man; both if mentioned at most `NEAR_NOUN`
    sentences before.
    """
    entity = entities.find_by_noun(mention.key[0], owner)
    if entity is None or (owner is None and not mention.definite):
        return None
    if mention.sentence - entity.last.sentence > NEAR_NOUN or (entity.gender == PLURAL) != (mention.gender == PLURAL):
        return None
    return entity

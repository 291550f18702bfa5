"""The rules at work: the mentions of a text, in order, each put to somebody."""

from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.rules.detection import (
    CERTAIN,
    GROUP,
    NAME,
    NOMINAL,
    PRONOUN,
    Detector,
    Found,
)
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.lexicon import FEMALE, MALE, PLURAL, lexicon
from macroscope.critics.coreference.rules.names import entity_of_name, entity_of_noun
from macroscope.critics.coreference.rules.pronouns import Choose, question
from macroscope.critics.coreference.rules.speakers import speakers_joined
from macroscope.critics.coreference.rules.words import Words, words_of


def resolve_text(name: str, text: str, choose: Choose) -> Resolved:
    """Resolve a document.

    Parameters
    ----------
    name
        Its id.
    choose
        Who a pronoun of the third person means: `pronouns.by_sieve` or a `pronouns.Ranker`.
    """
    return resolved_of(name, words_of(text), choose)


def resolved_of(name: str, words: Words, choose: Choose) -> Resolved:
    """Resolve a document that is cut into words already."""
    mentions = tuple(
        Mention(
            words.starts[found.first],
            words.ends[found.last - 1],
            words.starts[found.head],
            words.ends[found.head],
            entity,
            pronoun=found.kind == PRONOUN,
            person=found.kind == PRONOUN or (found.kind == NAME and found.person == CERTAIN),
        )
        for found, entity in resolve_words(words, choose)
    )
    return Resolved(name, tuple(words.starts[start] for start in words.sentence_starts), mentions)


def resolve_words(text: Words, choose: Choose) -> list[tuple[Found, int]]:
    """Mentions of a text, each with the number of its entity, in order of their heads."""
    detector = Detector(text, lexicon())
    entities = Entities()
    whose: dict[int, Entity] = {}
    before: Found | None = None
    mentions = detector.detect()
    for mention in mentions:
        owner = whose.get(id(mention.owner)) if mention.owner else None
        entity = _entity(mention, before, owner, entities, whose, choose) or entities.new()
        entities.add(entity, mention, owner)
        whose[id(mention)] = entity
        before = mention
    numbers = speakers_joined(mentions, [whose[id(mention)].number for mention in mentions], detector)
    return list(zip(mentions, numbers, strict=True))


def _entity(
    mention: Found,
    before: Found | None,
    owner: Entity | None,
    entities: Entities,
    whose: dict[int, Entity],
    choose: Choose,
) -> Entity | None:
    """Return who a mention means, or None for somebody new."""
    if mention.kind == NAME:
        return entity_of_name(entities, mention) or _apposition(mention, before, whose)
    if mention.kind == NOMINAL:
        return entity_of_noun(entities, mention, owner)
    if mention.kind == GROUP:
        return entities.group(mention.key)
    if mention.gender in (MALE, FEMALE, PLURAL):
        return choose(question(mention, entities))
    return entities.speaker(mention)


def _apposition(mention: Found, before: Found | None, whose: dict[int, Entity]) -> Entity | None:
    """Return whom "his wife" means in "his wife Mary", so that Mary is the same."""
    if before is None or before.kind != NOMINAL or before.last != mention.first or before.gender == PLURAL:
        return None
    entity = whose[id(before)]
    return None if entity.names or not entity.allows(mention.gender) else entity

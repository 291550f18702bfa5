"""Resolution of a text by the rules: each mention, in order, is assigned to an entity."""

from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.rules.detection import (
    CERTAIN,
    GROUP,
    NAME,
    NOMINAL,
    PRONOUN,
    DetectedMention,
    Detector,
)
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.lexicon import FEMALE, MALE, PLURAL, load_lexicon
from macroscope.critics.coreference.rules.names import find_entity_of_name, find_entity_of_noun
from macroscope.critics.coreference.rules.pronouns import Choose, make_context
from macroscope.critics.coreference.rules.speakers import assign_speakers
from macroscope.critics.coreference.rules.words import Words, tokenize
from macroscope.natural_language.spacy_pipeline import Annotation


def resolve_text(name: str, text: str, choose: Choose, annotation: Annotation | None = None) -> Resolved:
    """Resolve a document.

    Parameters
    ----------
    name
        Id of the document.
    text
        Text of the document.
    choose
        Function that finds the antecedent of a third-person pronoun: `pronouns.choose_by_sieve` or a
        `pronouns.Ranker`.
    annotation
        Sentences, names and noun phrases of the text by a pipeline.
    """
    return resolve_tokenized(name, tokenize(text, annotation=annotation), choose)


def resolve_tokenized(name: str, words: Words, choose: Choose) -> Resolved:
    """Resolve a tokenized document."""
    mentions = tuple(
        Mention(
            words.starts[mention.first],
            words.ends[mention.last - 1],
            words.starts[mention.head],
            words.ends[mention.head],
            entity,
            pronoun=mention.kind == PRONOUN,
            person=mention.kind == PRONOUN or (mention.kind == NAME and mention.person == CERTAIN),
        )
        for mention, entity in resolve_words(words, choose)
    )
    return Resolved(name, tuple(words.starts[start] for start in words.sentence_starts), mentions)


def resolve_words(text: Words, choose: Choose) -> list[tuple[DetectedMention, int]]:
    """Return the mentions of a text, each with the number of its entity, in order of their heads."""
    detector = Detector(text, load_lexicon())
    entities = Entities()
    whose: dict[int, Entity] = {}
    before: DetectedMention | None = None
    mentions = detector.detect()
    for mention in mentions:
        owner = whose.get(id(mention.owner)) if mention.owner else None
        entity = _entity(mention, before, owner, entities, whose, choose) or entities.create()
        entities.add(entity, mention, owner)
        whose[id(mention)] = entity
        before = mention
    numbers = assign_speakers(mentions, [whose[id(mention)].number for mention in mentions], detector)
    return list(zip(mentions, numbers, strict=True))


def _entity(
    mention: DetectedMention,
    before: DetectedMention | None,
    owner: Entity | None,
    entities: Entities,
    whose: dict[int, Entity],
    choose: Choose,
) -> Entity | None:
    """Return the entity of a mention, or None for a new entity."""
    if mention.kind == NAME:
        return find_entity_of_name(entities, mention) or _apposition(mention, before, whose)
    if mention.kind == NOMINAL:
        return find_entity_of_noun(entities, mention, owner)
    if mention.kind == GROUP:
        return entities.find_group(mention.key)
    if mention.gender in (MALE, FEMALE, PLURAL):
        return choose(make_context(mention, entities))
    return entities.find_speaker(mention)


def _apposition(mention: DetectedMention, before: DetectedMention | None, whose: dict[int, Entity]) -> Entity | None:
    """Return the entity of "his wife" in "his wife Mary", for the name "Mary"; None without such an apposition."""
    if before is None or before.kind != NOMINAL or before.last != mention.first or before.gender == PLURAL:
        return None
    entity = whose[id(before)]
    return None if entity.names or not entity.allows(mention.gender) else entity

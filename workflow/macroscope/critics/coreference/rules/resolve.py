"""Resolution of a text by the rules: each mention, in order, is assigned to an entity."""

from collections.abc import Sequence

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
from macroscope.critics.coreference.rules.lexicon import (
    FEMALE,
    MALE,
    ME,
    PLURAL,
    SPEECH,
    YOU,
    Words,
    load_lexicon,
    tokenize,
)
from macroscope.critics.coreference.rules.pronouns import Choose, make_context
from macroscope.natural_language.spacy_pipeline import Annotation

# ---- names -----------------------------------------------------------------------------------------------------------
# Antecedents of names and person nouns, by a sieve of rules, the most precise first.

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


# ---- speakers --------------------------------------------------------------------------------------------------------
# Speakers of quotations: "I" refers to the speaker, "you" to the previous speaker.

NEAR = 4
"""Largest number of words between a quotation and its speaker."""
TURN = 4
"""Largest number of sentences between two turns of a conversation."""


def assign_speakers(mentions: Sequence[DetectedMention], numbers: Sequence[int], detector: Detector) -> list[int]:
    """Assign "I" and "you" in quotations to the speakers, if the text names these beside the quotation.

    Parameters
    ----------
    mentions, numbers
        Mentions of the text in order, and the entity of each.

    Returns
    -------
    list of int
        Entity of each mention.
    """
    speakers = _find_speakers(mentions, numbers, detector)
    if not speakers:
        return list(numbers)
    addressed = _find_addressees(speakers)
    entities = []
    for mention, number in zip(mentions, numbers, strict=True):
        if mention.kind == PRONOUN and mention.quote:
            if mention.gender == ME and mention.quote in speakers:
                number = speakers[mention.quote][0]
            elif mention.gender == YOU and mention.quote in addressed:
                number = addressed[mention.quote]
        entities.append(number)
    return entities


def _find_speakers(
    mentions: Sequence[DetectedMention], numbers: Sequence[int], detector: Detector
) -> dict[int, tuple[int, int]]:
    """Map quotations to (speaker, sentence): the speaker is a mention near it with an adjacent verb of speech."""
    speakers: dict[int, tuple[int, int]] = {}
    quotes, flags = detector.quotes, detector.flags
    end = len(quotes)
    for mention, number in zip(mentions, numbers, strict=True):
        if mention.quote or mention.kind == GROUP or mention.gender in (ME, YOU):
            continue
        verb_before = mention.first > 0 and flags[mention.first - 1] & SPEECH
        verb_after = mention.last < end and flags[mention.last] & SPEECH
        if not (verb_before or verb_after):
            continue
        before = range(mention.first - 1, max(-1, mention.first - 1 - NEAR), -1)
        after = range(mention.last, min(end, mention.last + NEAR))
        behind = next((quotes[at] for at in before if quotes[at]), 0)
        # A quotation in the next sentence has another speaker.
        ahead = next((quotes[at] for at in after if quotes[at] and detector.sentences[at] == mention.sentence), 0)
        for quote in (behind, ahead):
            if quote:
                speakers.setdefault(quote, (number, mention.sentence))
    return speakers


def _find_addressees(speakers: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Map quotations to the addressee: the previous speaker, if different and at most `TURN` sentences before."""
    addressees = {}
    before: tuple[int, int] | None = None
    for quote, (speaker, sentence) in sorted(speakers.items()):
        if before is not None and before[0] != speaker and sentence - before[1] <= TURN:
            addressees[quote] = before[0]
        before = (speaker, sentence)
    return addressees


# ---- resolve ---------------------------------------------------------------------------------------------------------


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

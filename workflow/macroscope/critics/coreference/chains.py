"""Chains: who is mentioned, in the order of the text (deng2022 §5 and Appendix G).

A chain has a symbol for every mention of a person, and "." where a sentence starts. A pronoun keeps its surface; any
other mention becomes the gender of its entity, by the majority of the pronouns that mean it: "Male", "Female",
"Plural", or "None" where none of them tells.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.windows import NO_ENTITY

SENTENCE = "."
MALE, FEMALE, PLURAL, NONE = "Male", "Female", "Plural", "None"
LABELS = (MALE, FEMALE, PLURAL, NONE)
"""What mentions become that are no pronouns."""
SAID = {
    MALE: "a man, by name or noun",
    FEMALE: "a woman, by name or noun",
    PLURAL: "several people, by name or noun",
    NONE: "somebody, by name or noun",
}
"""Label -> what a reader sees; a pronoun says itself."""
GENDERS = {
    **dict.fromkeys(("he", "him", "his", "himself"), MALE),
    **dict.fromkeys(("she", "her", "hers", "herself"), FEMALE),
    **dict.fromkeys(
        ("they", "them", "their", "theirs", "themselves", "we", "us", "our", "ours", "ourselves", "you", "yourselves"),
        PLURAL,
    ),
}
"""Pronoun -> gender that it tells; "you" counts as plural, as in the released code."""
_OF_NO_THIRD = ("we", "us", "our", "ours", "ourselves", "you", "yourselves")
THIRD_PERSON = frozenset(GENDERS) - frozenset(_OF_NO_THIRD)
"""Pronouns that mean somebody who was, or should have been, mentioned before."""
NO_PERSON = frozenset({"it", "its", "itself"})


@dataclass(frozen=True)
class Chain:
    """The chain of a document.

    Attributes
    ----------
    surfaces, entities
        Of each symbol; the entity of "." is `windows.NO_ENTITY`. Entities are numbered by first appearance.
    starts, ends
        Characters of the text that each stands for: the head of the mention; both the same for ".".
    invalid
        Mentions and beginnings of sentences that were left out: they are empty or not within the text, their head
        cuts a word, or they have no number of an entity (0 or more).
    """

    surfaces: tuple[str, ...] = ()
    entities: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    invalid: int = 0


def chain_of(resolved: Resolved, text: str, single: str = "pronouns") -> Chain:
    """Make the chain of a document.

    Parameters
    ----------
    text
        The document's.
    single
        What is kept of somebody who is mentioned once: "none" (as published: the resolver has no such clusters),
        "pronouns" (a pronoun of the third person that means nobody else), "all".
    """
    valid = [mention for mention in resolved.mentions if _is_valid(mention, text)]
    clusters: dict[int, list[Mention]] = defaultdict(list)
    for mention in sorted(valid, key=lambda mention: mention.head_start):
        clusters[mention.entity].append(mention)
    kept = {number: mentions for number, mentions in clusters.items() if _is_kept(mentions, text, single)}
    at: dict[
        int, tuple[str, int, int]
    ] = {}  # where several have one head, the cluster with the highest number is taken
    for number in sorted(kept):
        gender = gender_of(kept[number], text)
        for mention in kept[number]:
            surface = text[mention.head_start : mention.head_end] if mention.pronoun else gender
            at[mention.head_start] = (surface, number, mention.head_end)
    starts = [start for start in resolved.sentence_starts if 0 <= start <= len(text)]
    symbols = [(start, 0, SENTENCE, NO_ENTITY, start) for start in starts]
    symbols += [(start, 1, surface, number, end) for start, (surface, number, end) in at.items()]
    symbols.sort()
    numbers: dict[int, int] = {NO_ENTITY: NO_ENTITY}
    entities = tuple(numbers.setdefault(entity, len(numbers) - 1) for *_, entity, _ in symbols)
    return Chain(
        tuple(surface for _, _, surface, *_ in symbols),
        entities,
        tuple(start for start, *_ in symbols),
        tuple(end for *_, end in symbols),
        len(resolved.mentions) - len(valid) + len(resolved.sentence_starts) - len(starts),
    )


def gender_of(mentions: Sequence[Mention], text: str) -> str:
    """Gender that most pronouns of an entity tell; of as many, the one that was told first."""
    votes: dict[str, int] = {}
    for mention in mentions:
        gender = GENDERS.get(text[mention.head_start : mention.head_end].lower())
        if gender is not None:
            votes[gender] = votes.get(gender, 0) + 1
    return max(votes, key=lambda gender: votes[gender]) if votes else NONE


def _is_valid(mention: Mention, text: str) -> bool:
    """Whether a mention lies within the text, and its head is whole words."""
    start, end = mention.head_start, mention.head_end
    places = (0, mention.start, start, end, mention.end, len(text))
    if list(places) != sorted(places) or start == end or mention.entity < 0:
        return False
    if text[start].isspace() or text[end - 1].isspace():
        return False
    cut_before = start > 0 and text[start - 1].isalpha() and text[start].isalpha()
    cut_behind = end < len(text) and text[end - 1].isalpha() and text[end].isalpha()
    return not (cut_before or cut_behind)


def _is_kept(mentions: Sequence[Mention], text: str, single: str) -> bool:
    """Whether a cluster is of a person, and mentioned often enough."""
    heads = [text[mention.head_start : mention.head_end].lower() for mention in mentions]
    if not any(mention.person and head not in NO_PERSON for mention, head in zip(mentions, heads, strict=True)):
        return False
    return len(mentions) > 1 or single == "all" or (single == "pronouns" and heads[0] in THIRD_PERSON)

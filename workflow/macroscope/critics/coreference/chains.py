"""Chains of mentions, in the order of the text (deng2022 §5 and Appendix G).

A chain has a symbol for every mention of a person, and "." at the start of every sentence. A pronoun keeps its surface;
any other mention becomes the gender of its entity, by majority vote of the pronouns that refer to it: "Male", "Female",
"Plural", or "None" without such pronouns.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from macroscope.critics.coreference.mentions import Mention, Resolved
from macroscope.critics.coreference.windows import NO_ENTITY

SENTENCE = "."
MALE, FEMALE, PLURAL, NONE = "Male", "Female", "Plural", "None"
LABELS = (MALE, FEMALE, PLURAL, NONE)
"""Symbols of mentions that are not pronouns."""
DESCRIPTIONS = {
    MALE: "a man, by name or noun",
    FEMALE: "a woman, by name or noun",
    PLURAL: "several people, by name or noun",
    NONE: "a person, by name or noun",
}
"""Label -> description for readers; pronouns stand for themselves."""
GENDERS = {
    **dict.fromkeys(("he", "him", "his", "himself"), MALE),
    **dict.fromkeys(("she", "her", "hers", "herself"), FEMALE),
    **dict.fromkeys(
        ("they", "them", "their", "theirs", "themselves", "we", "us", "our", "ours", "ourselves", "you", "yourselves"),
        PLURAL,
    ),
}
"""Pronoun -> gender that it indicates; "you" counts as plural, as in the released code."""
_FIRST_OR_SECOND_PERSON = ("we", "us", "our", "ours", "ourselves", "you", "yourselves")
THIRD_PERSON = frozenset(GENDERS) - frozenset(_FIRST_OR_SECOND_PERSON)
"""Pronouns that need an antecedent."""
NO_PERSON = frozenset({"it", "its", "itself"})


@dataclass(frozen=True)
class Chain:
    """The chain of a document.

    Attributes
    ----------
    surfaces, entities
        Surface and entity of each symbol; the entity of "." is `windows.NO_ENTITY`. Entities are numbered by first
        appearance.
    starts, ends
        Character span of each symbol in the text: the head of the mention; empty for ".".
    invalid
        Number of mentions and sentence starts that were left out: they are empty or outside the text, their head cuts
        a word, or their entity has a negative number.
    """

    surfaces: tuple[str, ...] = ()
    entities: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    invalid: int = 0


def build_chain(resolved: Resolved, text: str, single: str = "pronouns") -> Chain:
    """Build the chain of a document.

    Parameters
    ----------
    resolved
        Mentions and sentence starts of the document.
    text
        Text of the document.
    single
        Entities with a single mention to keep: "none" (as published: the resolver has no such clusters), "pronouns"
        (third-person pronouns without another mention), "all".
    """
    valid = [mention for mention in resolved.mentions if _is_valid(mention, text)]
    clusters: dict[int, list[Mention]] = defaultdict(list)
    for mention in sorted(valid, key=lambda mention: mention.head_start):
        clusters[mention.entity].append(mention)
    kept = {number: mentions for number, mentions in clusters.items() if _is_kept(mentions, text, single)}
    # If several mentions share a head, the cluster with the highest number wins.
    at: dict[int, tuple[str, int, int]] = {}
    for number in sorted(kept):
        gender = infer_gender(kept[number], text)
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


def infer_gender(mentions: Sequence[Mention], text: str) -> str:
    """Return the gender that most pronouns of an entity indicate; ties go to the one that occurs first."""
    votes: dict[str, int] = {}
    for mention in mentions:
        gender = GENDERS.get(text[mention.head_start : mention.head_end].lower())
        if gender is not None:
            votes[gender] = votes.get(gender, 0) + 1
    return max(votes, key=lambda gender: votes[gender]) if votes else NONE


def _is_valid(mention: Mention, text: str) -> bool:
    """Check that a mention lies within the text, and that its head consists of whole words."""
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
    """Check that a cluster refers to a person, and has enough mentions."""
    heads = [text[mention.head_start : mention.head_end].lower() for mention in mentions]
    if not any(mention.person and head not in NO_PERSON for mention, head in zip(mentions, heads, strict=True)):
        return False
    return len(mentions) > 1 or single == "all" or (single == "pronouns" and heads[0] in THIRD_PERSON)

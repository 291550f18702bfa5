"""Binary features of a pronoun and a candidate antecedent, for a log-linear model."""

from bisect import bisect_right
from typing import NamedTuple

from macroscope.critics.coreference.rules.detection import PRONOUN, DetectedMention
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.lexicon import UNKNOWN

NEW = "new"
"""Prefix of the feature names of a pronoun without antecedent."""
_FAR = (1, 2, 3, 4, 6, 10)
_COUNTS = (2, 3, 5, 9)
_WORDS = (3, 6, 11, 20)


class Relation(NamedTuple):
    """The properties of a pronoun and a candidate antecedent from which their features follow.

    Attributes
    ----------
    case, role, kind
        Case of the pronoun; role and kind of the entity's last mention.
    sentences, words, rank, mentions
        Classes of the distances in sentences and in words (of the same sentence), of the number of entities of a
        compatible gender that were mentioned since the entity, and of its number of mentions.
    agreement, evidence, person
        How the genders agree, by which mentions the entity's is known, and whether it certainly is a person.
    quotations
        Whether the pronoun and the last mention are in quotations, and whether in the same one.
    is_topic, has_rivals
        Whether it is the first entity of the text, and whether there are other candidates of a compatible gender.
    is_subject, is_first, opens
        Whether it is the subject and the first entity, of this sentence or of the one before; whether the pronoun
        opens its sentence.
    is_parallel, is_spoken_of, is_repeated
        Whether the roles agree, whether the last pronoun of this gender was the entity's, and whether the last mention
        is the same pronoun.
    """

    case: str
    role: int
    kind: int
    sentences: int
    words: int
    rank: int
    mentions: int
    agreement: str
    evidence: str
    person: bool
    quotations: tuple[bool, bool, bool]
    is_topic: bool
    has_rivals: bool
    is_subject: bool
    is_first: bool
    opens: bool
    is_parallel: bool
    is_spoken_of: bool
    is_repeated: bool


def relate(pronoun: DetectedMention, entity: Entity, entities: Entities, rank: int, compatible: int) -> Relation:
    """Return the relation of a pronoun and an entity.

    Parameters
    ----------
    rank
        Number of entities of a compatible gender that were mentioned since the entity.
    compatible
        Number of candidates of a compatible gender.
    """
    last, gender, sentence = entity.last, entity.gender, pronoun.sentence
    apart = sentence - last.sentence
    beside = sentence if apart == 0 else sentence - 1
    return Relation(
        _case(pronoun),
        last.role,
        last.kind,
        bisect_right(_FAR, apart),
        bisect_right(_WORDS, pronoun.first - last.last) if apart == 0 else 0,
        min(rank, 5),
        bisect_right(_COUNTS, len(entity.mentions)),
        "-" if gender == UNKNOWN else "=" if gender == pronoun.gender else "#",
        "p" if entity.by_pronoun else "l" if gender != UNKNOWN else "",
        entity.person,
        (pronoun.quote > 0, last.quote > 0, pronoun.quote == last.quote),
        entity.number == 0,
        compatible > 1,
        entities.subject_of.get(beside) is entity,
        entities.first_of.get(beside) is entity,
        apart != 0 and entities.first_of.get(sentence) is None,
        last.role == pronoun.role,
        entities.last_pronoun.get(pronoun.gender) is entity,
        last.kind == PRONOUN and last.key == pronoun.key,
    )


def list_features(relation: Relation) -> list[str]:
    """List the names of the features of a pronoun and a candidate antecedent."""
    case, role, kind, far, words, rank, mentions, agreement, evidence, person = relation[:10]
    near = min(far, 2)
    in_quotation, last_in_quotation, same_quotation = relation.quotations
    features = [
        f"apart {case} {far}",
        f"rank {rank} {near}",
        f"rank {case} {min(rank, 3)}",
        f"role {case} {role} {near}",
        f"kind {kind} {near}",
        f"gender {agreement}{evidence}",
        f"gender {agreement}{kind}",
        f"count {mentions} {near}",
        f"person {person} {agreement}",
        f"quote {in_quotation}{last_in_quotation}{same_quotation} {near}",
        f"topic {relation.is_topic} {near} {relation.has_rivals}",
    ]
    if far == 0:
        features.append(f"words {case} {words}")
        features.append(f"subject here {case} {relation.is_subject}")
        features.append(f"first here {case} {relation.is_first}")
    else:
        features.append(f"subject before {case} {relation.is_subject} {relation.opens}")
        features.append(f"first before {case} {relation.is_first} {relation.opens}")
    if relation.is_parallel:
        features.append(f"parallel {case} {near}")
    features.append(f"spoken of {case} {relation.is_spoken_of} {near}")
    if kind == PRONOUN:
        features.append(f"repeat {case} {relation.is_repeated} {near}")
    return features


def list_new_entity_features(pronoun: DetectedMention, compatible: int) -> list[str]:
    """List the names of the features of a pronoun that refers to a new entity."""
    case = _case(pronoun)
    return [
        f"{NEW} {case}",
        f"{NEW} sentence {min(pronoun.sentence, 3)}",
        f"{NEW} rivals {min(compatible, 3)}",
        f"{NEW} quote {pronoun.quote > 0}",
        f"{NEW} gender {pronoun.gender}",
    ]


def _case(pronoun: DetectedMention) -> str:
    return "soprx"[pronoun.role - 1] if pronoun.role else "x"

"""Binary features of a pronoun and a candidate antecedent, for a log-linear model."""

from macroscope.critics.coreference.rules.detection import PRONOUN, DetectedMention
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.lexicon import UNKNOWN

NEW = "new"
"""Prefix of the feature names of a pronoun without antecedent."""
_FAR = (1, 2, 3, 4, 6, 10)
_COUNTS = (2, 3, 5, 9)
_WORDS = (3, 6, 11, 20)


def list_features(
    pronoun: DetectedMention, entity: Entity, entities: Entities, rank: int, compatible: int
) -> list[str]:
    """List the names of the features of a pronoun and an entity.

    Parameters
    ----------
    rank
        Number of entities of a compatible gender that were mentioned since the entity.
    compatible
        Number of candidates of a compatible gender.
    """
    last, case = entity.last, "soprx"[pronoun.role - 1] if pronoun.role else "x"
    apart = pronoun.sentence - last.sentence
    near = min(apart, 2)
    far = sum(apart >= limit for limit in _FAR)
    agreement = "-" if entity.gender == UNKNOWN else "=" if entity.gender == pronoun.gender else "#"
    evidence = "p" if entity.by_pronoun else "l" if entity.gender != UNKNOWN else ""
    features = [
        f"apart {case} {far}",
        f"rank {min(rank, 5)} {near}",
        f"rank {case} {min(rank, 3)}",
        f"role {case} {last.role} {near}",
        f"kind {last.kind} {near}",
        f"gender {agreement}{evidence}",
        f"gender {agreement}{last.kind}",
        f"count {sum(len(entity.mentions) >= limit for limit in _COUNTS)} {near}",
        f"person {entity.person} {agreement}",
        f"quote {pronoun.quote > 0}{last.quote > 0}{pronoun.quote == last.quote} {near}",
        f"topic {entity.number == 0} {near} {compatible > 1}",
    ]
    sentence = pronoun.sentence
    opens = entities.first_of.get(sentence) is None
    if apart == 0:
        words = pronoun.first - last.last
        features.append(f"words {case} {sum(words >= limit for limit in _WORDS)}")
        features.append(f"subject here {case} {entities.subject_of.get(sentence) is entity}")
        features.append(f"first here {case} {entities.first_of.get(sentence) is entity}")
    else:
        subject = entities.subject_of.get(sentence - 1) is entity
        features.append(f"subject before {case} {subject} {opens}")
        features.append(f"first before {case} {entities.first_of.get(sentence - 1) is entity} {opens}")
    if last.role == pronoun.role:
        features.append(f"parallel {case} {near}")
    features.append(f"spoken of {case} {entities.last_pronoun.get(pronoun.gender) is entity} {near}")
    if last.kind == PRONOUN:
        features.append(f"repeat {case} {last.key == pronoun.key} {near}")
    return features


def list_new_entity_features(pronoun: DetectedMention, compatible: int) -> list[str]:
    """List the names of the features of a pronoun that refers to a new entity."""
    case = "soprx"[pronoun.role - 1] if pronoun.role else "x"
    return [
        f"{NEW} {case}",
        f"{NEW} sentence {min(pronoun.sentence, 3)}",
        f"{NEW} rivals {min(compatible, 3)}",
        f"{NEW} quote {pronoun.quote > 0}",
        f"{NEW} gender {pronoun.gender}",
    ]

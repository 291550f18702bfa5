"""What speaks for an entity as the one that a pronoun means: features of a log-linear model, all binary."""

from macroscope.critics.coreference.rules.detection import PRONOUN, Found
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.lexicon import UNKNOWN

NEW = "new"
"""What the feature names of a pronoun without antecedent begin with."""
_FAR = (1, 2, 3, 4, 6, 10)
_COUNTS = (2, 3, 5, 9)
_WORDS = (3, 6, 11, 20)


def features_of(pronoun: Found, entity: Entity, entities: Entities, rank: int, rivals: int) -> list[str]:
    """Names of the features that a pronoun and an entity have.

    Parameters
    ----------
    rank
        How many entities of a fitting gender were mentioned since the entity was.
    rivals
        How many entities of a fitting gender there are.
    """
    last, case = entity.last, "soprx"[pronoun.role - 1] if pronoun.role else "x"
    apart = pronoun.sentence - last.sentence
    near = min(apart, 2)
    far = sum(apart >= limit for limit in _FAR)
    known = "-" if entity.gender == UNKNOWN else "=" if entity.gender == pronoun.gender else "#"
    evidence = "p" if entity.by_pronoun else "l" if entity.gender != UNKNOWN else ""
    found = [
        f"apart {case} {far}",
        f"rank {min(rank, 5)} {near}",
        f"rank {case} {min(rank, 3)}",
        f"role {case} {last.role} {near}",
        f"kind {last.kind} {near}",
        f"gender {known}{evidence}",
        f"gender {known}{last.kind}",
        f"count {sum(len(entity.mentions) >= limit for limit in _COUNTS)} {near}",
        f"person {entity.person} {known}",
        f"quote {pronoun.quote > 0}{last.quote > 0}{pronoun.quote == last.quote} {near}",
        f"topic {entity.number == 0} {near} {rivals > 1}",
    ]
    sentence = pronoun.sentence
    opens = entities.first_of.get(sentence) is None
    if apart == 0:
        words = pronoun.first - last.last
        found.append(f"words {case} {sum(words >= limit for limit in _WORDS)}")
        found.append(f"subject here {case} {entities.subject_of.get(sentence) is entity}")
        found.append(f"first here {case} {entities.first_of.get(sentence) is entity}")
    else:
        subject = entities.subject_of.get(sentence - 1) is entity
        found.append(f"subject before {case} {subject} {opens}")
        found.append(f"first before {case} {entities.first_of.get(sentence - 1) is entity} {opens}")
    if last.role == pronoun.role:
        found.append(f"parallel {case} {near}")
    found.append(f"spoken of {case} {entities.last_pronoun.get(pronoun.gender) is entity} {near}")
    if last.kind == PRONOUN:
        found.append(f"repeat {case} {last.key == pronoun.key} {near}")
    return found


def features_of_new(pronoun: Found, rivals: int) -> list[str]:
    """Names of the features of a pronoun that means nobody who was mentioned before."""
    case = "soprx"[pronoun.role - 1] if pronoun.role else "x"
    return [
        f"{NEW} {case}",
        f"{NEW} sentence {min(pronoun.sentence, 3)}",
        f"{NEW} rivals {min(rivals, 3)}",
        f"{NEW} quote {pronoun.quote > 0}",
        f"{NEW} gender {pronoun.gender}",
    ]

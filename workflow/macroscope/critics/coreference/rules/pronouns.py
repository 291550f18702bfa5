"""Antecedents of third-person pronouns, by a sieve of rules or a log-linear ranker with learnt weights."""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from macroscope.critics.coreference.rules.detection import PRONOUN, DetectedMention
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.lexicon import PLURAL, UNKNOWN
from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES, read_json

# ---- features --------------------------------------------------------------------------------------------------------
# Binary features of a pronoun and a candidate antecedent, for a log-linear model.

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


# ---- pronouns --------------------------------------------------------------------------------------------------------

CANDIDATES = 16
"""Largest number of candidate antecedents, the latest mentioned first."""
WEIGHTS = RESOURCES / "pronoun_weights.json"


@dataclass(frozen=True)
class PronounContext:
    """A pronoun with its candidate antecedents.

    Attributes
    ----------
    pronoun
        Mention to resolve.
    candidates
        Entities, the latest mentioned first, each with the number of entities of a compatible gender mentioned since.
    compatible
        Number of candidates of a compatible gender.
    entities
        All entities so far.
    """

    pronoun: DetectedMention
    candidates: list[tuple[Entity, int]]
    compatible: int
    entities: Entities


Choose = Callable[[PronounContext], Entity | None]
"""Function that returns the antecedent of a pronoun, or None for a new entity."""


def make_context(pronoun: DetectedMention, entities: Entities) -> PronounContext:
    """Collect the candidates of a pronoun: recently mentioned entities, without speakers of "I", "we", "you"."""
    candidates: list[tuple[Entity, int]] = []
    rank = 0
    for entity in entities.most_recent():
        if entity.last.last > pronoun.first:
            continue
        candidates.append((entity, rank))
        rank += entity.allows(pronoun.gender)
        if len(candidates) == CANDIDATES:
            break
    return PronounContext(pronoun, candidates, rank, entities)


def choose_by_sieve(context: PronounContext) -> Entity | None:
    """Return the first compatible entity: subject of this sentence, of the last one, then any, the latest first.

    "They" needs an entity that is known to be plural; for other pronouns, an entity of unknown gender is compatible.
    """
    pronoun, entities = context.pronoun, context.entities
    fitting = [
        entity
        for entity, _ in context.candidates
        if entity.gender == pronoun.gender or (entity.allows(pronoun.gender) and pronoun.gender != PLURAL)
    ]
    now, before = pronoun.sentence, pronoun.sentence - 1
    for entity in (
        entities.subject_of.get(now),
        entities.first_of.get(now),
        entities.subject_of.get(before),
        entities.first_of.get(before),
    ):
        if entity in fitting:
            return entity
    return fitting[0] if fitting else None


@dataclass(frozen=True)
class Ranker:
    """Log-linear model over the candidates and "new entity"; it chooses the highest score.

    Attributes
    ----------
    weights
        Name of a feature -> its weight; other features have weight 0.
    texts
        Fingerprints of the training texts.
    scores
        Scores of the relations that have occurred, which repeat: to name their features takes most of the time.
    """

    weights: Mapping[str, float]
    texts: frozenset[int] = frozenset()
    scores: dict[Relation, float] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, context: PronounContext) -> Entity | None:
        """Return the best candidate, or None for a new entity."""
        chosen, most = None, self._score(list_new_entity_features(context.pronoun, context.compatible))
        for entity, rank in context.candidates:
            relation = relate(context.pronoun, entity, context.entities, rank, context.compatible)
            score = self.scores.get(relation)
            if score is None:
                score = self.scores[relation] = self._score(list_features(relation))
            if score > most:
                chosen, most = entity, score
        return chosen

    def _score(self, features: list[str]) -> float:
        get = self.weights.get
        return sum(get(feature, 0.0) for feature in features)


@cache
def load_ranker(path: Path = WEIGHTS) -> Ranker:
    """Load the weights of a ranker; `tests/benchmarks/coreference` trained those of the project.

    Raises
    ------
    MacroscopeError
        If the file has no weights of a ranker.
    """
    read = read_json(path)
    if not {"weights", "texts"} <= set(read):
        raise MacroscopeError(f"{path}: no weights of a ranker; give the file that `train-ranker` wrote")
    return Ranker(read["weights"], frozenset(read["texts"]))


def fingerprint(text: str) -> int:
    return crc32(text.encode())

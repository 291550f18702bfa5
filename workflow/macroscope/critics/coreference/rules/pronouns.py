"""Antecedents of third-person pronouns, by a sieve of rules or a log-linear ranker with learnt weights."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from zlib import crc32

from macroscope.critics.coreference.rules.detection import DetectedMention
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.features import Relation, list_features, list_new_entity_features, relate
from macroscope.critics.coreference.rules.lexicon import PLURAL
from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES, read_json

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
        Name of a feature (`features`) -> its weight; other features have weight 0.
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
    """Return a checksum by which training texts are recognised."""
    return crc32(text.encode())

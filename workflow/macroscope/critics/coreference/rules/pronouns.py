"""Who a pronoun of the third person means: a sieve of rules, or a log-linear ranker with learnt weights."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

from macroscope.critics.coreference.rules.detection import Found
from macroscope.critics.coreference.rules.entities import Entities, Entity
from macroscope.critics.coreference.rules.features import features_of, features_of_new
from macroscope.critics.coreference.rules.lexicon import PLURAL
from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES, read_json

CANDIDATES = 16
"""How many entities are looked at, the latest mentioned first."""
WEIGHTS = RESOURCES / "pronoun_weights.json"


@dataclass(frozen=True)
class Question:
    """A pronoun, and whom it may mean.

    Attributes
    ----------
    pronoun
        The mention.
    candidates
        Entities, the latest mentioned first, each with how many entities of a fitting gender were mentioned since.
    rivals
        How many of the candidates are of a fitting gender.
    entities
        Everybody so far.
    """

    pronoun: Found
    candidates: list[tuple[Entity, int]]
    rivals: int
    entities: Entities


Choose = Callable[[Question], Entity | None]
"""Answers a question; None is somebody new."""


def question(pronoun: Found, entities: Entities) -> Question:
    """Ask whom a pronoun means: all that were mentioned not long ago, but for the speakers of "I", "we", "you"."""
    candidates: list[tuple[Entity, int]] = []
    rank = 0
    for entity in entities.most_recent():
        if entity.last.last > pronoun.first:
            continue
        candidates.append((entity, rank))
        rank += entity.allows(pronoun.gender)
        if len(candidates) == CANDIDATES:
            break
    return Question(pronoun, candidates, rank, entities)


def by_sieve(asked: Question) -> Entity | None:
    """Whoever fits first: subject of this sentence, subject of the last one, anybody, the latest mentioned first.

    "They" is somebody who is known to be many; of others it is enough that nothing tells another gender.
    """
    pronoun, entities = asked.pronoun, asked.entities
    fitting = [
        entity
        for entity, _ in asked.candidates
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
    """A log-linear model over the candidates and "somebody new": the one with the highest score is chosen.

    Attributes
    ----------
    weights
        Name of a feature (`features`) -> its weight; a feature that is not there weighs nothing.
    texts
        Fingerprints of the texts that it was trained on.
    """

    weights: Mapping[str, float]
    texts: frozenset[int] = frozenset()

    def __call__(self, asked: Question) -> Entity | None:
        """Return the best candidate, or None for somebody new."""
        chosen, most = None, self._score(features_of_new(asked.pronoun, asked.rivals))
        for entity, rank in asked.candidates:
            score = self._score(features_of(asked.pronoun, entity, asked.entities, rank, asked.rivals))
            if score > most:
                chosen, most = entity, score
        return chosen

    def _score(self, features: list[str]) -> float:
        get = self.weights.get
        return sum(get(feature, 0.0) for feature in features)


@cache
def learnt_ranker(path: Path = WEIGHTS) -> Ranker:
    """Read the project's ranker; `evaluation.ranker_training` says how it was trained."""
    read = read_json(path)
    if not {"weights", "texts"} <= set(read):
        raise MacroscopeError(f"{path}: no weights of a ranker; make some with `macroscope critics train-ranker`")
    return Ranker(read["weights"], frozenset(read["texts"]))


def fingerprint(text: str) -> int:
    """What a text is known by that was trained on."""
    return crc32(text.encode())

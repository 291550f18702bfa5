"""Training of the ranker of pronouns, on gold data of which half is never trained on.

Data: the clusters of LitBank (Bamman, Lewke and Mansoor 2020; CC BY 4.0) and the pronouns of GAP (Webster et al. 2018;
Apache 2.0), of each the documents and pages that are not held out (`evaluation.gold.is_held_out`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from macroscope.critics.coreference.evaluation.gap import Example, is_of
from macroscope.critics.coreference.evaluation.gold import GoldDocument, Span
from macroscope.critics.coreference.rules.detection import PRONOUN, Found
from macroscope.critics.coreference.rules.entities import Entity
from macroscope.critics.coreference.rules.features import features_of, features_of_new
from macroscope.critics.coreference.rules.pronouns import Choose, Question, Ranker, by_sieve
from macroscope.critics.coreference.rules.resolve import resolve_words
from macroscope.critics.coreference.rules.words import Words, words_of

ROUNDS = 3
GAP_WEIGHT = 4
"""How often a pronoun of GAP counts: it is one of a text, chosen because it is hard."""
FEWEST = 10
"""Questions that must have a feature for it to have a weight."""
RIDGE = 0.5


@dataclass(frozen=True)
class Answered:
    """A pronoun of gold data: features of "somebody new" and of every candidate, and which of these are right."""

    features: list[list[str]]
    right: list[int]


def train(documents: Sequence[GoldDocument], examples: Sequence[Example]) -> dict[str, float]:
    """Train a ranker: the weights of its features.

    The pronouns before the one that is asked about are resolved by the ranker of the round before (first by the gold
    clusters, or by the sieve where there are none), so that it learns from texts as it will find them.
    """
    ranker: Ranker | None = None
    weights: dict[str, float] = {}
    for _ in range(ROUNDS):
        questions = [found for document in documents for found in answered_in(document, ranker)]
        for example in examples:
            questions += GAP_WEIGHT * answered_by(example, ranker or by_sieve)
        weights = fit(questions)
        ranker = Ranker(weights)
    return weights


def answered_in(document: GoldDocument, ranker: Ranker | None) -> list[Answered]:
    """Every pronoun of a document that has a gold cluster; a candidate is right where most of its mentions have it."""
    cluster_of = {span: number for number, cluster in enumerate(document.clusters) for span in cluster}
    starting: dict[int, list[Span]] = {}
    for span in cluster_of:
        starting.setdefault(span[0], []).append(span)
    found: list[Answered] = []

    def gold(mention: Found) -> int | None:
        exact = cluster_of.get((mention.first, mention.last))
        if exact is not None or mention.kind == PRONOUN:
            return exact
        around: list[Span] = [span for span in starting.get(mention.first, ()) if span[1] > mention.head]
        return cluster_of[min(around, key=lambda span: span[1])] if around else None

    def choose(asked: Question) -> Entity | None:
        own = ranker(asked) if ranker is not None else None
        cluster = gold(asked.pronoun)
        if cluster is None:
            return own
        right = [n for n, (entity, _) in enumerate(asked.candidates, 1) if _most(entity, gold) == cluster]
        found.append(Answered(_features(asked), right or [0]))
        if ranker is not None:
            return own
        return asked.candidates[right[0] - 1][0] if right else None

    resolve_words(document.words, choose)
    return found


def answered_by(example: Example, choose: Choose) -> list[Answered]:
    """The pronoun of an example, where there is a candidate for what people said of it."""
    words = words_of(example.text)
    found: list[Answered] = []

    def asked_about(asked: Question) -> Entity | None:
        if words.starts[asked.pronoun.first] == example.pronoun:
            right = _right(asked, example, words)
            if right:
                found.append(Answered(_features(asked), right))
        return choose(asked)

    resolve_words(words, asked_about)
    return found


def fit(questions: Sequence[Answered]) -> dict[str, float]:
    """Weights of the features that maximise the likelihood of the right answers, with a penalty on their squares.

    Where several answers are right, their probabilities are added up.
    """
    counts = Counter(name for asked in questions for features in asked.features for name in features)
    index = {name: number for number, name in enumerate(sorted(name for name, n in counts.items() if n >= FEWEST))}
    rows: list[int] = []
    columns: list[int] = []
    right: list[bool] = []
    sizes: list[int] = []
    for asked in questions:
        sizes.append(len(asked.features))
        for number, features in enumerate(asked.features):
            known = [index[name] for name in features if name in index]
            rows += [len(right)] * len(known)
            columns += known
            right.append(number in asked.right)
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(right), len(index)))
    lengths = np.array(sizes)
    starts, group, mask = np.cumsum(lengths) - lengths, np.repeat(np.arange(len(sizes)), lengths), np.array(right)

    def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        scores = matrix @ weights
        powers = np.exp(scores - np.maximum.reduceat(scores, starts)[group])
        all_of, right_of = np.add.reduceat(powers, starts), np.add.reduceat(powers * mask, starts)
        gradient = matrix.T @ (powers / all_of[group] - powers * mask / right_of[group]) + 2 * RIDGE * weights
        return float(np.log(all_of / right_of).sum() + RIDGE * weights @ weights), gradient

    found = minimize(loss, np.zeros(len(index)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return {name: round(float(found.x[number]), 4) for name, number in index.items()}


def _features(asked: Question) -> list[list[str]]:
    return [
        features_of_new(asked.pronoun, asked.rivals),
        *(features_of(asked.pronoun, e, asked.entities, rank, asked.rivals) for e, rank in asked.candidates),
    ]


def _most(entity: Entity, gold: Callable[[Found], int | None]) -> int | None:
    return Counter(gold(mention) for mention in entity.mentions).most_common(1)[0][0]


def _right(asked: Question, example: Example, words: Words) -> list[int]:
    """Answers that agree with what people said: the name that is meant; anybody but the two where neither is."""
    meant: set[int] = set()
    not_meant: set[int] = set()
    for number, (entity, _) in enumerate(asked.candidates, 1):
        for start, end, gold in example.names:
            if any(
                is_of(words.starts[m.head], words.ends[m.head], (start, end, gold))
                for m in entity.mentions
                if m.kind != PRONOUN
            ):
                (meant if gold else not_meant).add(number)
    if any(gold for *_, gold in example.names):
        return sorted(meant - not_meant)
    return [number for number in range(len(asked.candidates) + 1) if number not in not_meant]

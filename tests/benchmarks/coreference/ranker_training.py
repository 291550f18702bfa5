"""Training of the pronoun ranker on one half of the gold data; the other half is held out.

Data: the clusters of LitBank (Bamman, Lewke and Mansoor 2020; CC BY 4.0) and the pronouns of GAP (Webster et al. 2018;
Apache 2.0), without held-out documents and pages (`gold.is_held_out`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from tests.benchmarks.coreference.gap import Example, overlaps_name
from tests.benchmarks.coreference.gold import GoldDocument, Span

from macroscope.critics.coreference.rules.detection import PRONOUN, DetectedMention
from macroscope.critics.coreference.rules.entities import Entity
from macroscope.critics.coreference.rules.lexicon import Words, tokenize
from macroscope.critics.coreference.rules.pronouns import (
    Choose,
    PronounContext,
    Ranker,
    choose_by_sieve,
    list_features,
    list_new_entity_features,
    relate,
)
from macroscope.critics.coreference.rules.resolve import resolve_words

ROUNDS = 3
GAP_WEIGHT = 4
"""Weight of a GAP pronoun: there is one per text, selected for its difficulty."""
FEWEST = 10
"""Smallest number of occurrences of a feature that gets a weight."""
RIDGE = 0.5


@dataclass(frozen=True)
class LabelledPronoun:
    """A pronoun with its gold antecedents.

    Attributes
    ----------
    features
        Features of "new entity" and of every candidate.
    right
        Indices of the correct ones of these.
    """

    features: list[list[str]]
    right: list[int]


def train(documents: Sequence[GoldDocument], examples: Sequence[Example]) -> dict[str, float]:
    """Train a ranker; return the weights of its features.

    Preceding pronouns are resolved by the ranker of the previous round (in the first round by the gold clusters, or by
    the sieve without these), so that training matches the conditions of use.
    """
    ranker: Ranker | None = None
    weights: dict[str, float] = {}
    for _ in range(ROUNDS):
        pronouns = [pronoun for document in documents for pronoun in collect_from_document(document, ranker)]
        for example in examples:
            pronouns += GAP_WEIGHT * collect_from_example(example, ranker or choose_by_sieve)
        weights = fit(pronouns)
        ranker = Ranker(weights)
    return weights


def collect_from_document(document: GoldDocument, ranker: Ranker | None) -> list[LabelledPronoun]:
    """Collect the pronouns of a document with a gold cluster; correct candidates have most mentions in this cluster."""
    cluster_of = {span: number for number, cluster in enumerate(document.clusters) for span in cluster}
    starting: dict[int, list[Span]] = {}
    for span in cluster_of:
        starting.setdefault(span[0], []).append(span)
    pronouns: list[LabelledPronoun] = []

    def gold(mention: DetectedMention) -> int | None:
        exact = cluster_of.get((mention.first, mention.last))
        if exact is not None or mention.kind == PRONOUN:
            return exact
        around: list[Span] = [span for span in starting.get(mention.first, ()) if span[1] > mention.head]
        return cluster_of[min(around, key=lambda span: span[1])] if around else None

    def choose(context: PronounContext) -> Entity | None:
        choice = ranker(context) if ranker is not None else None
        cluster = gold(context.pronoun)
        if cluster is None:
            return choice
        right = [n for n, (entity, _) in enumerate(context.candidates, 1) if _majority_cluster(entity, gold) == cluster]
        pronouns.append(LabelledPronoun(_list_features(context), right or [0]))
        if ranker is not None:
            return choice
        return context.candidates[right[0] - 1][0] if right else None

    resolve_words(document.words, choose)
    return pronouns


def collect_from_example(example: Example, choose: Choose) -> list[LabelledPronoun]:
    """Collect the pronoun of an example, if there is a candidate that agrees with the annotation."""
    words = tokenize(example.text)
    pronouns: list[LabelledPronoun] = []

    def collect(context: PronounContext) -> Entity | None:
        if words.starts[context.pronoun.first] == example.pronoun:
            right = _find_correct(context, example, words)
            if right:
                pronouns.append(LabelledPronoun(_list_features(context), right))
        return choose(context)

    resolve_words(words, collect)
    return pronouns


def fit(pronouns: Sequence[LabelledPronoun]) -> dict[str, float]:
    """Fit feature weights by maximum likelihood of the correct candidates, with an L2 penalty.

    If several candidates are correct, their probabilities are summed.
    """
    counts = Counter(name for pronoun in pronouns for features in pronoun.features for name in features)
    index = {name: number for number, name in enumerate(sorted(name for name, n in counts.items() if n >= FEWEST))}
    rows: list[int] = []
    columns: list[int] = []
    right: list[bool] = []
    sizes: list[int] = []
    for pronoun in pronouns:
        sizes.append(len(pronoun.features))
        for number, features in enumerate(pronoun.features):
            indices = [index[name] for name in features if name in index]
            rows += [len(right)] * len(indices)
            columns += indices
            right.append(number in pronoun.right)
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(right), len(index)))
    lengths = np.array(sizes)
    starts, group, mask = np.cumsum(lengths) - lengths, np.repeat(np.arange(len(sizes)), lengths), np.array(right)

    def loss(weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        scores = matrix @ weights
        powers = np.exp(scores - np.maximum.reduceat(scores, starts)[group])
        all_of, right_of = np.add.reduceat(powers, starts), np.add.reduceat(powers * mask, starts)
        gradient = matrix.T @ (powers / all_of[group] - powers * mask / right_of[group]) + 2 * RIDGE * weights
        return float(np.log(all_of / right_of).sum() + RIDGE * weights @ weights), gradient

    optimum = minimize(loss, np.zeros(len(index)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return {name: round(float(optimum.x[number]), 4) for name, number in index.items()}


def _list_features(context: PronounContext) -> list[list[str]]:
    return [
        list_new_entity_features(context.pronoun, context.compatible),
        *(
            list_features(relate(context.pronoun, e, context.entities, rank, context.compatible))
            for e, rank in context.candidates
        ),
    ]


def _majority_cluster(entity: Entity, gold: Callable[[DetectedMention], int | None]) -> int | None:
    return Counter(gold(mention) for mention in entity.mentions).most_common(1)[0][0]


def _find_correct(context: PronounContext, example: Example, words: Words) -> list[int]:
    """Return the candidates that agree with the annotation: the correct name, or any but the two names if none is."""
    meant: set[int] = set()
    not_meant: set[int] = set()
    for number, (entity, _) in enumerate(context.candidates, 1):
        for start, end, gold in example.names:
            if any(
                overlaps_name(words.starts[m.head], words.ends[m.head], (start, end, gold))
                for m in entity.mentions
                if m.kind != PRONOUN
            ):
                (meant if gold else not_meant).add(number)
    if any(gold for *_, gold in example.names):
        return sorted(meant - not_meant)
    return [number for number in range(len(context.candidates) + 1) if number not in not_meant]

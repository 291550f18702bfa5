"""The embedded resolver on gold data, and the training of its ranker."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pandas as pd

from macroscope.critics.coreference.evaluation.gap import Example, answers, gap_scores, read_examples
from macroscope.critics.coreference.evaluation.gold import GoldDocument, Span, is_held_out, read_gold
from macroscope.critics.coreference.evaluation.gold_chains import chain_perplexities, text_of
from macroscope.critics.coreference.evaluation.metrics import Clusters, Score, conll_mean, evaluate
from macroscope.critics.coreference.evaluation.ranker_training import train
from macroscope.critics.coreference.rules.pronouns import (
    WEIGHTS,
    Choose,
    Ranker,
    by_sieve,
    fingerprint,
    learnt_ranker,
)
from macroscope.critics.coreference.rules.resolve import resolve_text, resolve_words
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.progress import progress

RANKERS = ("learnt", "sieve")
HELD_OUT, TRAINED_ON = "held out", "trained on"


def evaluate_resolver(gap: Path | None, gold: Path | None, ranker: str, weights: Path | None) -> pd.DataFrame:
    """Measure the resolver, apart for the texts that its ranker was trained on.

    Returns
    -------
    data frame
        data, part ("held out", "trained on"), n, measure, precision, recall, f1 (all in percent), value: the bias
        ratio of GAP (F1 of feminine over that of masculine pronouns), the CoNLL mean F1 in percent, and latent PPL by
        gold and by resolved chains (`gold_chains`).
    """
    if gap is None and gold is None:
        raise MacroscopeError("nothing to measure on; give --gap, --gold, or both")
    if ranker not in RANKERS:
        raise MacroscopeError(f"--ranker {ranker}: it is one of {', '.join(RANKERS)}")
    learnt = learnt_ranker(weights or WEIGHTS)
    choose: Choose = by_sieve if ranker == "sieve" else learnt
    rows: list[tuple[str, str, int, *Row]] = []
    if gap is not None:
        for part, examples in _parts(read_examples(gap), lambda example: example.text, learnt):
            rows += [(gap.name, part, len(examples), *row) for row in _on_gap(examples, choose)]
    if gold is not None:
        documents = read_gold(gold)
        for part, some in _parts(documents, text_of, learnt):
            rows += [(gold.name, part, len(some), *row) for row in _on_gold(some, choose)]
        perplexities = chain_perplexities(documents, choose)
        rows += [
            (gold.name, "one half by the other", len(documents), f"latent PPL {name}", None, None, None, value)
            for name, value in perplexities.items()
        ]
    return pd.DataFrame(rows, columns=["data", "part", "n", "measure", "precision", "recall", "f1", "value"])


def train_ranker(gap: Path, gold: Path, output: Path) -> None:
    """Train the ranker on what is not held out; write its weights, and what it was trained on."""
    examples = [example for example in read_examples(gap) if not is_held_out(example.page)]
    documents = [document for document in read_gold(gold) if not is_held_out(document.name)]
    weights = train(documents, examples)
    texts = {fingerprint(example.text) for example in examples} | {fingerprint(text_of(some)) for some in documents}
    about = f"{len(examples)} pronouns of {gap.name}; {len(documents)} documents of {gold.name}"
    write_json(output, {"trained_on": about, "weights": weights, "texts": sorted(texts)})


T = TypeVar("T")


def _parts(items: Sequence[T], text: Callable[[T], str], learnt: Ranker) -> Iterator[tuple[str, list[T]]]:
    """Those that a ranker was not trained on, and those that it was; neither where there are none."""
    for part in (HELD_OUT, TRAINED_ON):
        some = [item for item in items if (fingerprint(text(item)) in learnt.texts) == (part == TRAINED_ON)]
        if some:
            yield part, some


Row = tuple[str, float | None, float | None, float | None, float | None]
"""measure, precision, recall, F1, value."""


def _on_gap(examples: Sequence[Example], choose: Choose) -> list[Row]:
    found = progress(examples, "resolve GAP", unit="examples")
    scores = gap_scores(
        examples, [answers(example, resolve_text(example.id, example.text, choose)) for example in found]
    )
    rows = [_row(f"GAP {name}", score) for name, score in scores.items()]
    masculine = scores["masculine"].f1
    ratio = scores["feminine"].f1 / masculine if masculine else float("nan")
    return [*rows, ("GAP bias ratio", None, None, None, ratio)]


def _on_gold(documents: Sequence[GoldDocument], choose: Choose) -> list[Row]:
    found = progress(documents, "resolve gold documents", unit="documents")
    scores = evaluate((_mentioned_again(d.clusters), resolved_clusters(d, choose)) for d in found)
    rows = [_row(name, score) for name, score in scores.items()]
    return [*rows, ("CoNLL mean", None, None, None, 100 * conll_mean(scores))]


def resolved_clusters(document: GoldDocument, choose: Choose) -> Clusters:
    """Clusters of a gold document as the resolver has them; those of one mention are left out, as in CoNLL-2012."""
    clusters: dict[int, set[Span]] = defaultdict(set)
    for mention, entity in resolve_words(document.words, choose):
        clusters[entity].add((mention.first, mention.last))
    return _mentioned_again([frozenset(cluster) for cluster in clusters.values()])


def _mentioned_again(clusters: Clusters) -> Clusters:
    return [cluster for cluster in clusters if len(cluster) > 1]


def _row(name: str, score: Score) -> Row:
    return name, 100 * score.precision, 100 * score.recall, 100 * score.f1, None

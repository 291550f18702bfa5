"""Evaluation of the embedded resolver on gold data, and training of its ranker."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import TypeVar

import pandas as pd
from tests.benchmarks.coreference.gap import Example, match_names, read_examples, score_gap
from tests.benchmarks.coreference.gold import GoldDocument, Span, is_held_out, read_gold
from tests.benchmarks.coreference.gold_chains import compute_chain_perplexities, join_words
from tests.benchmarks.coreference.metrics import Clusters, Score, conll_mean, evaluate
from tests.benchmarks.coreference.ranker_training import train

from macroscope.critics.coreference.rules.lexicon import add_annotation
from macroscope.critics.coreference.rules.pronouns import (
    WEIGHTS,
    Choose,
    Ranker,
    choose_by_sieve,
    fingerprint,
    load_ranker,
)
from macroscope.critics.coreference.rules.resolve import resolve_text, resolve_words
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.natural_language.spacy_pipeline import annotate, pin
from macroscope.progress import progress

RANKERS = ("learnt", "sieve")
HELD_OUT, TRAINED_ON = "held out", "trained on"


def evaluate_resolver(
    gap: Path | None, gold: Path | None, ranker: str, weights: Path | None, pipeline: str | None = None
) -> pd.DataFrame:
    """Evaluate the resolver, separately on held-out texts and on texts that its ranker was trained on.

    Parameters
    ----------
    pipeline
        Pipeline of spaCy that gives names and noun phrases; of gold documents, words and sentences are the gold ones.

    Returns
    -------
    data frame
        data, part ("held out", "trained on"), n, measure, precision, recall, f1 (all in percent), value: the bias
        ratio of GAP (F1 of feminine over that of masculine pronouns), the CoNLL mean F1 in percent, and latent PPL by
        gold and by resolved chains (`gold_chains`).

    Raises
    ------
    MacroscopeError
        If neither `gap` nor `gold` is given, or `ranker` is unknown.
    """
    if gap is None and gold is None:
        raise MacroscopeError("no gold data to measure on; give --gap, --gold, or both")
    if ranker not in RANKERS:
        raise MacroscopeError(f"--ranker {ranker}: no such ranker; choose one of {', '.join(RANKERS)}")
    pipeline = pin(pipeline) if pipeline else None
    learnt = load_ranker(weights or WEIGHTS)
    choose: Choose = choose_by_sieve if ranker == "sieve" else learnt
    rows: list[tuple[str, str, int, *Row]] = []
    if gap is not None:
        for part, examples in _split_by_training(read_examples(gap), lambda example: example.text, learnt):
            rows += [(gap.name, part, len(examples), *row) for row in _evaluate_gap(examples, choose, pipeline)]
    if gold is not None:
        documents = read_gold(gold)
        if pipeline is not None:
            annotated = zip(documents, annotate(map(join_words, documents), pipeline), strict=True)
            documents = [
                replace(document, words=add_annotation(document.words, given)) for document, given in annotated
            ]
        for part, part_documents in _split_by_training(documents, join_words, learnt):
            rows += [(gold.name, part, len(part_documents), *row) for row in _evaluate_gold(part_documents, choose)]
        perplexities = compute_chain_perplexities(documents, choose)
        rows += [
            (gold.name, "one half by the other", len(documents), f"latent PPL {name}", None, None, None, value)
            for name, value in perplexities.items()
        ]
    return pd.DataFrame(rows, columns=["data", "part", "n", "measure", "precision", "recall", "f1", "value"])


def train_ranker(gap: Path, gold: Path, output: Path) -> None:
    """Train the ranker on the half that is not held out; write its weights, and fingerprints of the texts."""
    examples = [example for example in read_examples(gap) if not is_held_out(example.page)]
    documents = [document for document in read_gold(gold) if not is_held_out(document.name)]
    weights = train(documents, examples)
    texts = {fingerprint(example.text) for example in examples} | {
        fingerprint(join_words(document)) for document in documents
    }
    about = f"{len(examples)} pronouns of {gap.name}; {len(documents)} documents of {gold.name}"
    write_json(output, {"trained_on": about, "weights": weights, "texts": sorted(texts)})


T = TypeVar("T")


def _split_by_training(items: Sequence[T], text: Callable[[T], str], learnt: Ranker) -> Iterator[tuple[str, list[T]]]:
    """Yield (part, items) of the items that a ranker was and was not trained on, without empty parts."""
    for part in (HELD_OUT, TRAINED_ON):
        members = [item for item in items if (fingerprint(text(item)) in learnt.texts) == (part == TRAINED_ON)]
        if members:
            yield part, members


Row = tuple[str, float | None, float | None, float | None, float | None]
"""Measure, precision, recall, F1, value."""


def _evaluate_gap(examples: Sequence[Example], choose: Choose, pipeline: str | None) -> list[Row]:
    tracked = progress(examples, "resolve GAP", unit="examples")
    annotations = annotate((example.text for example in examples), pipeline) if pipeline else repeat(None)
    resolved = (
        resolve_text(example.id, example.text, choose, annotation)
        for example, annotation in zip(tracked, annotations, strict=False)
    )
    scores = score_gap(examples, list(map(match_names, examples, resolved)))
    rows = [_percent_row(f"GAP {name}", score) for name, score in scores.items()]
    masculine = scores["masculine"].f1
    ratio = scores["feminine"].f1 / masculine if masculine else float("nan")
    return [*rows, ("GAP bias ratio", None, None, None, ratio)]


def _evaluate_gold(documents: Sequence[GoldDocument], choose: Choose) -> list[Row]:
    tracked = progress(documents, "resolve gold documents", unit="documents")
    scores = evaluate((_drop_singletons(d.clusters), resolve_clusters(d, choose)) for d in tracked)
    rows = [_percent_row(name, score) for name, score in scores.items()]
    return [*rows, ("CoNLL mean", None, None, None, 100 * conll_mean(scores))]


def resolve_clusters(document: GoldDocument, choose: Choose) -> Clusters:
    """Resolve a gold document into clusters, without singletons, as in CoNLL-2012."""
    clusters: dict[int, set[Span]] = defaultdict(set)
    for mention, entity in resolve_words(document.words, choose):
        clusters[entity].add((mention.first, mention.last))
    return _drop_singletons([frozenset(cluster) for cluster in clusters.values()])


def _drop_singletons(clusters: Clusters) -> Clusters:
    return [cluster for cluster in clusters if len(cluster) > 1]


def _percent_row(name: str, score: Score) -> Row:
    return name, 100 * score.precision, 100 * score.recall, 100 * score.f1, None

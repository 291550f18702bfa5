"""Tests for leaks: neither position nor single sentences predict damage (the rule of cai2020 §3 does leak)."""

from functools import partial

import numpy as np
import pytest

from macroscope.critics.narrative.corruption import corrupt_splits
from macroscope.critics.narrative.evaluation import collect_decisions, predict_by_position, predict_by_single_sentence
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narratives import split_narratives
from macroscope.documents import Document
from macroscope.options import Resampling
from macroscope.statistics.agreement import auc, detection_metrics

from ....tiny import simulated_documents
from .made import make_narratives, random_sentences

pytestmark = pytest.mark.slow

RESAMPLING = Resampling(resamples=300, confidence=0.999)
WITHIN = 0.03


def options(**given):
    return NarrativeOptions(similarity=None, **{"draws": 1} | given)


def splits(number):
    """Return splits: two fifths for training, 50 for validation, the rest for testing."""
    return ["train"] * (number * 2 // 5) + ["valid"] * 50 + ["test"] * (number - number * 2 // 5 - 50)


def random_words(number=3000, sentences=12):
    """Make narratives without any coherence."""
    lines = random_sentences(number * sentences, 7, 3000, 1)
    return make_narratives([sentences] * number, splits=splits(number), write=lines.__getitem__)


def hubs(number=1000, sentences=8):
    """Make narratives whose sentences each have one of 50 common words; three in ten have hardly any other."""
    rng = np.random.default_rng(2)
    total = number * sentences
    common = random_sentences(total, 1, 50, 3)
    rest = random_sentences(total, np.where(rng.random(total) < 0.3, 1, 8), 10**7, 4)
    lines = [f"{word} {others}" for word, others in zip(common, rest, strict=True)]
    return make_narratives([sentences] * number, splits=splits(number), write=lines.__getitem__)


def wiki(number=2500):
    """Make simulated articles, whose sentences reveal topic and position; half of them are repeated elsewhere."""
    documents = simulated_documents("process", number, 4)
    return split_narratives(
        (Document(d.id, split, None, d.sections) for d, split in zip(documents, splits(number), strict=True)), "en"
    )


@pytest.fixture(scope="module")
def collections():
    return {"random": random_words(), "wiki": wiki(), "hubs": hubs()}


def scored(narratives, critic_options, task):
    """Return the decisions of the two baselines without coherence on the test split."""
    examples, _ = corrupt_splits(narratives, critic_options, task, 5)
    train, test = examples["train"], examples["test"]
    return {
        "position": collect_decisions(test, partial(predict_by_position, train), narratives.families),
        "single sentence": collect_decisions(
            test, lambda batch: predict_by_single_sentence(narratives, train, batch, 0), narratives.families
        ),
    }


@pytest.mark.parametrize(
    ("collection", "task", "sentences", "damaged", "intact"),
    [
        ("random", "missing", 5, 1, 0.0),
        ("random", "missing", 8, 2, 0.5),
        ("random", "discordant", 5, 1, 0.0),
        ("random", "discordant", 8, 2, 0.5),
        ("wiki", "missing", 5, 1, 0.5),
        ("wiki", "discordant", 5, 1, 0.5),
        ("hubs", "discordant", 5, 1, 0.5),
    ],
)
def test_without_coherence_a_detector_is_at_the_base_rate(collection, task, sentences, damaged, intact, collections):
    critic_options = options(sentences=sentences, damaged=damaged, intact=intact)
    for decisions in scored(collections[collection], critic_options, task).values():
        value, low, high = detection_metrics(decisions, np.inf, RESAMPLING).set_index("metric").loc["auc"]
        assert abs(value - 0.5) < (WITHIN if collection != "hubs" else 1.5 * WITHIN)  # fewer stories
        assert low <= 0.5 <= high


def test_replacements_from_the_corpus_leak_through_single_sentences(collections):
    """Short sentences match many others, so replacements are recognised by their length."""
    decisions = scored(collections["hubs"], options(replacements="corpus"), "discordant")
    assert auc(decisions["single sentence"]) > 0.8
    assert abs(auc(decisions["position"]) - 0.5) < 1.5 * WITHIN


def test_frequent_sentences_are_replaced_as_well(collections):
    """The last sentences of the permutation are mostly equal, but must not stay in place."""
    _, counts = corrupt_splits(collections["wiki"], options(), "discordant", 5)
    assert counts["test"]["left_as_they_are"] <= 0.005 * counts["test"]["segments"]


def test_replacements_come_from_any_split_if_from_the_corpus_and_else_from_their_own(collections):
    narratives = collections["hubs"]
    owner = np.repeat(np.arange(len(narratives)), narratives.lengths)
    for kind in ("corpus", "exchanged"):
        examples, counts = corrupt_splits(narratives, options(replacements=kind), "discordant", 5)
        test = examples["test"]
        splits_of_replacements = {narratives.splits[owner[number]] for number in test.inputs[test.labels == 1]}
        # The best matches are few sentences, so that not every other split need have one.
        assert len(splits_of_replacements) > 1 if kind == "corpus" else splits_of_replacements == {"test"}
        assert counts["test"]["replaced"] == (test.labels == 1).sum()


def test_telling_positions_are_detected(collections):
    """The position baseline is perfect if only middle sentences are replaced."""
    examples, _ = corrupt_splits(collections["hubs"], options(), "discordant", 5)
    train, test = (part.select(part.labels[:, 2] == 1) for part in (examples["train"], examples["test"]))
    assert auc(collect_decisions(test, partial(predict_by_position, train), collections["hubs"].families)) == 1


def test_segments_longer_than_in_training_are_judged(collections):
    examples, _ = corrupt_splits(collections["hubs"], options(), "missing", 5)
    longer, _ = corrupt_splits(collections["hubs"], options(sentences=7), "missing", 5)
    train, test = examples["train"], longer["test"]
    predicted = predict_by_position(train, test)
    assert predicted.shape == test.labels.shape
    assert predicted[test.labels >= 0] == pytest.approx((train.labels == 1).sum() / (train.labels >= 0).sum())

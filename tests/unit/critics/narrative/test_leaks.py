"""Nothing but coherence tells what is damaged: not where it is, not the sentence by itself (cai2020 §3 does leak)."""

from functools import partial

import numpy as np
import pytest

from macroscope.critics.narrative.baselines import by_position, by_single_sentence
from macroscope.critics.narrative.corruption import corrupted
from macroscope.critics.narrative.evaluation import decisions_of
from macroscope.critics.narrative.narratives import narratives_of
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.documents import Document
from macroscope.statistics.detection import auc, detection_metrics
from macroscope.statistics.latent import Resampling

from ....tiny import simulated_documents
from .made import random_sentences, told

RESAMPLING = Resampling(resamples=300, confidence=0.999)
WITHIN = 0.03


def options(**given):
    return NarrativeOptions(similarity=None, **{"draws": 1} | given)


def splits(number):
    """Some to learn from, a few to set a threshold by, most to test on."""
    return ["train"] * (number * 2 // 5) + ["valid"] * 50 + ["test"] * (number - number * 2 // 5 - 50)


def random_words(number=3000, sentences=12):
    """Narratives without any coherence."""
    lines = random_sentences(number * sentences, 7, 3000, 1)
    return told([sentences] * number, splits=splits(number), write=lines.__getitem__)


def hubs(number=1000, sentences=8):
    """Every sentence has one of 50 common words, which three in ten have nearly by itself."""
    rng = np.random.default_rng(2)
    total = number * sentences
    common = random_sentences(total, 1, 50, 3)
    rest = random_sentences(total, np.where(rng.random(total) < 0.3, 1, 8), 10**7, 4)
    lines = [f"{word} {others}" for word, others in zip(common, rest, strict=True)]
    return told([sentences] * number, splits=splits(number), write=lines.__getitem__)


def wiki(number=2500):
    """Simulated articles, in which a sentence tells what it is about and where it stands; half are said elsewhere."""
    documents = simulated_documents("process", number, 4)
    return narratives_of(
        (Document(d.id, split, None, d.sections) for d, split in zip(documents, splits(number), strict=True)), "en"
    )


@pytest.fixture(scope="module")
def collections():
    return {"random": random_words(), "wiki": wiki(), "hubs": hubs()}


def scored(narratives, asked, task):
    """Decisions of the two detectors that look at no coherence, on the test split."""
    examples, _ = corrupted(narratives, asked, task, 5)
    train, test = examples["train"], examples["test"]
    return {
        "position": decisions_of(test, partial(by_position, train), narratives.families),
        "single sentence": decisions_of(
            test, lambda some: by_single_sentence(narratives, train, some, 0), narratives.families
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
    asked = options(sentences=sentences, damaged=damaged, intact=intact)
    for decisions in scored(collections[collection], asked, task).values():
        value, low, high = detection_metrics(decisions, np.inf, RESAMPLING).set_index("metric").loc["auc"]
        assert abs(value - 0.5) < (WITHIN if collection != "hubs" else 1.5 * WITHIN)  # of fewer stories
        assert low <= 0.5 <= high


def test_with_replacements_from_the_corpus_single_sentences_tell(collections):
    """The short ones match many others: they replace, and are known again by their length."""
    found = scored(collections["hubs"], options(replacements="corpus"), "discordant")
    assert auc(found["single sentence"]) > 0.8
    assert abs(auc(found["position"]) - 0.5) < 1.5 * WITHIN


def test_sentences_that_are_often_said_are_replaced_as_well(collections):
    """What is left at the end of the exchange is mostly the same: it must not stay where it is for that."""
    _, about = corrupted(collections["wiki"], options(), "discordant", 5)
    assert about["test"]["left_as_they_are"] <= 0.005 * about["test"]["segments"]


def test_replacements_from_the_corpus_may_come_from_any_split_and_exchanged_ones_from_the_own(collections):
    narratives = collections["hubs"]
    owner = np.repeat(np.arange(len(narratives)), narratives.lengths)
    for kind in ("corpus", "exchanged"):
        examples, about = corrupted(narratives, options(replacements=kind), "discordant", 5)
        test = examples["test"]
        of = {narratives.splits[owner[number]] for number in test.inputs[test.labels == 1]}
        assert of == ({"train", "valid", "test"} if kind == "corpus" else {"test"})
        assert about["test"]["replaced"] == (test.labels == 1).sum()


def test_positions_that_tell_are_seen(collections):
    """The detector by position would notice: were only the middle sentence ever replaced, it would know all."""
    examples, _ = corrupted(collections["hubs"], options(), "discordant", 5)
    train, test = (some.some(some.labels[:, 2] == 1) for some in (examples["train"], examples["test"]))
    assert auc(decisions_of(test, partial(by_position, train), collections["hubs"].families)) == 1


def test_segments_longer_than_all_that_were_learnt_from_are_judged_too(collections):
    examples, _ = corrupted(collections["hubs"], options(), "missing", 5)
    longer, _ = corrupted(collections["hubs"], options(sentences=7), "missing", 5)
    train, test = examples["train"], longer["test"]
    found = by_position(train, test)
    assert found.shape == test.labels.shape
    assert found[test.labels >= 0] == pytest.approx((train.labels == 1).sum() / (train.labels >= 0).sum())

"""Tests of BERTScore against the library bert-score."""

import numpy as np
import pytest

from macroscope.critics.narrative import similarity
from macroscope.critics.narrative.similarity import RANDOM_PAIRS, RANDOM_SENTENCES, BertScore
from macroscope.errors import MacroscopeError
from macroscope.models import resolve

FIRST = [
    "The park was full of people.",
    "She met James at work.",
    "He lost his keys again.",
    "It rained all day.",
    "They laughed about it.",
]
SECOND = ["The park was crowded.", "James worked.", "A red car stopped.", "It rained all day.", "Nobody ever did."]


@pytest.fixture(scope="module")
def published():
    from bert_score import score

    folder = resolve("minilm").location

    def f1(first, second, layers=6):
        return score(first, second, model_type=folder, num_layers=layers)[2].numpy()

    return f1


@pytest.mark.slow
def test_a_raw_score_is_that_of_bert_score(published):
    score = BertScore("minilm", FIRST, False, 0)
    assert score.baseline == 0
    assert score(FIRST, SECOND) == pytest.approx(published(FIRST, SECOND), abs=1e-5)
    fourth = BertScore("minilm", FIRST, False, 0, layer=4)(FIRST, SECOND)
    assert fourth == pytest.approx(published(FIRST, SECOND, 4), abs=1e-5)
    assert not np.allclose(fourth, score(FIRST, SECOND))


@pytest.mark.slow
def test_a_layer_that_the_encoder_lacks():
    with pytest.raises(MacroscopeError, match="'minilm' has 6 layers like those of BERT, not 7; give a smaller layer"):
        BertScore("minilm", FIRST, False, 0, layer=7)(FIRST, SECOND)


@pytest.mark.slow
def test_a_rescaled_score_is_0_for_random_pairs_and_1_for_the_same_sentence(published):
    score = BertScore("minilm", FIRST, True, 0)
    first, second = score._random
    assert score(first, second).mean() == pytest.approx(0, abs=1e-5)
    assert score(FIRST, FIRST) == pytest.approx(np.ones(len(FIRST)), abs=1e-5)
    # All 25 pairs of five sentences are equally likely.
    all_pairs = published([a for a in FIRST for _ in FIRST], FIRST * len(FIRST))
    assert score.baseline == pytest.approx(all_pairs.mean(), abs=4 * all_pairs.std() / np.sqrt(len(first)))
    assert score(FIRST, SECOND) == pytest.approx(
        (published(FIRST, SECOND) - score.baseline) / (1 - score.baseline), abs=1e-5
    )
    assert len(score([], [])) == 0


def test_random_pairs_are_the_same_for_a_seed():
    assert BertScore("minilm", FIRST, True, 0)._random == BertScore("minilm", FIRST, True, 0)._random
    assert BertScore("minilm", FIRST, True, 0)._random != BertScore("minilm", FIRST, True, 1)._random


@pytest.mark.slow  # it imports torch
def test_a_sentence_is_embedded_once_in_all_rounds(monkeypatch):
    score = BertScore("minilm", FIRST, True, 0)
    given = []
    embed_tokens = score._encoder.embed_tokens
    monkeypatch.setattr(score._encoder, "embed_tokens", lambda texts: given.extend(texts) or embed_tokens(texts))
    rounds = [score(FIRST, SECOND), score(SECOND, FIRST), score(FIRST, FIRST)]
    assert sorted(given) == sorted({*FIRST, *SECOND})
    assert rounds[0] == pytest.approx(rounds[1], abs=1e-6)


@pytest.mark.slow  # it imports torch
def test_scores_do_not_depend_on_the_number_of_sentences_that_are_kept(monkeypatch):
    all_kept = BertScore("minilm", FIRST, False, 0)(FIRST, SECOND)
    monkeypatch.setattr(similarity, "_MOST_SENTENCES", 4)
    score = BertScore("minilm", FIRST, False, 0)
    assert score(FIRST, SECOND) == pytest.approx(all_kept, abs=1e-5)
    assert len(score._kept) <= 4


def test_the_baseline_is_of_few_sentences_of_a_large_corpus():
    sentences = [str(number) for number in range(10_000)]
    first, second = BertScore("minilm", sentences, True, 0)._random
    assert len(first) == len(second) == RANDOM_PAIRS
    assert len({*first, *second}) <= RANDOM_SENTENCES


@pytest.mark.slow  # it imports torch
def test_model_without_weights_gives_a_clear_error():
    with pytest.raises(MacroscopeError, match="encoder 'tiny-gpt2' has no pretrained weights"):
        BertScore("tiny-gpt2", FIRST, False, 0)(FIRST, SECOND)

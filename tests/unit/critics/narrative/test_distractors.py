"""Tests of distractors: brute force, and a permutation computed by hand."""

from collections import Counter

import numpy as np
import pytest

from macroscope.critics.narrative import distractors
from macroscope.critics.narrative.distractors import (
    RANDOM_PAIRS,
    RANDOM_SENTENCES,
    BertScore,
    Matches,
    Pool,
    find_best_matches,
    find_replacements,
)
from macroscope.critics.narrative.examples import NONE
from macroscope.errors import MacroscopeError
from macroscope.models import resolve
from macroscope.natural_language.words import lower_case_words

from .made import random_sentences

ANY = 2.0


def matches(rows, scores):
    return Matches(np.array(rows, dtype=np.int64), np.array(scores, dtype=np.float32))


def replace_by_matches(sentences, owners, numbers, similarity=None, limit=ANY, most=100):
    """Replace the sentences with these numbers by each other, each used once."""
    owners = np.asarray(owners)
    candidates = Pool.of(sentences, numbers, owners)
    texts = [sentences[number] for number in numbers]
    matched = find_best_matches(candidates.texts, texts, most)
    return find_replacements(texts, owners[numbers], candidates, matched, similarity, limit, True, 0)


def by_table(values):
    """Return a similarity that looks up pairs in a table; it is 0 for other pairs."""
    return lambda first, second: np.array([values.get(pair, 0.0) for pair in zip(first, second, strict=True)])


def random_similarity(first, second):
    """Return a fixed pseudo-random number between 0 and 1 for each pair of sentences."""
    rows = [np.random.default_rng([len(a), *map(ord, a + b)]).random() for a, b in zip(first, second, strict=True)]
    return np.array(rows)


# ---- permutation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("similarity", [None, random_similarity])
@pytest.mark.parametrize("most", [3, 100])
def test_permutation_uses_each_sentence_once_and_never_for_itself_or_its_narrative(similarity, most):
    sentences = random_sentences(300, 4, 12, 0)  # many of them are the same
    sentences[100:] = [sentence.split()[0] for sentence in sentences[100:]]
    owners = np.repeat(np.arange(75), 4)
    numbers = np.random.default_rng(1).permutation(300)[:200].tolist()
    result = replace_by_matches(sentences, owners, numbers, similarity, 0.7, most)
    is_replaced = result.numbers != NONE
    assert is_replaced.mean() > 0.97  # the last ones may only have each other
    assert is_replaced.all() == (sorted(result.numbers) == sorted(numbers))
    used, replaced = result.numbers[is_replaced], np.array(numbers)[is_replaced]
    assert set(used) <= set(numbers)
    assert len(set(used)) == len(used)
    assert all(sentences[new] != sentences[old] for new, old in zip(used, replaced, strict=True))
    assert (owners[used] != owners[replaced]).all()


def test_only_matches_below_the_limit_are_used():
    sentences = random_sentences(200, 6, 30, 2)
    owners, numbers = np.arange(200), list(range(200))
    result = replace_by_matches(sentences, owners, numbers, random_similarity, 0.3)
    values = random_similarity(sentences, [sentences[number] for number in result.numbers])
    assert (values >= 0.3).sum() <= result.unmatched  # only the rest, permuted at random, may be similar
    assert result.unmatched < 40
    assert (values < 0.3).sum() >= 200 - result.unmatched


def test_sentence_removed_several_times_is_used_as_often():
    sentences = random_sentences(100, 6, 30, 3)
    numbers = [*range(100), *range(0, 100, 2), *range(0, 100, 4)]
    result = replace_by_matches(sentences, range(100), numbers, most=3)
    assert sorted(result.numbers) == sorted(numbers)


def test_sentence_requested_several_times_goes_to_the_best_match():
    pool = Pool(["p", "q", "r"], [[0], [1], [2]], np.array([0, 1, 2]))
    candidates = matches([[0, 1, 2]] * 3, [[5, 2, 1], [9, 2, 1], [7, 3, 1]])
    result = find_replacements(["x", "y", "z"], np.array([7, 8, 9]), pool, candidates, None, ANY, True, 0)
    assert result.numbers.tolist() == [2, 0, 1]
    assert (result.same, result.similar, result.unmatched) == (0, 0, 0)


def test_permutation_by_hand():
    """Four sentences of three narratives: u and v share a narrative, and w is too similar to x."""
    sentences, owners = ["u", "v", "w", "x"], np.array([0, 0, 1, 2])
    pool = Pool.of(sentences, [0, 1, 2, 3], owners)
    candidates = matches([[0, 1, 2, 3], [1, 0, 2, 3], [2, 3, 0, 1], [3, 2, 1, 0]], [[9, 8, 7, 6]] * 4)
    similarity = by_table({("w", "x"): 0.9, ("x", "w"): 0.9})
    result = find_replacements(sentences, owners, pool, candidates, similarity, 0.7, True, 0)
    # Each passes over itself; u and v over each other; w and x over each other, since they are similar: in
    # that further round u, the first of two equal scores, has taken w. Then w takes u, x takes v, and v takes x.
    assert result.numbers.tolist() == [2, 3, 0, 1]
    assert (result.same, result.similar, result.unmatched) == (4 + 2, 2, 0)


def test_unmatched_sentences_get_the_unused_ones():
    sentences, owners = ["a", "b", "c"], np.arange(3)
    pool = Pool.of(sentences, [0, 1, 2], owners)
    only_itself = matches([[0], [1], [2]], [[1]] * 3)
    result = find_replacements(sentences, owners, pool, only_itself, None, ANY, True, 0)
    assert result.unmatched == 3
    assert sorted(result.numbers) == [0, 1, 2]
    assert (result.numbers != [0, 1, 2]).all()


@pytest.mark.parametrize("number", [2, 3, 5, 9, 20])
def test_small_pool_is_permuted_completely(number):
    """A sentence that is left with itself swaps with one that is replaced already."""
    for seed in range(10):
        result = replace_by_matches(random_sentences(number, 6, 300, seed), range(number), list(range(number)))
        assert sorted(result.numbers) == list(range(number))
        assert (result.numbers != np.arange(number)).all()


def test_sentences_stay_if_no_permutation_is_possible():
    result = replace_by_matches(["a b", "a c"], [5] * 2, [0, 1])
    assert result.numbers.tolist() == [NONE, NONE]
    result = replace_by_matches(["a b", "a b"], [0, 1], [0, 1])
    assert result.numbers.tolist() == [NONE, NONE]
    assert result.unmatched == 2


# ---- from the whole corpus -------------------------------------------------------------------------------------------


def best_below(query, owner, pool, owners, numbers, limit):
    """Apply the published rule to one sentence, match by match."""
    possible = []
    for number in numbers:
        carriers = [c for c in pool.carriers[number] if owners[c] != owner]
        if pool.texts[number] == query or not carriers:
            continue
        value = random_similarity([query], [pool.texts[number]])[0]
        if value < limit:
            return carriers[0]
        possible.append((value, carriers[0]))
    return min(possible)[1] if possible else NONE


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.6, 0.1, 0.01])
def test_corpus_gives_the_best_match_below_the_limit_or_the_least_similar_one(limit):
    sentences = random_sentences(240, 5, 15, 4)
    sentences[::9] = sentences[:1] * len(sentences[::9])
    owners = np.repeat(np.arange(60), 4)
    numbers = list(range(0, 240, 2))
    pool = Pool.of(sentences, list(range(240)), owners)
    texts = [sentences[number] for number in numbers]
    candidates = find_best_matches(pool.texts, texts, 12)
    result = find_replacements(texts, owners[numbers], pool, candidates, random_similarity, limit, False, 0)
    expected = [
        best_below(text, owners[number], pool, owners, row, limit)
        for text, number, row in zip(texts, numbers, candidates.numbers, strict=True)
    ]
    assert result.numbers.tolist() == expected
    assert len(set(expected)) < len(expected)  # some replace several


def test_match_of_the_same_narrative_is_never_the_least_similar_one():
    """A sentence without a match below the limit does not fall back to one of its own narrative."""
    pool = Pool.of(["x", "mine", "theirs"], [0, 1, 2], np.array([0, 0, 1]))
    similarity = by_table({("x", "mine"): 0.1, ("x", "theirs"): 0.9})
    result = find_replacements(["x"], np.array([0]), pool, matches([[0, 1, 2]], [[3, 2, 1]]), similarity, 0.7, False, 0)
    assert result.numbers.tolist() == [2]
    assert (result.same, result.similar, result.unmatched) == (2, 1, 1)


def bm25(pool, query, k1=1.5, b=0.75):
    """Return BM25: sum over words of log(1 + (N - n + .5) / (n + .5)) f / (f + k1 (1 - b + b l / mean l))."""
    texts = [lower_case_words(text) for text in pool]
    mean = np.mean([max(1, len(text)) for text in texts])
    scores = np.zeros(len(pool))
    for word in lower_case_words(query):
        n = sum(word in text for text in texts)
        weight = np.log(1 + (len(pool) - n + 0.5) / (n + 0.5))
        for number, text in enumerate(texts):
            f = Counter(text)[word]
            scores[number] += weight * f / (f + k1 * (1 - b + b * len(text) / mean))
    return scores


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_matches_are_those_of_the_formula(compiled, monkeypatch):
    monkeypatch.setattr(distractors, "MANY", 0 if compiled else 10**9)
    pool = random_sentences(60, np.random.default_rng(0).integers(1, 12, 60), 40, 1)
    queries = [*pool[:5], *random_sentences(20, 6, 45, 2)]
    matches = find_best_matches(pool, queries, 60)
    for query, numbers, scores in zip(queries, matches.numbers, matches.scores, strict=True):
        expected = bm25(pool, query)
        assert sorted(numbers) == list(range(60))
        assert scores == pytest.approx(expected[numbers], rel=1e-4, abs=1e-5)
        assert (np.diff(scores) <= 0).all()


def pool_with_ties():
    """Make a pool in which a fifth of the sentences occur four times."""
    pool = random_sentences(40, 5, 60, 3) + random_sentences(10, 5, 60, 4) * 4
    return [pool[number] for number in np.random.default_rng(5).permutation(len(pool))]


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("most", [1, 7, 20])
def test_best_matches_are_returned_with_ties_in_order(most, compiled, monkeypatch):
    monkeypatch.setattr(distractors, "MANY", 0 if compiled else 10**9)
    pool, queries = pool_with_ties(), random_sentences(30, 5, 60, 6)
    matches = find_best_matches(pool, queries, most)
    for query, numbers in zip(queries, matches.numbers, strict=True):
        expected = bm25(pool, query).round(4)
        assert expected[numbers] == pytest.approx(np.sort(expected)[::-1][:most], abs=2e-4)
        assert numbers.tolist() == numbers[np.lexsort((numbers, -expected[numbers]))].tolist()


def test_queries_in_parts_give_the_same(monkeypatch):
    pool = random_sentences(50, 6, 40, 8)
    whole = find_best_matches(pool, pool, 9)
    monkeypatch.setattr(distractors, "QUERIES_AT_ONCE", 7)
    parts = find_best_matches(pool, pool, 9)
    assert parts.numbers.tolist() == whole.numbers.tolist()
    assert parts.scores == pytest.approx(whole.scores)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_sentences_may_have_no_words(compiled, monkeypatch):
    monkeypatch.setattr(distractors, "MANY", 0 if compiled else 10**9)
    pool = ["", "...", "12", "A cat sat.", "The cat."]
    matches = find_best_matches(pool, ["...", "", "!", "cat", "Nothing of that"], 5)
    assert matches.numbers.shape == (5, 5)
    assert matches.numbers[0, 0] == 1
    assert matches.scores[2].tolist() == [0] * 5
    assert matches.numbers[3, :2].tolist() == [4, 3]
    assert matches.scores[4].tolist() == [0] * 5


def test_a_pool_of_one_and_no_queries():
    assert find_best_matches(["A cat."], ["A dog."], 100).numbers.tolist() == [[0]]
    assert find_best_matches(["A cat.", "A dog."], [], 100).numbers.shape == (0, 2)


def test_a_pool_of_none():
    assert find_best_matches([], [], 100).numbers.shape == (0, 0)


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
    monkeypatch.setattr(distractors, "_MOST_SENTENCES", 4)
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

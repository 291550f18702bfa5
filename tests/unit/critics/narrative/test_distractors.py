"""What takes the place of a sentence: brute force, and an exchange followed by hand."""

import numpy as np
import pytest

from macroscope.critics.narrative.distractors import Pool, replaced
from macroscope.critics.narrative.examples import NONE
from macroscope.critics.narrative.retrieval import Matches, best_matches

from .made import random_sentences

ANY = 2.0


def matches(rows, scores):
    return Matches(np.array(rows, dtype=np.int64), np.array(scores, dtype=np.float32))


def permutation(sentences, owners, numbers, similarity=None, limit=ANY, most=100, once=True, pool=None):
    """Replace the sentences of some numbers by each other, or by those of a pool."""
    owners = np.asarray(owners)
    offered = Pool.of(sentences, numbers if pool is None else pool, owners)
    texts = [sentences[number] for number in numbers]
    found = best_matches(offered.texts, texts, most)
    return replaced(texts, owners[numbers], offered, found, similarity, limit, once, 0)


def by_table(values):
    """A similarity that is looked up; anything else is 0."""
    return lambda first, second: np.array([values.get(pair, 0.0) for pair in zip(first, second, strict=True)])


def alike(first, second):
    """Some number between 0 and 1 for each pair of sentences, the same each time."""
    rows = [np.random.default_rng([len(a), *map(ord, a + b)]).random() for a, b in zip(first, second, strict=True)]
    return np.array(rows)


# ---- the exchange ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("similarity", [None, alike])
@pytest.mark.parametrize("most", [3, 100])
def test_the_exchange_gives_each_sentence_once_and_none_to_itself_or_its_narrative(similarity, most):
    sentences = random_sentences(300, 4, 12, 0)  # many of them are the same
    sentences[100:] = [sentence.split()[0] for sentence in sentences[100:]]
    owners = np.repeat(np.arange(75), 4)
    numbers = np.random.default_rng(1).permutation(300)[:200].tolist()
    found = permutation(sentences, owners, numbers, similarity, 0.7, most)
    has = found.numbers != NONE
    assert has.mean() > 0.97  # at the end those may be left that only have each other
    assert has.all() == (sorted(found.numbers) == sorted(numbers))
    used, of = found.numbers[has], np.array(numbers)[has]
    assert set(used) <= set(numbers)
    assert len(set(used)) == len(used)
    assert all(sentences[new] != sentences[old] for new, old in zip(used, of, strict=True))
    assert (owners[used] != owners[of]).all()


def test_only_matches_below_the_limit_are_taken():
    sentences = random_sentences(200, 6, 30, 2)
    owners, numbers = np.arange(200), list(range(200))
    found = permutation(sentences, owners, numbers, alike, 0.3)
    values = alike(sentences, [sentences[number] for number in found.numbers])
    assert (values >= 0.3).sum() <= found.without  # only the rest, exchanged at random, may be alike
    assert found.without < 40
    assert (values < 0.3).sum() >= 200 - found.without


def test_a_sentence_that_is_taken_out_several_times_is_used_as_often():
    sentences = random_sentences(100, 6, 30, 3)
    numbers = [*range(100), *range(0, 100, 2), *range(0, 100, 4)]
    found = permutation(sentences, range(100), numbers, most=3)
    assert sorted(found.numbers) == sorted(numbers)


def test_of_several_that_ask_for_a_sentence_the_one_that_it_matches_best_gets_it():
    pool = Pool(["p", "q", "r"], [[0], [1], [2]], np.array([0, 1, 2]))
    asked = matches([[0, 1, 2]] * 3, [[5, 2, 1], [9, 2, 1], [7, 3, 1]])
    found = replaced(["x", "y", "z"], np.array([7, 8, 9]), pool, asked, None, ANY, True, 0)
    assert found.numbers.tolist() == [2, 0, 1]
    assert (found.same, found.alike, found.without) == (0, 0, 0)


def test_an_exchange_by_hand():
    """Four sentences of three narratives: u and v are of one of them, and w is too much like x."""
    sentences, owners = ["u", "v", "w", "x"], np.array([0, 0, 1, 2])
    pool = Pool.of(sentences, [0, 1, 2, 3], owners)
    asked = matches([[0, 1, 2, 3], [1, 0, 2, 3], [2, 3, 0, 1], [3, 2, 1, 0]], [[9, 8, 7, 6]] * 4)
    similarity = by_table({("w", "x"): 0.9, ("x", "w"): 0.9})
    found = replaced(sentences, owners, pool, asked, similarity, 0.7, True, 0)
    # Each passes over itself; u and v over each other; w and x over each other, since they are alike: that is one
    # more question, in which u, the first of two as good, has taken w. Then w takes u, x takes v, and v takes x.
    assert found.numbers.tolist() == [2, 3, 0, 1]
    assert (found.same, found.alike, found.without) == (4 + 2, 2, 0)


def test_who_has_no_match_left_gets_what_is_left():
    sentences, owners = ["a", "b", "c"], np.arange(3)
    pool = Pool.of(sentences, [0, 1, 2], owners)
    only_itself = matches([[0], [1], [2]], [[1]] * 3)
    found = replaced(sentences, owners, pool, only_itself, None, ANY, True, 0)
    assert found.without == 3
    assert sorted(found.numbers) == [0, 1, 2]
    assert (found.numbers != [0, 1, 2]).all()


@pytest.mark.parametrize("number", [2, 3, 5, 9, 20])
def test_a_small_pool_is_exchanged_as_a_whole(number):
    """Who is left with itself in the end exchanges with one that has another one already."""
    for seed in range(10):
        found = permutation(random_sentences(number, 6, 300, seed), range(number), list(range(number)))
        assert sorted(found.numbers) == list(range(number))
        assert (found.numbers != np.arange(number)).all()


def test_where_no_exchange_is_possible_sentences_stay():
    found = permutation(["a b", "a c"], [5] * 2, [0, 1])
    assert found.numbers.tolist() == [NONE, NONE]
    found = permutation(["a b", "a b"], [0, 1], [0, 1])
    assert found.numbers.tolist() == [NONE, NONE]
    assert found.without == 2


# ---- from the whole corpus -------------------------------------------------------------------------------------------


def best_below(query, owner, pool, owners, found, limit):
    """The published rule for one sentence, its matches one after the other."""
    possible = []
    for number in found:
        carriers = [c for c in pool.carriers[number] if owners[c] != owner]
        if pool.texts[number] == query or not carriers:
            continue
        value = alike([query], [pool.texts[number]])[0]
        if value < limit:
            return carriers[0]
        possible.append((value, carriers[0]))
    return min(possible)[1] if possible else NONE


@pytest.mark.parametrize("limit", [0.6, 0.1, 0.01])
def test_from_the_corpus_each_gets_its_best_match_below_the_limit_or_the_least_similar_one(limit):
    sentences = random_sentences(240, 5, 15, 4)
    sentences[::9] = sentences[:1] * len(sentences[::9])
    owners = np.repeat(np.arange(60), 4)
    numbers = list(range(0, 240, 2))
    pool = Pool.of(sentences, list(range(240)), owners)
    texts = [sentences[number] for number in numbers]
    asked = best_matches(pool.texts, texts, 12)
    found = replaced(texts, owners[numbers], pool, asked, alike, limit, False, 0)
    expected = [
        best_below(text, owners[number], pool, owners, row, limit)
        for text, number, row in zip(texts, numbers, asked.numbers, strict=True)
    ]
    assert found.numbers.tolist() == expected
    assert len(set(expected)) < len(expected)  # some replace several


def test_a_match_of_the_same_narrative_is_never_the_least_similar_one():
    """Of what is left for a sentence without a match below the limit; the similar one is of its own narrative."""
    pool = Pool.of(["x", "mine", "theirs"], [0, 1, 2], np.array([0, 0, 1]))
    similarity = by_table({("x", "mine"): 0.1, ("x", "theirs"): 0.9})
    found = replaced(["x"], np.array([0]), pool, matches([[0, 1, 2]], [[3, 2, 1]]), similarity, 0.7, False, 0)
    assert found.numbers.tolist() == [2]
    assert (found.same, found.alike, found.without) == (2, 1, 1)

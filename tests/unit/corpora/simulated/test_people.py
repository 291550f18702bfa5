"""Stories about three persons: the process is as declared, and its entropy is exact."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from macroscope.corpora.declaration import ORDERS
from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.people import (
    BEGINNING,
    DAMAGES,
    GENDERS,
    _sentences,
    people_process,
    simulate_stories,
    write_corpus,
)
from macroscope.documents import read_documents

PROCESS = people_process()
HE, SHE = {"He", "his", "him"}, {"She", "her"}


def words(story):
    return [(story.text[m.start : m.end], m) for m in story.mentions]


@pytest.mark.parametrize("genders", GENDERS)
def test_probabilities_of_next_sentences_sum_to_one(genders):
    for sentence in _sentences():
        following = PROCESS.following(sentence, genders)
        assert sum(p for _, p in following) == pytest.approx(1, abs=1e-12)
        assert set(s for s, _ in following) <= set(_sentences())


@pytest.mark.slow
def test_the_entropy_is_that_of_the_stories():
    """Compare with the probabilities of simulated stories, read from their mentions, within four standard errors."""
    costs, symbols = [], []
    for story in simulate_stories(PROCESS, "process", 1500, 3):
        cost, number = _cost(story)
        costs.append(cost)
        symbols.append(number)
    costs, symbols = np.array(costs), np.array(symbols)
    rate = costs.sum() / symbols.sum()
    error = np.std(costs - rate * symbols) / symbols.mean() / math.sqrt(len(costs))
    assert math.log(PROCESS.latent_ppl()) == pytest.approx(rate, abs=4 * error)


def _cost(story):
    """Return -log P of the mentions of a story, and its number of symbols."""
    bounds = [*story.sentence_starts, len(story.text)]
    sentences = [
        [(m.entity, m.pronoun, story.text[m.start : m.end]) for m in story.mentions if begin <= m.start < end]
        for begin, end in itertools.pairwise(bounds)
    ]
    genders = tuple("male" if sentences[0][2 * n + 1][2] == "his" else "female" for n in range(3))
    cost, before = math.log(len(GENDERS)), BEGINNING
    for mentions in sentences[1:]:
        possible = [(s, p) for s, p in PROCESS.following(before, genders) if _matches(s, mentions)]
        assert len(possible) == 1
        ((before, p),) = possible
        cost -= math.log(p)
    return cost, len(story.mentions) + len(sentences)


def _matches(sentence, mentions):
    expected = []
    if sentence.subject is not None:
        expected.append((sentence.subject, sentence.subject_pronoun))
        expected += [(sentence.subject, True)] if sentence.possessive else []
    if sentence.object is not None:
        expected.append((sentence.object, sentence.object_pronoun))
    return [(entity, pronoun) for entity, pronoun, _ in mentions] == expected


@pytest.mark.parametrize("order", [*ORDERS, *DAMAGES])
def test_mentions_are_at_their_positions(order):
    for story in simulate_stories(PROCESS, order, 30, 1):
        assert all(word[0].isupper() or word in HE | SHE for word, _ in words(story))
        assert all((word in HE | SHE) == m.pronoun for word, m in words(story))
        assert next(story.text[start] for start in story.sentence_starts).isupper()


@pytest.mark.parametrize("order", [*ORDERS, *DAMAGES])
def test_first_stories_do_not_depend_on_the_number(order):
    assert list(simulate_stories(PROCESS, order, 3, 5)) == list(simulate_stories(PROCESS, order, 9, 5))[:3]


def count_pronouns(story):
    """Count the pronouns of each gender by entity."""
    counts = {}
    for word, mention in words(story):
        if mention.pronoun:
            counts.setdefault(mention.entity, Counter())["male" if word in HE else "female"] += 1
    return counts


@pytest.mark.slow
def test_damages_match_their_names():
    def simulated(order):
        return list(simulate_stories(PROCESS, order, 60, 2))

    def mixed(stories):
        return np.mean([len(counts) > 1 for story in stories for counts in count_pronouns(story).values()])

    assert mixed(simulated("process")) == 0
    assert mixed(simulated("wrong_gender")) > 0.5
    process, damaged = simulated("process"), simulated("no_antecedent")
    assert all(m.entity < 3 for story in process for m in story.mentions)
    strangers = [m for story in damaged for m in story.mentions if m.entity > 5]
    assert strangers
    assert all(m.pronoun for m in strangers)
    assert {len({m.entity for m in story.mentions}) for story in simulated("merged")} == {2}
    assert {m.entity for story in simulated("split") for m in story.mentions} == set(range(6))
    for story in simulated("split"):
        named = {}
        for word, mention in words(story):
            if not mention.pronoun:
                named.setdefault(mention.entity, set()).add(word)
        assert all(len(names) == 1 for names in named.values())


def test_an_unknown_order_is_an_error():
    with pytest.raises(ValueError, match="not one of process, shuffled"):
        next(simulate_stories(PROCESS, "odd", 1, 1))


@pytest.mark.slow
def test_the_corpus_and_its_truth(tmp_path):
    import pyarrow.parquet as pq

    options = SimulatedCorpus(source="simulated", kind="people", documents=20, clutter=0.2)
    (tmp_path / "truth").mkdir()
    write_corpus(options, 1, tmp_path / "raw.jsonl", tmp_path / "truth")
    assert len((tmp_path / "raw.jsonl").read_text().splitlines()) == 24
    documents = {d.id: d.text for d in read_documents(tmp_path / "truth" / "documents.parquet")}
    rows = pq.read_table(tmp_path / "truth" / "mentions.parquet").to_pylist()
    assert [row["id"] for row in rows] == list(documents)
    first = rows[0]["mentions"][0]
    assert documents[rows[0]["id"]].startswith(documents[rows[0]["id"]][first["start"] : first["end"]])

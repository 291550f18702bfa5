"""The n-gram models of chains, against published values, the sums of probabilities, and a brute-force Kneser-Ney."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.coreference.latents import chains_in
from macroscope.critics.coreference.ngrams import FLOOR, ChainModel
from macroscope.critics.coreference.windows import (
    NO_ENTITY,
    PAD,
    STOP,
    UNKNOWN,
    Chains,
    Packing,
    flatten,
    most_surfaces,
    windows,
)

# The example of shared/reference/methods.md, section 1.3: values of the released code.
TRAINING = (
    ". MALE:0 he:0 FEMALE:1 . she:1 him:0 . he:0 her:1",
    ". None:3 . MALE:4 his:4 None:3 . he:4 himself:4",
    ". FEMALE:7 her:7 . she:7 MALE:2 . he:2 her:7",
)
TEST = ". FEMALE:5 her:5 . she:5"


def encoded(*chains):
    """Chains of surfaces that are numbered as they come, and how many surfaces there are."""
    numbers = {".": STOP, "<pad>": PAD, "<unknown>": UNKNOWN}
    rows = []
    for chain in chains:
        parts = [symbol.partition(":") for symbol in chain.split()]
        surfaces = [numbers.setdefault(surface, len(numbers)) for surface, *_ in parts]
        rows.append((surfaces, [int(entity) if entity else NO_ENTITY for *_, entity in parts]))
    return rows, len(numbers)


def drawn(seed, symbols=400, surfaces=6, entities=4):
    """Chains of random symbols."""
    rng = np.random.default_rng(seed)
    rows = []
    for length in rng.multinomial(symbols, np.full(12, 1 / 12)):
        kinds = rng.integers(0, surfaces - UNKNOWN, length)
        surface = np.where(kinds == 0, STOP, kinds + UNKNOWN)
        rows.append((surface, np.where(surface == STOP, NO_ENTITY, rng.integers(0, entities, length))))
    return flatten(rows)


def relabelled(chains, order):
    """Windows as tuples of (surface, entity), by the definition: entities numbered by first appearance."""
    found, start = [], 0
    for length in chains.lengths:
        surfaces = [PAD] * (order - 1) + chains.surfaces[start : start + length].tolist()
        entities = [NO_ENTITY] * (order - 1) + chains.entities[start : start + length].tolist()
        for end in range(length):
            numbers = {}
            window = [
                (surfaces[at], 0 if entities[at] == NO_ENTITY else numbers.setdefault(entities[at], len(numbers)))
                for at in range(end, end + order)
            ]
            known = len({entities[at] for at in range(end, end + order - 1)} - {NO_ENTITY})
            found.append((known, tuple(window)))
        start += length
    return found


class BruteForce:
    """Interpolated Kneser-Ney by dictionaries, as it is written: counts of histories, continuation counts below."""

    def __init__(self, found, order, surfaces):
        self.order, self.surfaces = order, surfaces
        self.counts = {order: Counter(found)}
        for length in range(order - 1, 0, -1):
            before = defaultdict(set)
            for known, window in self.counts[length + 1]:
                before[known, window[1:]].add(window[0])
            self.counts[length] = Counter({key: len(symbols) for key, symbols in before.items()})
        self.discounts = {length: self.discount(counts) for length, counts in self.counts.items()}

    @staticmethod
    def discount(counts):
        once, twice = (sum(count == n for count in counts.values()) for n in (1, 2))
        return once / (once + 2 * twice) if once else 0.5

    def probability(self, known, window, length=None):
        length = self.order if length is None else length
        if length == 0:
            return 1 / (1 + (self.surfaces - UNKNOWN) * (known + 1))
        some = window[-length:]
        following = {k[1][-1]: n for k, n in self.counts[length].items() if k[0] == known and k[1][:-1] == some[:-1]}
        shorter = self.probability(known, window, length - 1)
        if not following:
            return shorter
        total, d = sum(following.values()), self.discounts[length]
        return (max(following.get(some[-1], 0) - d, 0) + d * len(following) * shorter) / total


def test_the_released_code_gives_these_values():
    rows, surfaces = encoded(*TRAINING, TEST)
    training, test = flatten(rows[:3]), flatten(rows[3:])
    model = ChainModel.fit(training, Packing(5, surfaces), published=True)
    assert [table.discount for table in model.tables] == pytest.approx([0, 0.84, 0.92, 1, 1])
    assert [int((table.counts == 1).sum()) for table in model.tables] == [8, 21, 23, 25, 25]
    assert model.log_probabilities(test).sum() == pytest.approx(-6.7285446207, abs=1e-9)
    assert np.exp(-model.log_probabilities(training).mean()) == pytest.approx(3.5065498390, abs=1e-9)


def test_the_released_code_gives_an_unseen_symbol_a_floor():
    rows, surfaces = encoded(*TRAINING, ". MALE:0 thee:0")
    model = ChainModel.fit(flatten(rows[:3]), Packing(5, surfaces), published=True)
    assert model.log_probabilities(flatten(rows[3:]))[-1] < np.log(FLOOR)


def test_the_released_code_fails_where_every_ngram_occurs_often_and_this_does_not():
    chains = flatten([([STOP, 3, 3], [NO_ENTITY, 0, 0])] * 3)
    model = ChainModel.fit(chains, Packing(2, 5), published=True)
    assert np.isfinite(model.log_probabilities(flatten([([STOP, 4], [NO_ENTITY, 0])]))).all()


@pytest.mark.parametrize("order", [2, 3, 5, 6])
def test_windows_are_those_of_the_definition(order):
    chains = drawn(order)
    packing = Packing(order, 6)
    keys = windows(chains, packing)
    expected = relabelled(chains, order)
    assert [(int(packing.entities(key, order)), tuple(packing.symbols(int(key), order))) for key in keys] == [
        (known | 0, window) for known, window in ((k, w) for k, w in expected)
    ]


@pytest.mark.parametrize("order", [2, 3, 5])
def test_the_model_is_kneser_ney(order):
    training, test = drawn(1), drawn(2, symbols=60)
    model = ChainModel.fit(training, Packing(order, 6))
    expected = BruteForce(relabelled(training, order), order, 6)
    assert [table.discount for table in model.tables] == pytest.approx(
        [expected.discounts[length] for length in range(1, order + 1)]
    )
    found = np.exp(model.log_probabilities(test))
    assert found == pytest.approx([expected.probability(*window) for window in relabelled(test, order)], rel=1e-12)


@pytest.mark.parametrize("published", [False, True])
def test_probabilities_sum_to_one_for_every_history(published):
    """All that is seen and all that is not; as published, only what was seen does, up to what the floor gives."""
    packing = Packing(4, 6)
    training, other = drawn(3), drawn(4)
    model = ChainModel.fit(training, packing, published)
    mask = (1 << (packing.order * packing.bits)) - 1
    for chains in (training, other):
        keys = windows(chains, packing)
        for key in np.unique(keys & mask if published else keys):
            _, probabilities = model.distribution(int(key))
            assert probabilities.sum() == pytest.approx(1, abs=1e-12)
            assert (probabilities > 0).all()


def test_an_unknown_surface_costs_what_is_left_for_it_and_no_floor():
    rows, surfaces = encoded(*TRAINING)
    model = ChainModel.fit(flatten(rows), Packing(5, surfaces))
    (_, entities), unknown = rows[0], np.full(len(rows[0][0]), UNKNOWN)
    unknown[0] = STOP
    costs = -model.log_probabilities(flatten([(unknown, entities)]))
    assert costs.max() < 8


def test_numbers_of_entities_mean_nothing():
    chains = drawn(5)
    renamed = Chains(chains.surfaces, np.where(chains.entities >= 0, 7 - chains.entities, -1), chains.lengths)
    model = ChainModel.fit(chains, Packing(5, 6))
    assert np.array_equal(model.log_probabilities(chains), model.log_probabilities(renamed))


def test_saved_and_loaded_it_is_the_same(tmp_path):
    chains = drawn(6)
    model = ChainModel.fit(chains, Packing(5, 6))
    model.save(tmp_path / "model.npz")
    loaded = ChainModel.load(tmp_path / "model.npz")
    assert np.array_equal(model.log_probabilities(chains), loaded.log_probabilities(chains))


def test_without_singletons_a_part_is_left_for_what_was_not_seen():
    chains = flatten([([STOP, 3, 3], [NO_ENTITY, 0, 0])] * 3)
    model = ChainModel.fit(chains, Packing(2, 5))
    assert model.tables[-1].discount == 0.5
    _, probabilities = model.distribution(int(windows(chains, Packing(2, 5))[1]))
    assert (probabilities > 0).all()


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_as_many_surfaces_fit_as_is_said(order):
    most = most_surfaces(order)
    packing = Packing(order, most)
    chains = flatten([(np.full(12, most - 1), np.arange(12))])
    keys = windows(chains, packing)
    assert (keys > 0).all()
    assert packing.symbols(int(keys[-1]), order) == [(most - 1, entity) for entity in range(order)]
    assert int(packing.entities(keys[-1:], order)[0]) == order - 1


def test_chains_may_be_empty():
    chains = flatten([([], []), ([STOP], [NO_ENTITY]), ([], [])])
    model = ChainModel.fit(chains, Packing(5, 5))
    assert len(model.log_probabilities(chains)) == 1


def test_a_pronoun_that_is_written_like_a_reserved_surface_is_unknown():
    index = {".": STOP, "<pad>": PAD, "<unknown>": UNKNOWN, "he": 3}
    table = pd.DataFrame({"surfaces": [[".", "he", ".", "<pad>"]], "entities": [[NO_ENTITY, 0, 0, 1]]})
    assert chains_in(table, index).surfaces.tolist() == [STOP, 3, UNKNOWN, UNKNOWN]

"""n-gram models of chains: published values, sums of probabilities, and brute-force Kneser-Ney."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.coreference.explanation import BEGIN, rank_differences
from macroscope.critics.coreference.latents import encode_chains
from macroscope.critics.coreference.prior import FLOOR, ChainModel, ChainPrior
from macroscope.critics.coreference.windows import (
    NO_ENTITY,
    PAD,
    STOP,
    UNKNOWN,
    Chains,
    Packing,
    flatten,
    max_surfaces,
    pack_windows,
)

# The example of shared/reference/methods.md, section 1.3: values of the released code.
TRAINING = (
    ". MALE:0 he:0 FEMALE:1 . she:1 him:0 . he:0 her:1",
    ". None:3 . MALE:4 his:4 None:3 . he:4 himself:4",
    ". FEMALE:7 her:7 . she:7 MALE:2 . he:2 her:7",
)
TEST = ". FEMALE:5 her:5 . she:5"


def encode(*chains):
    """Encode chains with surfaces numbered by first appearance; return them and the number of surfaces."""
    numbers = {".": STOP, "<pad>": PAD, "<unknown>": UNKNOWN}
    rows = []
    for chain in chains:
        parts = [symbol.partition(":") for symbol in chain.split()]
        surfaces = [numbers.setdefault(surface, len(numbers)) for surface, *_ in parts]
        rows.append((surfaces, [int(entity) if entity else NO_ENTITY for *_, entity in parts]))
    return rows, len(numbers)


def sample_chains(seed, symbols=400, surfaces=6, entities=4):
    """Sample chains of random symbols."""
    rng = np.random.default_rng(seed)
    rows = []
    for length in rng.multinomial(symbols, np.full(12, 1 / 12)):
        kinds = rng.integers(0, surfaces - UNKNOWN, length)
        surface = np.where(kinds == 0, STOP, kinds + UNKNOWN)
        rows.append((surface, np.where(surface == STOP, NO_ENTITY, rng.integers(0, entities, length))))
    return flatten(rows)


def relabel_windows(chains, order):
    """Return windows as tuples of (surface, entity), by the definition: entities numbered by first appearance."""
    relabelled_windows, start = [], 0
    for length in chains.lengths:
        surfaces = [PAD] * (order - 1) + chains.surfaces[start : start + length].tolist()
        entities = [NO_ENTITY] * (order - 1) + chains.entities[start : start + length].tolist()
        for end in range(length):
            numbers = {}
            window = [
                (surfaces[at], 0 if entities[at] == NO_ENTITY else numbers.setdefault(entities[at], len(numbers)))
                for at in range(end, end + order)
            ]
            entities_in_history = len({entities[at] for at in range(end, end + order - 1)} - {NO_ENTITY})
            relabelled_windows.append((entities_in_history, tuple(window)))
        start += length
    return relabelled_windows


class BruteForceKneserNey:
    """Interpolated Kneser-Ney with dictionaries: counts at the highest order, continuation counts below."""

    def __init__(self, counted_windows, order, surfaces):
        self.order, self.surfaces = order, surfaces
        self.counts = {order: Counter(counted_windows)}
        for length in range(order - 1, 0, -1):
            before = defaultdict(set)
            for entities, window in self.counts[length + 1]:
                before[entities, window[1:]].add(window[0])
            self.counts[length] = Counter({key: len(symbols) for key, symbols in before.items()})
        self.discounts = {length: self.discount(counts) for length, counts in self.counts.items()}

    @staticmethod
    def discount(counts):
        once, twice = (sum(count == n for count in counts.values()) for n in (1, 2))
        return once / (once + 2 * twice) if once else 0.5

    def probability(self, entities, window, length=None):
        length = self.order if length is None else length
        if length == 0:
            return 1 / (1 + (self.surfaces - UNKNOWN) * (entities + 1))
        suffix = window[-length:]
        following = {
            k[1][-1]: n for k, n in self.counts[length].items() if k[0] == entities and k[1][:-1] == suffix[:-1]
        }
        shorter = self.probability(entities, window, length - 1)
        if not following:
            return shorter
        total, d = sum(following.values()), self.discounts[length]
        return (max(following.get(suffix[-1], 0) - d, 0) + d * len(following) * shorter) / total


@pytest.mark.slow
def test_the_released_code_gives_these_values():
    rows, surfaces = encode(*TRAINING, TEST)
    training, test = flatten(rows[:3]), flatten(rows[3:])
    model = ChainModel.fit(training, Packing(5, surfaces), published=True)
    assert [table.discount for table in model.tables] == pytest.approx([0, 0.84, 0.92, 1, 1])
    assert [int((table.counts == 1).sum()) for table in model.tables] == [8, 21, 23, 25, 25]
    assert model.log_probabilities(test).sum() == pytest.approx(-6.7285446207, abs=1e-9)
    assert np.exp(-model.log_probabilities(training).mean()) == pytest.approx(3.5065498390, abs=1e-9)


def test_the_released_code_gives_an_unseen_symbol_a_floor():
    rows, surfaces = encode(*TRAINING, ". MALE:0 thee:0")
    model = ChainModel.fit(flatten(rows[:3]), Packing(5, surfaces), published=True)
    assert model.log_probabilities(flatten(rows[3:]))[-1] < np.log(FLOOR)


def test_published_model_is_finite_without_singletons_unlike_the_released_code():
    chains = flatten([([STOP, 3, 3], [NO_ENTITY, 0, 0])] * 3)
    model = ChainModel.fit(chains, Packing(2, 5), published=True)
    assert np.isfinite(model.log_probabilities(flatten([([STOP, 4], [NO_ENTITY, 0])]))).all()


@pytest.mark.parametrize("order", [2, 3, 5, 6])
def test_windows_follow_the_definition(order):
    chains = sample_chains(order)
    packing = Packing(order, 6)
    keys = pack_windows(chains, packing)
    expected = relabel_windows(chains, order)
    assert [(int(packing.entities(key, order)), tuple(packing.symbols(int(key), order))) for key in keys] == [
        (entities | 0, window) for entities, window in ((k, w) for k, w in expected)
    ]


@pytest.mark.parametrize("order", [2, 3, 5])
def test_the_model_is_kneser_ney(order):
    training, test = sample_chains(1), sample_chains(2, symbols=60)
    model = ChainModel.fit(training, Packing(order, 6))
    expected = BruteForceKneserNey(relabel_windows(training, order), order, 6)
    assert [table.discount for table in model.tables] == pytest.approx(
        [expected.discounts[length] for length in range(1, order + 1)]
    )
    probabilities = np.exp(model.log_probabilities(test))
    assert probabilities == pytest.approx(
        [expected.probability(*window) for window in relabel_windows(test, order)], rel=1e-12
    )


@pytest.mark.parametrize("published", [False, True])
def test_probabilities_sum_to_one_for_every_history(published):
    """Over seen and unseen symbols; as published, up to the floor of unseen ones."""
    packing = Packing(4, 6)
    training, held_out = sample_chains(3), sample_chains(4)
    model = ChainModel.fit(training, packing, published)
    for chains in (training, held_out):
        keys = pack_windows(chains, packing)
        for key in np.unique(keys):
            _, probabilities = model.distribution(int(key))
            assert probabilities.sum() == pytest.approx(1, abs=1e-12)
            assert (probabilities > 0).all()


def test_an_unknown_surface_has_the_backed_off_probability():
    rows, surfaces = encode(*TRAINING)
    model = ChainModel.fit(flatten(rows), Packing(5, surfaces))
    (_, entities), unknown = rows[0], np.full(len(rows[0][0]), UNKNOWN)
    unknown[0] = STOP
    costs = -model.log_probabilities(flatten([(unknown, entities)]))
    assert costs.max() < 8


def test_entity_numbers_are_arbitrary():
    chains = sample_chains(5)
    renamed = Chains(chains.surfaces, np.where(chains.entities >= 0, 7 - chains.entities, -1), chains.lengths)
    model = ChainModel.fit(chains, Packing(5, 6))
    assert np.array_equal(model.log_probabilities(chains), model.log_probabilities(renamed))


def test_a_loaded_model_equals_the_saved_one(tmp_path):
    chains = sample_chains(6)
    model = ChainModel.fit(chains, Packing(5, 6))
    model.save(tmp_path / "model.npz")
    loaded = ChainModel.load(tmp_path / "model.npz")
    assert np.array_equal(model.log_probabilities(chains), loaded.log_probabilities(chains))


def test_without_singletons_unseen_ngrams_keep_some_mass():
    chains = flatten([([STOP, 3, 3], [NO_ENTITY, 0, 0])] * 3)
    model = ChainModel.fit(chains, Packing(2, 5))
    assert model.tables[-1].discount == 0.5
    _, probabilities = model.distribution(int(pack_windows(chains, Packing(2, 5))[1]))
    assert (probabilities > 0).all()


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_the_largest_number_of_surfaces_fits(order):
    most = max_surfaces(order)
    packing = Packing(order, most)
    chains = flatten([(np.full(12, most - 1), np.arange(12))])
    keys = pack_windows(chains, packing)
    assert (keys > 0).all()
    assert packing.symbols(int(keys[-1]), order) == [(most - 1, entity) for entity in range(order)]
    assert int(packing.entities(keys[-1:], order)[0]) == order - 1


def test_chains_may_be_empty():
    chains = flatten([([], []), ([STOP], [NO_ENTITY]), ([], [])])
    model = ChainModel.fit(chains, Packing(5, 5))
    assert len(model.log_probabilities(chains)) == 1


def test_a_mention_spelt_like_a_reserved_surface_is_unknown():
    index = {".": STOP, "<pad>": PAD, "<unknown>": UNKNOWN, "he": 3}
    table = pd.DataFrame({"surfaces": [[".", "he", ".", "<pad>"]], "entities": [[NO_ENTITY, 0, 0, 1]]})
    assert encode_chains(table, index).surfaces.tolist() == [STOP, 3, UNKNOWN, UNKNOWN]


@pytest.mark.parametrize("published", [False, True])
def test_beginning_of_chain_is_no_difference(published):
    """The first "." is certain in both collections; smoothing alone gives its probabilities different values."""
    reference, candidate = sample_chains(0), sample_chains(1, symbols=200)
    for chains in (reference, candidate):
        chains.surfaces[np.cumsum(chains.lengths) - chains.lengths] = STOP
        chains.entities[np.cumsum(chains.lengths) - chains.lengths] = NO_ENTITY
    models = [ChainModel.fit(reference, Packing(5, 6), convention) for convention in (False, True)]
    prior = ChainPrior(
        [".", "<pad>", "<unknown>", "he", "she", "they"], *models, "published" if published else "default"
    )
    table = rank_differences(prior, reference, candidate, least=2)
    assert len(table) > 0
    assert not (table["z_4"] == BEGIN).any()

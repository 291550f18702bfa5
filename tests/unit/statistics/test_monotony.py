"""Monotony: its components, their standardization, and the jackknife."""

import numpy as np
import pytest

from macroscope.statistics.monotony import COMPONENTS, FLOOR, TextNumbers, rank_systems


def made(rng, texts, shift=0.0):
    between = rng.uniform(0.01, 0.03, (texts, texts)) * np.exp(shift)
    within = rng.uniform(0.02, 0.05, texts) * np.exp(shift)
    return TextNumbers(
        rng.normal(0.6 + shift, 0.1, texts), rng.normal(0.8 - shift, 0.2, texts), within, between + between.T
    )


def without(numbers, k):
    rest = np.delete(np.arange(len(numbers.compression)), k)
    return TextNumbers(
        numbers.compression[rest], numbers.rhythm[rest], numbers.within[rest], numbers.between[np.ix_(rest, rest)]
    )


def test_leaving_a_text_out_is_computing_without_it():
    numbers = made(np.random.default_rng(0), 9)
    numbers.within[3] = np.nan
    left_out = numbers.leave_one_out()
    for k in (0, 3, 8):
        for name, values in without(numbers, k).values().items():
            assert left_out[name][k] == pytest.approx(np.nanmean(values))


def test_real_text_has_no_monotony_and_repetitive_texts_have_more():
    rng = np.random.default_rng(1)
    real, same, more = made(rng, 60), made(rng, 60), made(rng, 60, shift=0.2)
    alike, repetitive, itself = rank_systems(real.values(), [same, more, real], 1.96)
    assert itself.value == pytest.approx(0, abs=1e-9)
    assert alike.low < 0 < alike.high
    assert repetitive.low > alike.high
    assert repetitive.value == pytest.approx(np.mean([*repetitive.components.values()]))
    words = (more.compression.mean() - real.compression.mean()) / real.compression.std(ddof=1)
    assert repetitive.components["words"] == pytest.approx(words)


def test_a_component_that_one_collection_lacks_counts_for_none():
    rng = np.random.default_rng(2)
    real, system = made(rng, 20), made(rng, 20)
    system.within[:] = np.nan
    assert [*rank_systems(real.values(), [system, made(rng, 20)], 1.96)[1].components] == [
        name for name in COMPONENTS if name != "within"
    ]


def test_the_share_of_a_text_with_itself_does_not_count():
    numbers = made(np.random.default_rng(3), 6)
    np.fill_diagonal(numbers.between, 1.0)
    off = numbers.between[0, 1:].mean()
    assert numbers.values()["between"][0] == pytest.approx(np.log(off + FLOOR))

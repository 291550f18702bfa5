"""Courses of texts: means by tenth, bands, and tests, on curves whose differences are known."""

import numpy as np
import pandas as pd
import pytest

from macroscope.options import Resampling
from macroscope.statistics.courses import (
    BEGINNING,
    COURSE,
    FEWEST,
    TENTHS,
    Courses,
    average_by_tenth,
    change_name,
    compare_courses,
    estimate_curves,
    tenth_name,
)

RESAMPLING = Resampling(199, 199, 0.95, 1)


def _courses(rng, texts, late=0.0, level=0.0, named="p"):
    curves = rng.normal(size=(texts, 1, TENTHS)) + level
    curves[..., TENTHS // 2 :] += late
    return Courses(pd.DataFrame({"id": [f"{named}{n}" for n in range(texts)]}), curves)


def _by_name(estimates):
    return {each.statistic: each for each in estimates}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.arange(10.0), np.arange(10.0)),
        (np.arange(20.0), np.arange(10) * 2 + 0.5),
        (np.array([1.0, 3.0]), [1] * 5 + [3] * 5),
        (np.array([7.0]), [7] * 10),
    ],
)
def test_tenths_of_a_sequence(values, expected):
    np.testing.assert_allclose(average_by_tenth(values), expected)


@pytest.mark.parametrize("pieces", [3, 7, 11, 101])
def test_the_mean_of_the_tenths_is_that_of_the_text(pieces):
    values = np.random.default_rng(pieces).normal(size=pieces)
    assert average_by_tenth(values).mean() == pytest.approx(values.mean())


def test_values_at_a_border_count_with_their_shares():
    # 15 pieces: a tenth has one and a half of them.
    assert average_by_tenth(np.arange(15.0))[0] == pytest.approx((0 + 0.5 * 1) / 1.5)


def test_a_late_difference_is_estimates_where_it_is():
    rng = np.random.default_rng(1)
    estimates = _by_name(compare_courses(_courses(rng, 60), _courses(rng, 60, late=1.0, named="q"), ["x"], RESAMPLING))
    differs = [t for t in range(BEGINNING + 1, TENTHS + 1) if estimates[change_name("x", t)].p_value < 0.05]
    assert differs == list(range(6, 11))
    assert estimates[COURSE].p_value == min(estimates[change_name("x", t)].p_value for t in differs)


def test_another_level_everywhere_is_no_other_course():
    rng = np.random.default_rng(1)
    real, system = _courses(rng, 60), _courses(rng, 60, level=5.0, named="q")
    assert _by_name(compare_courses(real, system, ["x"], RESAMPLING))[COURSE].p_value > 0.05


@pytest.mark.parametrize("named", ["p", "q"])
@pytest.mark.parametrize("seed", range(8))
def test_band_and_test_agree(seed, named):
    rng = np.random.default_rng(seed)
    *changes, test = compare_courses(_courses(rng, 12), _courses(rng, 12, 0.7, named=named), ["x"], RESAMPLING)
    for each in changes:
        assert (each.p_value < 0.05) == (not each.ci_low <= 0 <= each.ci_high)
    assert (test.p_value < 0.05) == any(not each.ci_low <= 0 <= each.ci_high for each in changes)


def test_shared_prompts_take_their_common_course_away():
    rng = np.random.default_rng(3)
    real = _courses(rng, 30)
    common = rng.normal(scale=5, size=(30, 1, 1)) * np.linspace(0, 1, TENTHS)
    first = Courses(real.keys, real.curves + common)
    system = _courses(rng, 30, late=1.0)
    second = Courses(system.keys, system.curves + common)
    others = Courses(pd.DataFrame({"id": [f"q{n}" for n in range(30)]}), second.curves)
    paired, unpaired = (_by_name(compare_courses(first, each, ["x"], RESAMPLING)) for each in (second, others))
    assert paired[COURSE].p_value < 0.05 < unpaired[COURSE].p_value


def test_texts_of_a_prompt_are_one_unit():
    rng = np.random.default_rng(4)
    once = _courses(rng, 20)
    ids = [f"p{n} (sample {copy})" for copy in range(1, 6) for n in range(20)]
    copies = Courses(pd.DataFrame({"id": ids}), np.tile(once.curves, (5, 1, 1)))
    bands = [estimate_curves(each, ["x"], RESAMPLING) for each in (once, copies)]
    for of_once, of_copies in zip(*bands, strict=True):
        np.testing.assert_allclose([of_once.value, of_once.ci_low], [of_copies.value, of_copies.ci_low], rtol=1e-6)


def test_values_that_few_texts_have_leave_the_band_finite():
    rng = np.random.default_rng(5)
    courses = _courses(rng, 50)
    courses.curves[..., 0] = 0.0
    courses.curves[7, :, 0] = 1.0
    bands = _by_name(estimate_curves(courses, ["x"], RESAMPLING))
    assert bands[tenth_name("x", 5)].ci_high < 3


def test_equal_courses_do_not_differ():
    courses = _courses(np.random.default_rng(6), 20)
    *changes, test = compare_courses(courses, courses, ["x"], RESAMPLING)
    assert test.p_value == 1
    assert all(each.value == each.ci_low == each.ci_high == 0 for each in changes)


@pytest.mark.parametrize("texts", [0, 1, FEWEST - 1])
def test_too_few_texts_have_no_test(texts):
    rng = np.random.default_rng(7)
    estimates = compare_courses(_courses(rng, 20), _courses(rng, texts, named="q"), ["x"], RESAMPLING)
    assert [each.statistic for each in estimates] == [COURSE]
    assert np.isnan(estimates[0].value)
    assert estimate_curves(_courses(rng, texts), ["x"], RESAMPLING) == []

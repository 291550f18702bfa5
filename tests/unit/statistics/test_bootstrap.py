"""Bootstrap intervals against closed forms and simulation."""

import numpy as np
import pytest

from macroscope.statistics import bootstrap
from macroscope.statistics.bootstrap import bootstrap_sums, percentile_interval


def test_bootstrap_standard_error_of_a_mean_is_the_textbook_one():
    x = np.random.default_rng(0).exponential(size=400)
    sums = bootstrap_sums(x, 4000, np.random.default_rng(1))
    assert (sums[:, 0] / 400).std() == pytest.approx(x.std() / 20, rel=0.06)


@pytest.mark.slow
def test_bootstrap_interval_covers_at_its_level():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        x = rng.normal(3, 1, size=60)
        low, high = percentile_interval(bootstrap_sums(x, 400, rng)[:, 0] / 60, 0.95)
        hits += low <= 3 <= high
    assert 0.91 <= hits / 400 <= 0.98


def test_resamples_do_not_depend_on_how_many_are_drawn_at_once(monkeypatch):
    rows = np.random.default_rng(0).random((40, 3))
    sums = bootstrap_sums(rows, 101, np.random.default_rng(1))
    monkeypatch.setattr(bootstrap, "_DRAWS_AT_ONCE", 130)
    assert (bootstrap_sums(rows, 101, np.random.default_rng(1)) == sums).all()


def test_no_documents_is_an_error():
    with pytest.raises(ValueError, match="at least one document"):
        bootstrap_sums([], 10, np.random.default_rng(0))


def test_an_undefined_resample_has_no_interval():
    assert all(np.isnan(percentile_interval([1.0, np.inf], 0.95)))

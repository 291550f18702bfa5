"""Dates of files that other clocks gave."""

import os
import time

import pytest

from macroscope.errors import MacroscopeError
from macroscope.execution.dates import redate_future_files, require_past


def test_results_of_the_future_are_of_today_in_their_order(tmp_path):
    dates = {"later": 5e9, "old": 1e9, "sooner": 4e9}
    for name, date in dates.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (date, date))
    redate_future_files([str(tmp_path), str(tmp_path / "nowhere")])
    old, sooner, later = ((tmp_path / name).stat().st_mtime for name in ("old", "sooner", "later"))
    assert old == 1e9
    assert time.time() - 60 < sooner < later <= time.time()


def test_results_of_today_keep_their_dates(tmp_path):
    (tmp_path / "a").touch()
    before = (tmp_path / "a").stat().st_mtime_ns
    redate_future_files([str(tmp_path)])
    assert (tmp_path / "a").stat().st_mtime_ns == before


def test_a_users_file_of_the_future_is_named(tmp_path):
    path = tmp_path / "real.jsonl"
    path.touch()
    require_past(str(path))
    os.utime(path, (4e9, 4e9))
    with pytest.raises(MacroscopeError, match=f"{path}: dated in the future, .*; run `touch {path}`"):
        require_past(str(path))

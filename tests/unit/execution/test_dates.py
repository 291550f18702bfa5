"""Dates of files that other clocks gave."""

import asyncio
import os
import time
from types import SimpleNamespace

import pytest

from macroscope.execution.dates import end_future, ignore_dates_of_users


def test_results_of_the_future_are_of_today_in_their_order(tmp_path):
    dates = {"later": 5e9, "old": 1e9, "sooner": 4e9}
    for name, date in dates.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (date, date))
    end_future([str(tmp_path), str(tmp_path / "nowhere")])
    old, sooner, later = ((tmp_path / name).stat().st_mtime for name in ("old", "sooner", "later"))
    assert old == 1e9
    assert time.time() - 60 < sooner < later <= time.time()


def test_results_of_today_keep_their_dates(tmp_path):
    (tmp_path / "a").touch()
    before = (tmp_path / "a").stat().st_mtime_ns
    end_future([str(tmp_path)])
    assert (tmp_path / "a").stat().st_mtime_ns == before


@pytest.mark.parametrize("is_ancient", [True, False])
def test_only_dates_of_results_are_checked(is_ancient):
    checked = []

    async def check(job, outputs):
        checked.append(job)

    workflow = SimpleNamespace(dag=SimpleNamespace(check_output_mtime=check))
    ignore_dates_of_users(workflow)
    job = SimpleNamespace(input=[SimpleNamespace(is_ancient=is_ancient), SimpleNamespace(is_ancient=False)])
    asyncio.run(workflow.dag.check_output_mtime(job, []))
    assert checked == ([] if is_ancient else [job])

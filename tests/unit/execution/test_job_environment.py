"""Snakemake's loop turns when something happened, and no more often than the user allows."""

from types import SimpleNamespace

import pytest
from snakemake.cli import get_argument_parser
from snakemake.scheduling.job_scheduler import JobRateLimiter
from snakemake.settings.types import MaxJobsPerTimespan

from macroscope.execution.job_environment import remove_rate_limit


def workflow(limit):
    limiter = None if limit is None else JobRateLimiter(MaxJobsPerTimespan.parse_choice(limit))
    return SimpleNamespace(scheduler=SimpleNamespace(job_rate_limiter=limiter))


@pytest.mark.parametrize(("limit", "is_kept"), [("100/1s", False), ("5/1m", True), ("100/1m", True), (None, False)])
def test_a_limit_is_kept_if_the_user_gave_it(limit, is_kept):
    limited = workflow(limit)
    remove_rate_limit(limited)
    assert (limited.scheduler.job_rate_limiter is not None) == is_kept


def test_the_default_limit_is_snakemakes():
    """It is told from one that the user gave by its value."""
    assert get_argument_parser().get_default("max_jobs_per_timespan") == "100/1s"

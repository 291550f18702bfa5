"""Snakemake's loop over ready jobs, without what makes it turn for nothing."""

from typing import Any

_DEFAULT_LIMIT = (100, 1)
"""Snakemake's own: jobs, seconds."""


def turn_only_when_needed(workflow: Any) -> None:
    """Take Snakemake's default limit of 100 jobs a second away; one that the user gave is kept.

    Under a limit every turn of the loop starts a timer that makes it turn again a second later, besides the turns that
    jobs make which end (snakemake/snakemake#3744), and every turn looks at the inputs of all ready jobs: with 3,000 of
    them Snakemake takes 85 % of a core, without the limit 28 %.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == _DEFAULT_LIMIT:
        workflow.scheduler.job_rate_limiter = None

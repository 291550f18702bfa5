"""Orphaned jobs: jobs end with the Snakemake process that started them.

In a terminal, Ctrl-C reaches Snakemake and its jobs alike. A signal that is sent to Snakemake alone does not: after
SIGINT it would wait for its jobs, for hours, and discard their results; after SIGKILL they would go on alone, and a
new run would start the same jobs beside them. SIGTERM keeps Snakemake's meaning: running jobs finish, and count.
"""

import contextlib
import logging
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

from macroscope.execution.job_client import SNAKEMAKE

EVERY_SECONDS = 0.5
GRACE_SECONDS = 3.0

log = logging.getLogger("macroscope")


def end_with_snakemake() -> None:
    """In a job, end soon after the Snakemake process that the environment names; without one, do nothing."""
    parent = os.environ.get(SNAKEMAKE)
    if parent is None:
        return
    # SIGTERM ends Python at once; as an exception, it lets half-written files be removed.
    signal.signal(signal.SIGTERM, _exit)
    os.register_at_fork(after_in_child=_take_default_sigterm)
    threading.Thread(target=_watch, args=(int(parent),), daemon=True).start()


def end_jobs_on_interrupt() -> None:
    """In Snakemake, let a SIGINT that only Snakemake got end its jobs as well."""
    before = signal.getsignal(signal.SIGINT)
    # A background process of a script ignores SIGINT; this must stay so.
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        return

    def interrupted(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=_end_jobs, daemon=True).start()
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupted)


def _watch(parent: int) -> None:
    import psutil  # here, in a thread, since the import takes time

    # An ancestor cannot be another process that has got the same id since, or has it in the job's container.
    snakemake = next((process for process in psutil.Process().parents() if process.pid == parent), None)
    if snakemake is None:
        return
    while _lives(snakemake):
        time.sleep(EVERY_SECONDS)
    log.error("macroscope: the Snakemake that started this job has ended; so does the job")
    me = psutil.Process()
    _send(me, signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    # Still running: in the middle of a long computation.
    for process in (*me.children(recursive=True), me):
        _send(process, signal.SIGKILL)


def _end_jobs() -> None:
    import psutil

    for number in (signal.SIGTERM, signal.SIGKILL):
        time.sleep(GRACE_SECONDS)  # jobs that got the signal themselves are ending
        for process in psutil.Process().children(recursive=True):
            # Only jobs: processes that Snakemake started for itself, such as to cancel jobs on a cluster, go on.
            if _is_job(process):
                _send(process, number)


def _lives(process: Any) -> bool:
    import psutil

    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _is_job(process: Any) -> bool:
    import psutil

    try:
        return bool(process.environ().get(SNAKEMAKE) == str(os.getpid()))
    except psutil.Error:
        return False


def _send(process: Any, number: signal.Signals) -> None:
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def _exit(number: int, frame: FrameType | None) -> None:
    import psutil

    for process in psutil.Process().children(recursive=True):
        _send(process, signal.SIGTERM)
    sys.exit(128 + number)


def _take_default_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

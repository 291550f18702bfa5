"""The job server of a run: started before the first job, ended after the last."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from macroscope.execution.job_environment import quiet
from macroscope.execution.job_server import COMMANDS, THREADS
from macroscope.execution.limits import waiting

_START_SECONDS = 10.0
_LIBRARIES = (THREADS, "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Variables of the numeric libraries' threads: the server has one, so that no thread is lost by a fork."""


@contextmanager
def job_server(folder: Path, modules: Sequence[str]) -> Iterator[str]:
    """Run a job server; yield the path of its socket.

    Parameters
    ----------
    folder
        Working directory.
    modules
        Dotted names of the modules that jobs run, those of the first ones first.
    """
    with tempfile.TemporaryDirectory(prefix="macroscope-", ignore_cleanup_errors=True) as place:
        path = Path(place) / "jobs"  # not in the run's folder: the paths of sockets are short
        process = subprocess.Popen(
            [sys.executable, "-m", "macroscope.execution.job_server", str(path), COMMANDS, *modules],
            cwd=folder,
            env=os.environ | waiting() | quiet() | dict.fromkeys(_LIBRARIES, "1") | {"PYTHONPATH": _python_path()},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt reaches the jobs through their clients
        )
        try:
            _wait_for(path, process)
            yield str(path)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


def _python_path() -> str:
    """Return PYTHONPATH with the folder of this package first."""
    package = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])


def _wait_for(path: Path, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a server listens; if it does not, jobs run in processes of their own."""
    end = time.monotonic() + _START_SECONDS
    while not path.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)

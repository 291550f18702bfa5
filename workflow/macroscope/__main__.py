"""`python -m macroscope`: the command line as every job of the workflow calls it, without Python's clean-up at exit.

After torch is imported, Python needs more than a second to free the libraries object by object, and some of them report
what they leave; the system frees the memory anyway. Functions registered with `atexit` still run before the process
ends. If a job server runs, it runs the command, and this process imports next to nothing.
"""

import atexit
import os
import sys

from macroscope.execution.job_client import end_on_server


def _leave_at_once(status: int) -> None:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # a service may have closed them
                stream.flush()
    except OSError:  # Python flushes again, reports the failure and sets the exit status
        return
    os._exit(status)


def _run() -> None:
    end_on_server(sys.argv[1:])
    from macroscope.cli import main  # only now: the import takes a fifth of a second

    status: int | None = None
    # Registered before all others, so it runs last.
    atexit.register(lambda: _leave_at_once(status) if status is not None else None)
    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, str):
            status = end.code or 0
        raise


if __name__ == "__main__":
    _run()

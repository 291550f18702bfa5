"""`python -m macroscope`: the command line as every job of the workflow calls it, without Python's clean-up at exit.

After torch is imported, Python needs more than a second to free the libraries object by object; the system frees the
memory anyway. Functions registered with `atexit` still run before the process ends.
"""

import atexit
import os
import sys

from macroscope.cli import main


def _leave_at_once() -> None:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # a service may have closed them
                stream.flush()
    except OSError:  # Python flushes again, reports the failure and sets the exit status
        return
    os._exit(0)


def _run() -> None:
    ended_well = False
    # Registered before all others, so it runs last.
    atexit.register(lambda: _leave_at_once() if ended_well else None)
    try:
        main()
    except SystemExit as end:
        ended_well = not end.code
        raise


if __name__ == "__main__":
    _run()

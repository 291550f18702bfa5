"""`python -m macroscope` is `macroscope`, as every job of the workflow calls it: it does not tidy up what ends with it.

Taking down the libraries object by object takes Python more than a second where torch is; the system frees the memory
all the same. What is registered to be done at the end is done before.
"""

import atexit
import os
import sys

from macroscope.cli import main


def _leave_at_once() -> None:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # a service may have closed it
                stream.flush()
    except OSError:  # Python tries once more, says why it fails, and ends with its status
        return
    os._exit(0)


def _run() -> None:
    ended_well = False
    # Registered before all others, and so called after them.
    atexit.register(lambda: _leave_at_once() if ended_well else None)
    try:
        main()
    except SystemExit as end:
        ended_well = not end.code
        raise


if __name__ == "__main__":
    _run()

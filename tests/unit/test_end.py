"""The end of `python -m macroscope`: at once, but after all that is registered to be done."""

import subprocess
import sys

import pytest

ENDS = """
import atexit, sys
import macroscope.__main__ as macroscope

def verb():
    atexit.register(print, "tidied up")
    print("said")
    sys.exit({status})

class Costly:
    def __del__(self):
        print("taken down")

costly = Costly()
macroscope.main = verb
macroscope._run()
"""


@pytest.mark.parametrize(("status", "last"), [(0, []), (3, ["taken down"])])
def test_what_is_registered_is_done_and_nothing_is_taken_down_after_a_success(status, last):
    done = subprocess.run(
        [sys.executable, "-c", ENDS.format(status=status)], capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert done.stdout.splitlines() == ["said", "tidied up", *last]

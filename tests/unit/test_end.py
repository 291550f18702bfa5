"""The end of `python -m macroscope`: at once, but after all that is registered to be done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENDS = """
import atexit, sys
import macroscope.__main__ as macroscope
from macroscope import cli

def verb():
    atexit.register(print, "tidied up")
    print("said")
    sys.exit({status})

class Costly:
    def __del__(self):
        print("taken down")

costly = Costly()
cli.main = verb
macroscope._run()
"""


@pytest.mark.parametrize("status", [0, 3])
def test_what_is_registered_is_done_and_nothing_is_taken_down(status):
    done = subprocess.run(
        [sys.executable, "-c", ENDS.format(status=status)], capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert done.stdout.splitlines() == ["said", "tidied up"]


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_stream_is_no_error_at_the_end(closed):
    number = {"stdout": 1, "stderr": 2}[closed]
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {number}>&-', sys.executable, ENDS.format(status=0)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "taken down" not in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_output_that_cannot_be_written_is_said_in_the_status():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", ENDS.format(status=0)],
            stdout=full,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": ""},
            text=True,
            check=False,
        )
    assert done.returncode == 120
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr

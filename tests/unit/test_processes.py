"""Tasks in several processes: all of them run, and a failure is not lost."""

import os
from functools import partial

import pytest

from macroscope.errors import MacroscopeError
from macroscope.reporting.figures import run_tasks


def write(path, what):
    path.write_text(what() + f" {os.getpid()}")


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 3])
def test_all_tasks_run(processes, tmp_path):
    run_tasks([partial(write, tmp_path / str(n), lambda n=n: f"task {n}") for n in range(7)], processes)
    written = [(tmp_path / str(n)).read_text().split() for n in range(7)]
    assert [words[1] for words in written] == [str(n) for n in range(7)]
    assert (str(os.getpid()) in {words[2] for words in written}) == (processes == 1)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_task_that_fails(processes, tmp_path):
    def fail():
        raise MacroscopeError("this is wrong")

    with pytest.raises(MacroscopeError, match="this is wrong"):
        run_tasks([partial(write, tmp_path / "a", lambda: "a"), fail], processes)

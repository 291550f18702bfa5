"""The server of jobs: commands as in a process of their own, and none that outlives its client."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from macroscope.execution import job_server as server_process
from macroscope.execution.job_client import SERVER, read_status, run_on_server, submit
from macroscope.execution.job_server import job_server
from macroscope.files import REPOSITORY

pytestmark = pytest.mark.slow
ENVIRONMENT = os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow")}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Run a server without modules; gives its socket."""
    with job_server(tmp_path_factory.mktemp("jobs"), ["no.such.module"]) as path:
        yield path


def macroscope(*words, folder, **environment):
    """Run the command line in a process; gives status, output and errors."""
    command = [sys.executable, "-m", "macroscope", *words]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT | environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", [["critics", "list"], ["critics", "lost"], ["config", "check", "--config", "none"]])
def test_a_command_has_the_same_status_and_output(server, tmp_path, words):
    assert macroscope(*words, folder=tmp_path, **{SERVER: server}) == macroscope(*words, folder=tmp_path)


def test_without_a_server_a_command_runs_in_its_own_process(tmp_path, monkeypatch):
    monkeypatch.delenv(SERVER, raising=False)
    assert run_on_server(["--version"]) is None
    status, output, _ = macroscope("--version", folder=tmp_path, **{SERVER: str(tmp_path / "gone")})
    assert (status, output.split()[0]) == (0, "macroscope")


def test_a_job_finds_the_command_line_and_the_compiler_ready():
    """Imports of the first compiled function of a job come before the fork."""
    program = """
import sys
import numpy as np
from macroscope.execution.job_server import COMMANDS, prepare
prepare(COMMANDS)
prepare("macroscope.statistics.compiled_permutations")
built, before = sys.modules[COMMANDS].command.cache_info().currsize, set(sys.modules)
sys.modules["macroscope.statistics.compiled_permutations"].coin_sums(np.ones((9, 1)), 5, np.random.default_rng(1))
print(built, [name for name in set(sys.modules) - before if name.startswith("numba")])
"""
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["1", "[]\n"]


# ---- the loop by itself, with jobs of the test -----------------------------------------------------------------------

LOOP = """
import json, os, signal, socket, subprocess, sys, time
from macroscope.execution.job_server import JobServer

with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[1])
    listener.listen()
    words = JobServer(listener, ["no.such.module", "wave", "numpy"]).serve()
if words is not None:
    print(json.dumps([words, os.getcwd(), os.environ["COLOUR"], "wave" in sys.modules]), flush=True)
    exec(words[0])
"""


@pytest.fixture
def loop(tmp_path):
    """Start the loop; gives a function that submits a Python statement and returns the connection."""
    (tmp_path / "loop.py").write_text(LOOP)
    path = str(tmp_path / "s")
    environment = ENVIRONMENT | {"OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "loop.py", path], cwd=tmp_path, env=environment, stdin=subprocess.PIPE)
    while not os.path.exists(path):
        time.sleep(0.01)
    time.sleep(0.3)  # it imports what it was told

    def start(statement, output, **environment):
        variables = ENVIRONMENT | {"COLOUR": "red"} | environment
        return submit(path, [statement], str(tmp_path), variables, (output.fileno(),) * 2)

    yield start
    process.stdin.close()
    assert process.wait(10) == 0


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_job_has_the_folder_and_the_environment_of_its_client_and_the_modules_of_the_server(loop, tmp_path):
    with (tmp_path / "out").open("w") as output, loop("sys.exit(7)", output) as connection:
        assert read_status(connection) == 7
    assert json.loads((tmp_path / "out").read_text()) == [["sys.exit(7)"], str(tmp_path), "red", True]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_job_has_its_own_number_of_threads(loop, tmp_path, threads):
    statement = "import threadpoolctl; sys.exit(max(pool['num_threads'] for pool in threadpoolctl.threadpool_info()))"
    with (tmp_path / "out").open("w") as output, loop(statement, output, OMP_NUM_THREADS=str(threads)) as connection:
        assert read_status(connection) == threads


def test_a_job_that_a_signal_ends_has_failed(loop, tmp_path):
    with (tmp_path / "out").open("w") as output, loop("os.kill(os.getpid(), 9)", output) as connection:
        assert read_status(connection) == 128 + signal.SIGKILL


def test_jobs_run_at_the_same_time(loop, tmp_path):
    wait = "open({mine!r}, 'w')\nwhile not os.path.exists({other!r}): time.sleep(0.01)"
    with (tmp_path / "out").open("w") as output:
        first = loop(wait.format(mine="a", other="b"), output)
        second = loop(wait.format(mine="b", other="a"), output)
        assert (read_status(first), read_status(second)) == (0, 0)
        first.close()
        second.close()


@pytest.mark.parametrize("stubborn", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN); "])
def test_a_job_and_its_processes_end_with_the_client(loop, tmp_path, stubborn):
    note = "open('pid', 'w').write(f'{os.getpid()} {worker.pid}')"
    statement = f"{stubborn}worker = subprocess.Popen(['sleep', '60']); {note}; worker.wait()"
    with (tmp_path / "out").open("w") as output:
        connection = loop(statement, output)
        until(lambda: (tmp_path / "pid").exists() and len((tmp_path / "pid").read_text().split()) == 2)
        processes = [psutil.Process(int(pid)) for pid in (tmp_path / "pid").read_text().split()]
        connection.close()
        until(lambda: not any(process.is_running() for process in processes))


def test_a_socket_appears_once_it_listens(tmp_path, monkeypatch):
    path, appeared = tmp_path / "place" / "jobs", []
    path.parent.mkdir()

    class Socket(socket.socket):
        def listen(self, backlog):
            appeared.append(path.exists())
            super().listen(backlog)

    monkeypatch.setattr(server_process.socket, "socket", Socket)
    serving = SimpleNamespace(serve=lambda: appeared.append(path.exists()))
    monkeypatch.setattr(server_process, "JobServer", lambda *_: serving)
    server_process.main(path, [])
    assert appeared == [False, True]

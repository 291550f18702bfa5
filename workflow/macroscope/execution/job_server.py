"""A server of jobs: one process that imports what the jobs of a run need, and forks itself for each of them.

A job is a command of `python -m macroscope`. Python takes a second to import what most of them need, and four if they
need PyTorch, which is more than most jobs of a small run compute. The server computes nothing itself, so it has no
threads that a fork would lose. It ends when its standard input does, with the process that started it.

`python -m macroscope.execution.job_server SOCKET MODULE...` listens on a socket, in a folder of its own, and imports
the modules when no command waits.
"""

import gc
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from macroscope.errors import FAILED
from macroscope.execution.job_client import SERVER, receive_request
from macroscope.execution.job_environment import quiet
from macroscope.execution.limits import waiting

THREADS = "OMP_NUM_THREADS"
"""Environment variable with the number of threads of a job's numeric libraries, as Snakemake sets it."""
COMMANDS = "macroscope.cli"
"""Module of the command line, which every job runs."""
_OBJECTS_UNTIL_COLLECTION = 100_000
"""Threshold of the garbage collector during imports, whose objects all stay."""
_NO_MEMORY = "if it lacked memory, give it more, or fewer --cores"
_DEFECT = "a library or plug-in that it runs has a defect: update it, or leave the critic out"
_GRACE_SECONDS = 3.0
_TICK_SECONDS = 0.5


@dataclass
class _Job:
    """A running job: its process, and the connection of the client that waits for it."""

    pid: int
    client: socket.socket
    log: Path | None
    abandoned: float | None = None

    def explain(self, status: int) -> None:
        """Say in the job's log which signal ended it, unless its client had gone."""
        if status < 0 and self.log is not None and self.abandoned is None:
            number = -status
            advice = _NO_MEMORY if number == signal.SIGKILL else _DEFECT
            with suppress(OSError), self.log.open("a", encoding="utf-8") as file:
                file.write(f"{FAILED}the job was ended by signal {number} ({signal.strsignal(number)}); {advice}\n")


class JobServer:
    """The loop of a server.

    Parameters
    ----------
    listener
        Socket that clients connect to.
    modules
        Dotted names of the modules to import; one that cannot be imported is left to the job that needs it.
    """

    def __init__(self, listener: socket.socket, modules: Sequence[str]) -> None:
        self._listener = listener
        self._modules = list(reversed(modules))
        self._jobs: dict[int, _Job] = {}
        self._selector = selectors.DefaultSelector()
        self._wakeup, wake = socket.socketpair()
        for end in (self._wakeup, wake):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        self._sockets = [listener, self._wakeup, wake]
        self._is_open = True
        for stream in (listener, self._wakeup, sys.stdin):
            self._selector.register(stream, selectors.EVENT_READ)

    def serve(self) -> list[str] | None:
        """Serve until the standard input ends and no job runs; in the process of a job, return its command."""
        while self._is_open or self._jobs:
            ready = self._selector.select(0 if self._modules else self._patience())
            for key, _ in ready:
                command = self._handle(key.fileobj)
                if command is not None:
                    return command
            self._reap()
            self._end_abandoned()
            if not ready and self._modules:
                with suppress(Exception):
                    prepare(self._modules.pop())
        return None

    def _patience(self) -> float | None:
        is_ending = any(job.abandoned is not None for job in self._jobs.values())
        return _TICK_SECONDS if is_ending else None

    def _handle(self, stream: Any) -> list[str] | None:
        if stream is self._listener:
            return self._start()
        if stream is self._wakeup:
            with suppress(BlockingIOError):
                self._wakeup.recv(4096)
        elif stream is sys.stdin:
            if not os.read(sys.stdin.fileno(), 4096):
                self._is_open = False
                self._modules.clear()
                self._selector.unregister(sys.stdin)
                self._selector.unregister(self._listener)
        else:  # a client has gone
            self._selector.unregister(stream)
            self._abandon(next(job for job in self._jobs.values() if job.client is stream))
        return None

    def _start(self) -> list[str] | None:
        """Fork for the command of a new client; return the command in the new process only."""
        client, _ = self._listener.accept()
        try:
            request, streams = receive_request(client)
        except (OSError, ValueError):
            client.close()
            return None
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            self._leave(client)
            return _become(request, streams)
        words = request["words"]
        log = Path(request["folder"], words[words.index("--log") + 1]) if "--log" in words[:-1] else None
        for stream in streams:
            os.close(stream)
        with suppress(PermissionError, ProcessLookupError):
            os.setpgid(pid, pid)
        self._jobs[pid] = _Job(pid, client, log)
        self._selector.register(client, selectors.EVENT_READ)
        return None

    def _leave(self, client: socket.socket) -> None:
        """Close what belongs to the server, in the process of a job."""
        os.setpgid(0, 0)  # its own worker processes end with it
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for stream in (*self._sockets, client, *(job.client for job in self._jobs.values())):
            stream.close()

    def _reap(self) -> None:
        """Tell the clients of the jobs that have ended their exit status."""
        while self._jobs:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            job = self._jobs.pop(pid, None)
            if job is None:
                continue
            with suppress(KeyError):
                self._selector.unregister(job.client)
            job.explain(os.waitstatus_to_exitcode(status))
            with suppress(OSError):
                job.client.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
            job.client.close()

    def _abandon(self, job: _Job) -> None:
        job.abandoned = time.monotonic()
        _signal(job, signal.SIGTERM)

    def _end_abandoned(self) -> None:
        for job in self._jobs.values():
            if job.abandoned is not None and time.monotonic() - job.abandoned > _GRACE_SECONDS:
                _signal(job, signal.SIGKILL)


def prepare(module: str) -> None:
    """Import a module, and do once what the first use of it does in each job: a quarter of a second in most of them."""
    imported = import_module(module)
    if module == COMMANDS:
        imported.command()
    if "numba" in sys.modules:
        _start_compiler()


@cache
def _start_compiler() -> None:
    """Let numba load its compiler, as its first compiled function does, even if that comes from its cache."""
    sys.modules["numba"].njit("float64(float64)")(lambda x: x)


def _signal(job: _Job, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(job.pid, number)


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> list[str]:
    """Take the streams, the folder, the environment and the threads of a request; return its words."""
    _take_streams([os.open(os.devnull, os.O_RDONLY), *streams])
    os.chdir(request["folder"])
    environment = {name: value for name, value in request["environment"].items() if name != SERVER}
    os.environ.clear()
    os.environ.update(environment)
    _limit_threads(int(environment.get(THREADS) or 0))
    return list(request["words"])


def _take_streams(streams: Sequence[int]) -> None:
    """Make file descriptors the standard input, output and error of this process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        mode = "w" if number else "r"
        opened = open(number, mode, buffering=1, closefd=False)  # noqa: SIM115 - as long as the process lives
        for attribute in (name, f"__{name}__"):
            setattr(sys, attribute, opened)


def _limit_threads(threads: int) -> None:
    """Set the number of threads of the numeric libraries that the server has imported, which have read 1."""
    if threads <= 1:
        return
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def main(path: Path, modules: Sequence[str]) -> None:
    """Serve at a socket until the process that started this one ends; run the command of a job in its process."""
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTION)
    with socket.socket(socket.AF_UNIX) as listener:
        # A client connects as soon as it sees the path, which must not be before the socket listens.
        unready = path.with_suffix(".unready")
        listener.bind(str(unready))
        listener.listen(128)
        unready.rename(path)
        command = JobServer(listener, modules).serve()
    if command is None:
        shutil.rmtree(path.parent, ignore_errors=True)  # the process that made it may have been killed
    else:
        sys.argv = ["macroscope", *command]
        runpy.run_module("macroscope", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
    os._exit(0)  # the process that waits for this one need not wait until Python has freed all libraries


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

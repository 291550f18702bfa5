"""The client of a job server: it hands a command over, and waits for its exit status.

Only modules of the standard library that load at once are imported here: jobs of the workflow start with this one.
"""

import array
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any

SERVER = "MACROSCOPE_JOB_SERVER"
"""Environment variable of a job: path of the socket of the server that runs it."""
SNAKEMAKE = "MACROSCOPE_SNAKEMAKE_PID"
"""Environment variable of a job: id of the Snakemake process that started it."""
NAMES_FAILURES = "MACROSCOPE_NAMES_FAILURES"
"""Environment variable of a job: set if Snakemake shows the error that is in its log, so that it need not."""
_STREAMS = 2
"""File descriptors that a request passes: standard output and standard error."""
_LENGTH_BYTES = 8
_POLL_SECONDS = 0.5


def run_on_server(words: Sequence[str]) -> int | None:
    """Let the server that the environment names run a command; return its exit status, None if there is no server."""
    path = os.environ.get(SERVER)
    if not path:
        return None
    try:
        connection = submit(path, words, os.getcwd(), os.environ, (1, 2))
    except OSError:  # it has ended: the command runs in its own process
        return None
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the server ends the job when this process has ended
    with connection:
        while not select.select([connection], [], [], _POLL_SECONDS)[0]:
            if not _snakemake_lives():
                return 1
        return read_status(connection)


def submit(
    path: str, words: Sequence[str], folder: str, environment: Mapping[str, str], streams: Sequence[int]
) -> socket.socket:
    """Hand a command over to a server; return the connection, on which `read_status` waits.

    Parameters
    ----------
    streams
        File descriptors for the standard output and the standard error of the command.

    Raises
    ------
    OSError
        If there is no server.
    """
    request = {"words": list(words), "folder": folder, "environment": dict(environment)}
    body = json.dumps(request).encode("utf-8", "surrogatepass")
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
        descriptors = array.array("i", streams)
        length = len(body).to_bytes(_LENGTH_BYTES, "big")
        connection.sendmsg([length], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        connection.sendall(body)
    except OSError:
        connection.close()
        raise
    return connection


def read_status(connection: socket.socket) -> int:
    """Return the exit status of a command; 1 if the server ended before it, or if a signal ended it."""
    with connection.makefile("rb") as stream:
        line = stream.readline()
    status = int(line) if line else 1
    return status if status >= 0 else 128 - status


def receive_request(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Read a request on the server's side: its fields, and the file descriptors for its streams."""
    length, streams, _, _ = socket.recv_fds(connection, _LENGTH_BYTES, _STREAMS)
    if len(length) < _LENGTH_BYTES or len(streams) < _STREAMS:
        raise ValueError("an incomplete request")
    with connection.makefile("rb") as stream:
        body = stream.read(int.from_bytes(length, "big"))
    return json.loads(body.decode("utf-8", "surrogatepass")), list(streams)


def _snakemake_lives() -> bool:
    try:
        os.kill(int(os.environ.get(SNAKEMAKE) or os.getpid()), 0)
    except ProcessLookupError:
        return False
    return True


def end_on_server(words: Sequence[str]) -> None:
    """End this process with the status of a command if a server runs it; return if there is none."""
    status = run_on_server(words)
    if status is not None:
        sys.stdout.flush()
        os._exit(status)

"""HTTP servers of tests, each in a thread of this process."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_STOP_SECONDS = 0.01
"""Longest wait until a server stops; the default of half a second would be most of the time of a test."""


@contextmanager
def serve_requests(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer requests by a handler at a free port of this machine; yield the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(_STOP_SECONDS,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

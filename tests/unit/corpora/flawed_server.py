"""A local server that misbehaves like real servers."""

import hashlib
import http.server
import threading
from contextlib import contextmanager, suppress

from ...local_server import serve_requests

CONTENT = bytes(range(256)) * 4096
HALVES = CONTENT[: len(CONTENT) // 2], CONTENT[len(CONTENT) // 2 :]
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def send_head(request, status, **headers):
    """Send a status and headers, whose names have underscores for hyphens."""
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), str(value))
    request.end_headers()


def send_chunks(request, parts, is_whole):
    """Send parts as chunks, and close the connection, with the last chunk or without it."""
    request.protocol_version = "HTTP/1.1"
    send_head(request, 200, Transfer_Encoding="chunked")
    for part in parts:
        request.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
    request.close_connection = True
    if is_whole:
        request.wfile.write(b"0\r\n\r\n")


class Server:
    """Server of CONTENT at /dumps/file.bin; `script` lists the answers to requests, and its last entry repeats."""

    def __init__(self, script):
        self.script, self.requests, self.etag, self.sums = list(script), [], '"one"', ""
        self.over = threading.Event()

    def answer(self, request):
        self.requests.append(dict(request.headers))
        action = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if action == "busy":
            request.send_error(503)
        elif action.startswith("trickle"):
            self.trickle(request, action)
        elif action in ("silent", "silent later"):
            self.fall_silent(request, action)
        elif action in ("circle", "file:///etc/passwd"):
            send_head(request, 302, Location=request.path if action == "circle" else action)
        elif request.path.endswith("sums.txt"):
            send_head(request, 200, Content_Length=len(self.sums.encode()))
            request.wfile.write(self.sums.encode())
        elif action == "no length":
            send_head(request, 200)
            request.wfile.write(HALVES[0])
        elif "chunks" in action:
            send_chunks(request, HALVES if action == "chunks" else HALVES[:1], action == "chunks")
        elif action == "page":
            send_head(request, 200)
            request.wfile.write(b"<!DOCTYPE html><title>Log in</title>")
        elif request.path != "/dumps/file.bin":
            request.send_error(404)
        else:
            self.send_file(request, action)

    def fall_silent(self, request, action):
        """Send nothing, or the beginning, and keep the connection."""
        if action == "silent later":
            send_head(request, 200, Content_Length=len(CONTENT))
            request.wfile.write(CONTENT[:1000])
        self.over.wait(20)

    def send_file(self, request, action):
        """Send what the request asks for, with the flaw of the action if it has one."""
        start, ranges = 0, request.headers.get("Range")
        if ranges and action != "ignore range" and request.headers.get("If-Range") == self.etag:
            start = int(ranges.removeprefix("bytes=").removesuffix("-"))
        head = {"ETag": self.etag, "Content_Length": len(CONTENT) - start}
        if start:
            sent = start - 10 if action == "another range" else start
            head["Content_Range"] = f"bytes {sent}-{len(CONTENT) - 1}/{len(CONTENT)}"
        send_head(request, 206 if start else 200, **head)
        end = len(CONTENT) // 2 if action == "break" else len(CONTENT)
        if action != "slow":
            request.wfile.write(CONTENT[start:end])
            return
        with suppress(OSError):
            for first in range(start, end, 1 << 15):
                request.wfile.write(CONTENT[first : min(first + (1 << 15), end)])
                self.over.wait(0.04)

    def trickle(self, request, action):
        """Send a byte now and then, within a socket's own time limit, until the client leaves."""
        start = b"HTTP/1.1 200 OK\r\n"
        if action != "trickle headers":
            kind = b"Transfer-Encoding: chunked" if "chunks" in action else b"Content-Length: 1000000"
            start += kind + b"\r\n\r\n"
        request.wfile.write(start)
        with suppress(OSError):
            while not self.over.wait(0.02):
                request.wfile.write(b"1\r\nx\r\n" if "chunks" in action else b"x")


@contextmanager
def serving(*script):
    server = Server(script)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            server.answer(self)

        def log_message(self, *args):
            pass

    with serve_requests(Handler) as server.url:
        try:
            yield server
        finally:
            server.over.set()

"""A local server that misbehaves like real servers."""

import hashlib
import http.server
import threading
from contextlib import contextmanager, suppress

from ...local_server import serve_requests

CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()


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
            return
        if action.startswith("trickle"):
            self.trickle(request, action)
            return
        if action in ("silent", "silent later"):
            if action == "silent later":
                request.send_response(200)
                request.send_header("Content-Length", str(len(CONTENT)))
                request.end_headers()
                request.wfile.write(CONTENT[:1000])
            self.over.wait(20)
            return
        if action in ("circle", "file:///etc/passwd"):
            request.send_response(302)
            request.send_header("Location", request.path if action == "circle" else action)
            request.end_headers()
            return
        if request.path.endswith("sums.txt"):
            body = self.sums.encode()
            request.send_response(200)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)
            return
        if action == "no length":
            request.send_response(200)
            request.end_headers()
            request.wfile.write(CONTENT[: len(CONTENT) // 2])
            return
        if "chunks" in action:
            request.protocol_version = "HTTP/1.1"
            request.send_response(200)
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            request.wfile.write(b"%x\r\n%b\r\n" % (len(CONTENT) // 2, CONTENT[: len(CONTENT) // 2]))
            request.close_connection = True
            if action == "chunks":
                request.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(CONTENT) // 2, CONTENT[len(CONTENT) // 2 :]))
            return
        if action == "page":
            request.send_response(200)
            request.end_headers()
            request.wfile.write(b"<!DOCTYPE html><title>Log in</title>")
            return
        if request.path != "/dumps/file.bin":
            request.send_error(404)
            return
        start, ranges = 0, request.headers.get("Range")
        if ranges and action != "ignore range" and request.headers.get("If-Range") == self.etag:
            start = int(ranges.removeprefix("bytes=").removesuffix("-"))
        request.send_response(206 if start else 200)
        request.send_header("ETag", self.etag)
        request.send_header("Content-Length", str(len(CONTENT) - start))
        if start:
            sent = start - 10 if action == "another range" else start
            request.send_header("Content-Range", f"bytes {sent}-{len(CONTENT) - 1}/{len(CONTENT)}")
        request.end_headers()
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

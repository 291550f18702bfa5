"""A local completions end point whose answers and failures are configurable."""

import hashlib
import http.server
import json
import threading
import time

import pytest

from macroscope.systems.server import ServerSystem, completions

from ....local_server import serve_requests

KEY = "sk-secret-0123456789"


class EndPoint:
    """An end point that records its requests; it first goes through `failures`, then answers.

    Attributes
    ----------
    requests
        Bodies of the answered completion requests.
    keys
        Authorization headers of all requests.
    failures
        Functions of the handler, taken from the front; None: answer.
    busiest
        Largest number of parallel requests.
    """

    def __init__(self):
        self.requests, self.keys, self.failures = [], [], []
        self.model, self.models, self.listed = "tiny", ["tiny"], True
        self.delay, self.busiest, self._busy = 0.0, 0, 0
        self.lock = threading.Lock()
        self.text = self.text_of
        self.finish = "stop"
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_GET(self):
                outer.keys.append(self.headers.get("Authorization"))
                if not outer.listed:
                    return outer.send(self, 404, {"error": "no such path"})
                return outer.send(self, 200, {"data": [{"id": name} for name in outer.models]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    outer.keys.append(self.headers.get("Authorization"))
                    outer._busy += 1
                    outer.busiest = max(outer.busiest, outer._busy)
                    failure = outer.failures.pop(0) if outer.failures else None
                    if failure is None:
                        outer.requests.append(body)
                time.sleep(outer.delay)
                try:
                    if failure is not None:
                        return failure(self)
                    return outer.send(self, 200, outer.answer(body))
                finally:
                    with outer.lock:
                        outer._busy -= 1

        self.handler = Handler

    @staticmethod
    def text_of(body):
        """Return words that depend on the request alone, like a server that respects seeds."""
        digest = hashlib.sha256(json.dumps([body["prompt"], body["seed"]]).encode()).hexdigest()
        return " " + " ".join(digest[i : i + 4] for i in range(0, 40, 4))

    def answer(self, body):
        choice = {"text": self.text(body), "finish_reason": self.finish}
        if "logprobs" in body:
            choice["logprobs"] = {"token_logprobs": [None, -0.5, -1.25]}
        return {
            "model": self.model,
            "choices": [choice],
            "usage": {"completion_tokens": 10},
            "system_fingerprint": "fp1",
        }

    @staticmethod
    def send(handler, status, body, headers=()):
        content = json.dumps(body).encode() if not isinstance(body, bytes) else body
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


@pytest.fixture
def end_point(monkeypatch):
    """A running server; waits between attempts are short."""
    monkeypatch.setattr(completions, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(completions, "LONGEST_WAIT_SECONDS", 0.02)
    server = EndPoint()
    with serve_requests(server.handler) as address:
        server.url = f"{address}/v1"
        yield server


@pytest.fixture
def options(end_point):
    """Function that makes the options of a system on the server, with changes."""

    def make(**given):
        defaults = {
            "kind": "server",
            "url": end_point.url,
            "model": "tiny",
            "api": "openai",
            "samples": 12,
            "parallel": 4,
        }
        return ServerSystem(**defaults | given)

    return make

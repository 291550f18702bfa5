"""One request to a server that fails in all ways that servers do."""

import logging
import time

import pytest
from pydantic import ValidationError

from macroscope.errors import MacroscopeError
from macroscope.systems.server import completions
from macroscope.systems.server.completions import Server

from .conftest import KEY, EndPoint


def status(code, body=b"", headers=()):
    return lambda handler: EndPoint.send(handler, code, body, headers)


def drops(handler):
    handler.close_connection = True
    handler.connection.close()


def sends_half(handler):
    EndPoint.send(handler, 200, b'{"choices": [{"text": "half of')


def ends_in_the_middle(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.close_connection = True


def trickles(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


@pytest.mark.parametrize(
    "failures",
    [
        [status(429)],
        [status(500), status(502), status(503)],
        [drops, drops],
        [sends_half],
        [ends_in_the_middle],
        [status(200, b"<html>busy</html>"), drops, status(504)],
    ],
)
def test_what_passes_is_tried_again(end_point, options, failures):
    end_point.failures = failures
    assert Server(options()).complete("One", 7).text == end_point.text({"prompt": "One", "seed": 7})
    assert len(end_point.asked) == 1


def test_an_answer_that_takes_too_long_is_asked_for_again(end_point, options):
    end_point.failures = [trickles, lambda handler: time.sleep(2)]
    started = time.monotonic()
    assert Server(options(timeout_seconds=0.5)).complete("One", 7).text
    assert time.monotonic() - started < 4


def test_a_server_that_asks_to_wait_is_not_asked_before(end_point, options, monkeypatch):
    end_point.failures = [status(429, headers=[("Retry-After", "1")])]
    started = time.monotonic()
    Server(options()).complete("One", 7)
    assert time.monotonic() - started >= 1
    end_point.failures = [status(503, headers=[("Retry-After", "3600")])]
    with pytest.raises(MacroscopeError, match=r"asks to come back in 3,600 seconds .* what is finished is kept"):
        Server(options()).complete("One", 7)
    assert completions._seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert completions._seconds("soon") == 0


def test_what_does_not_pass_is_one_sentence(end_point, options):
    end_point.failures = [status(500, b"out of memory\n\x1b[31m")] * completions.TRIES
    with pytest.raises(MacroscopeError, match=rf"status 500 \(out of memory .*, {completions.TRIES} times") as found:
        Server(options()).complete("One", 7)
    assert "\x1b" not in str(found.value)
    server = Server(options(url="http://127.0.0.1:9/v1"))
    with pytest.raises(MacroscopeError, match="the connection is refused"):
        server.complete("One", 7)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (400, "check the options of the system"),
        (401, "check the key in TEST_KEY"),
        (403, "check what the key may do"),
        (404, "check 'url' and 'model'"),
        (307, "a key is not sent there"),
    ],
)
def test_what_is_refused_is_not_tried_again(end_point, options, monkeypatch, code, said):
    monkeypatch.setenv("TEST_KEY", KEY)
    end_point.failures = [status(code, f"no {KEY} here".encode(), [("Location", "http://127.0.0.1:9/")])]
    with pytest.raises(MacroscopeError, match=rf"refuses with status {code}( \(no \*\*\* here\))?; .*{said}") as found:
        Server(options(api_key_variable="TEST_KEY")).complete("One", 7)
    assert KEY not in str(found.value)
    assert not end_point.asked


def test_another_model_is_refused(end_point, options):
    end_point.model = "tiny-instruct"
    with pytest.raises(MacroscopeError, match="asked for the model 'tiny', and 'tiny-instruct' answered"):
        Server(options()).complete("One", 7)
    assert Server(options(answers_as="tiny-instruct")).complete("One", 7).model == "tiny-instruct"
    end_point.models = ["small", "timy"]
    with pytest.raises(MacroscopeError, match="has no model 'tiny'; did you mean 'timy'"):
        Server(options()).require_model()
    end_point.listed = False
    Server(options()).require_model()  # a server need not list its models


def test_what_is_no_completion_is_one_sentence(end_point, options):
    for body in (b"{}", b"[]", b'{"choices": []}', b'{"choices": [{"message": {"content": "chat"}}]}', b'"x"'):
        end_point.failures = [status(200, body)]
        with pytest.raises(MacroscopeError, match="an answer without a text"):
            Server(options()).complete("One", 7)


@pytest.mark.parametrize(
    "said",
    [
        '"usage": "much"',
        '"usage": {"completion_tokens": "5"}',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": 3}}]',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": ["x"]}}]',
    ],
)
def test_what_a_server_need_not_say_may_be_anything(said, end_point, options):
    end_point.failures = [status(200, f'{{"choices": [{{"text": "a"}}], {said}}}'.encode())]
    found = Server(options()).complete("One", 7)
    assert (found.text, found.tokens, found.log_probability) == ("a", None, None)


def test_every_request_says_that_nothing_is_truncated(end_point, options):
    Server(options()).complete("One", 7)
    Server(options(api="vllm", log_probabilities=True)).complete("", 8)
    Server(options(api="llama_cpp")).complete("", 8)
    plain, vllm, llama = end_point.asked
    assert plain == {
        "model": "tiny", "max_tokens": 2000, "temperature": 1.0, "top_p": 1.0, "frequency_penalty": 0.0,
        "presence_penalty": 0.0, "n": 1, "stream": False, "prompt": "One", "seed": 7,
    }  # fmt: skip
    assert (vllm["top_k"], vllm["min_p"], vllm["repetition_penalty"], vllm["logprobs"]) == (-1, 0, 1, 1)
    assert (llama["top_k"], llama["min_p"], llama["typical_p"], llama["repeat_penalty"]) == (0, 0, 1, 1)
    found = Server(options(log_probabilities=True)).complete("One", 7)
    assert (found.log_probability, found.tokens, found.fingerprint) == (-1.75, 10, "fp1")


def test_the_key_is_sent_and_stands_nowhere_else(end_point, options, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("TEST_KEY", KEY)
    end_point.failures = [status(500, f"key {KEY} is over its limit".encode())]
    server = Server(options(api_key_variable="TEST_KEY"))
    server.complete("One", 7)
    assert end_point.keys == [f"Bearer {KEY}"] * 2
    assert KEY not in caplog.text
    assert KEY not in str(server.settings())
    Server(options()).complete("One", 7)
    assert end_point.keys[-1] is None


@pytest.mark.parametrize(("value", "said"), [("", "has no key"), (None, "has no key"), ("k\u00e9y", "beyond ASCII")])
def test_a_key_that_is_not_there_is_one_sentence(options, monkeypatch, value, said):
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with pytest.raises(MacroscopeError, match=f"TEST_KEY .*{said}|TEST_KEY {said}"):
        Server(options(api_key_variable="TEST_KEY"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "localhost:8000"}, "is no address"),
        ({"url": "ftp://host/v1"}, "is no address"),
        ({"url": "http://user:secret@host/v1"}, "no user, password or query"),
        ({"url": "http://host/v1?api_key=secret"}, "no user, password or query"),
        ({"api_key_variable": "sk-abc"}, "not the key itself"),
        ({"api": "tgi"}, "openai"),
    ],
)
def test_options_that_cannot_be_are_refused(options, given, said):
    with pytest.raises(ValidationError, match=said):
        options(**given)

"""Requests to a server that fails in all the usual ways."""

import logging
import time

import pytest
from pydantic import ValidationError

from macroscope.errors import MacroscopeError
from macroscope.systems.server import completions
from macroscope.systems.server.completions import Server, ServerData

from .conftest import KEY, EndPoint


def status(code, body=b"", headers=()):
    return lambda handler: EndPoint.send(handler, code, body, headers)


def drop(handler):
    handler.close_connection = True
    handler.connection.close()


def send_half(handler):
    EndPoint.send(handler, 200, b'{"choices": [{"text": "half of')


def end_in_the_middle(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.close_connection = True


def trickle(handler):
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
        [drop, drop],
        [send_half],
        [end_in_the_middle],
        [status(200, b"<html>busy</html>"), drop, status(504)],
    ],
)
def test_temporary_failures_are_retried(end_point, options, failures):
    end_point.failures = failures
    assert Server(options()).complete("One", 7).text == end_point.text({"prompt": "One", "seed": 7})
    assert len(end_point.requests) == 1


@pytest.mark.slow
def test_a_request_whose_answer_takes_too_long_is_repeated(end_point, options):
    end_point.failures = [trickle, lambda handler: time.sleep(2)]
    started = time.monotonic()
    assert Server(options(timeout_seconds=0.5)).complete("One", 7).text
    assert time.monotonic() - started < 4


@pytest.mark.slow
def test_a_requested_wait_is_respected(end_point, options, monkeypatch):
    end_point.failures = [status(429, headers=[("Retry-After", "1")])]
    started = time.monotonic()
    Server(options()).complete("One", 7)
    assert time.monotonic() - started >= 1
    end_point.failures = [status(503, headers=[("Retry-After", "3600")])]
    with pytest.raises(MacroscopeError, match=r"requests a wait of 3,600 seconds .* finished samples are kept"):
        Server(options()).complete("One", 7)
    assert completions._parse_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert completions._parse_seconds("soon") == 0


@pytest.mark.slow
def test_a_lasting_failure_is_one_sentence(end_point, options):
    end_point.failures = [status(500, b"out of memory\n\x1b[31m")] * completions.TRIES
    with pytest.raises(MacroscopeError, match=rf"status 500 \(out of memory .*, {completions.TRIES} times") as error:
        Server(options()).complete("One", 7)
    assert "\x1b" not in str(error.value)
    server = Server(options(url="http://127.0.0.1:9/v1"))
    with pytest.raises(MacroscopeError, match="the connection is refused"):
        server.complete("One", 7)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (400, "check the options of the system"),
        (401, "check the key in TEST_KEY"),
        (403, "check the permissions of the key"),
        (404, "check 'url' and 'model'"),
        (307, "the key is not sent to another address"),
    ],
)
def test_a_refused_request_is_not_repeated(end_point, options, monkeypatch, code, message):
    monkeypatch.setenv("TEST_KEY", KEY)
    end_point.failures = [status(code, f"no {KEY} here".encode(), [("Location", "http://127.0.0.1:9/")])]
    with pytest.raises(
        MacroscopeError, match=rf"refuses with status {code}( \(no \*\*\* here\))?; .*{message}"
    ) as error:
        Server(options(api_key_variable="TEST_KEY")).complete("One", 7)
    assert KEY not in str(error.value)
    assert not end_point.requests


def test_another_model_is_refused(end_point, options):
    end_point.model = "tiny-instruct"
    with pytest.raises(MacroscopeError, match="the requested model is 'tiny', but 'tiny-instruct' answered"):
        Server(options()).complete("One", 7)
    assert Server(options(answers_as="tiny-instruct")).complete("One", 7).data.model == "tiny-instruct"
    end_point.models = ["small", "timy"]
    with pytest.raises(MacroscopeError, match="has no model 'tiny'; did you mean 'timy'"):
        Server(options()).require_model()
    end_point.listed = False
    Server(options()).require_model()  # a server need not list its models


def test_an_answer_that_is_not_a_completion_is_one_sentence(end_point, options):
    for body in (b"{}", b"[]", b'{"choices": []}', b'{"choices": [{"message": {"content": "chat"}}]}', b'"x"'):
        end_point.failures = [status(200, body)]
        with pytest.raises(MacroscopeError, match="the answer has no text"):
            Server(options()).complete("One", 7)


@pytest.mark.parametrize(
    "said",
    [
        '"usage": "much"',
        '"usage": {"completion_tokens": "5"}',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": 3}}]',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": ["x"]}}]',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": [NaN, -1]}}]',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": [true]}}]',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": [-1, 2.5]}}]',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": [-Infinity]}}]',
        '"choices": [{"text": "a", "logprobs": {"token_logprobs": [-1e308, -1e308]}}]',
        '"usage": {"completion_tokens": true}',
        '"usage": {"completion_tokens": -5}',
        '"usage": {"completion_tokens": 1e400}',
        '"usage": {"completion_tokens": 123456789012345678901234567890}',
        '"system_fingerprint": {"a": 1}',
        '"model": ["tiny"]',
    ],
)
def test_optional_fields_of_an_answer_may_be_malformed(said, end_point, options):
    end_point.failures = [status(200, f'{{"choices": [{{"text": "a"}}], {said}}}'.encode())]
    completion = Server(options()).complete("One", 7)
    assert (completion.text, completion.data) == ("a", ServerData("", "", "", None, None))


def test_every_request_switches_truncation_off(end_point, options):
    Server(options()).complete("One", 7)
    Server(options(api="vllm", log_probabilities=True)).complete("", 8)
    Server(options(api="llama_cpp")).complete("", 8)
    plain, vllm, llama = end_point.requests
    assert plain == {
        "model": "tiny", "max_tokens": 2000, "temperature": 1.0, "top_p": 1.0, "frequency_penalty": 0.0,
        "presence_penalty": 0.0, "n": 1, "stream": False, "prompt": "One", "seed": 7,
    }  # fmt: skip
    assert (vllm["top_k"], vllm["min_p"], vllm["repetition_penalty"], vllm["logprobs"]) == (-1, 0, 1, 1)
    assert (llama["top_k"], llama["min_p"], llama["typical_p"], llama["repeat_penalty"]) == (0, 0, 1, 1)
    data = Server(options(log_probabilities=True)).complete("One", 7).data
    assert (data.log_probability, data.tokens, data.fingerprint) == (-1.75, 10, "fp1")


def test_the_key_is_sent_and_written_nowhere_else(end_point, options, monkeypatch, caplog):
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


@pytest.mark.parametrize(
    ("value", "message"), [("", "has no key"), (None, "has no key"), ("k\u00e9y", "beyond printable ASCII")]
)
def test_a_missing_or_invalid_key_is_one_sentence(options, monkeypatch, value, message):
    monkeypatch.delenv("TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with pytest.raises(MacroscopeError, match=f"TEST_KEY .*{message}|TEST_KEY {message}"):
        Server(options(api_key_variable="TEST_KEY"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"url": "localhost:8000"}, "is not the address"),
        ({"url": "ftp://host/v1"}, "is not the address"),
        ({"url": "http://host/v1 "}, "is not the address"),
        ({"url": "http://ho st/v1"}, "is not the address"),
        ({"url": "http://host/\nv1"}, "is not the address"),
        ({"url": "http://user:secret@host/v1"}, "must not contain a user, password or query"),
        ({"url": "http://host/v1?api_key=secret"}, "must not contain a user, password or query"),
        ({"api_key_variable": "sk-abc"}, "not the key itself"),
        ({"api": "tgi"}, "openai"),
    ],
)
def test_invalid_options_are_refused(options, given, message):
    with pytest.raises(ValidationError, match=message):
        options(**given)

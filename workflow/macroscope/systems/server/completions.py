"""Completions of an OpenAI-compatible end point: one request, its retries, and what its answer says.

Where the server is busy, breaks off, or sends half an answer, a request is made again, later and later; what cannot get
better (no such model, no right) is one sentence at once. The key goes into the header of requests to the server's own
address, and nowhere else: redirects are not followed, and it is taken out of whatever is quoted.
"""

import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import requests
from tenacity import (
    RetryCallState,
    Retrying,
    before_sleep_log,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)
from urllib3.exceptions import HTTPError

from macroscope.errors import MacroscopeError, nearest
from macroscope.systems.server.options import ServerSystem

log = logging.getLogger("macroscope")

TRIES = 8
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0
PATIENCE_SECONDS = 600.0
"""The longest wait that a server may ask for."""
CONNECT_SECONDS = 10.0
MOST_BYTES = 1 << 26
"""Of an answer."""
QUOTED = 300
"""Characters of a server's words that are repeated."""
_PASSING_STATUS = {408, 409, 425, 429, 500, 502, 503, 504}
UNTRUNCATED: Mapping[str, Mapping[str, float]] = {
    "openai": {},
    "vllm": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    "sglang": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    "llama_cpp": {"top_k": 0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0},
}
"""What keeps each program from changing the distribution in ways that the API of OpenAI does not know."""


class Passing(Exception):
    """Something that may be over soon; `after`: seconds that the server asks to wait."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


@dataclass(frozen=True)
class Completion:
    """What a server answered.

    Attributes
    ----------
    text
        Without the prompt.
    finish_reason
        "stop", "length", "content_filter", or what else the server says; "" where it says nothing.
    model, fingerprint
        Names of the model and of the state that it is in, as the server gives them; "" where it does not.
    tokens
        Of the completion; None where it does not say.
    log_probability
        Sum over the tokens that the server lists, nats; None where it lists none.
    """

    text: str
    finish_reason: str
    model: str
    fingerprint: str
    tokens: int | None
    log_probability: float | None


class _Key(requests.auth.AuthBase):
    """The key as a header of its own; without one, none of the user's ~/.netrc either."""

    def __init__(self, key: str | None) -> None:
        self.key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.key:
            request.headers["Authorization"] = f"Bearer {self.key}"
        return request


class Server:
    """An end point.

    Raises
    ------
    MacroscopeError
        Where the variable that the options name has no key.
    """

    def __init__(self, options: ServerSystem) -> None:
        self.options, self._key = options, _key_of(options)
        self._session = requests.Session()
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=options.parallel)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def settings(self) -> dict[str, Any]:
        """What every request says, but for its prompt and its seed."""
        options = self.options
        asked: dict[str, Any] = {
            "model": options.model,
            "max_tokens": options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "frequency_penalty": 0.0,
            "presence_penalty": 0.0,
            "n": 1,
            "stream": False,
        }
        return asked | dict(UNTRUNCATED[options.api]) | ({"logprobs": 1} if options.log_probabilities else {})

    def require_model(self) -> None:
        """Raise `MacroscopeError` where the server lists its models, and this one is not among them."""
        found = self._asked("GET", "models", None)
        listed = found.get("data") if isinstance(found, dict) else None
        entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        names = [name for one in entries if isinstance(name := one.get("id"), str)]
        if names and self.options.model not in names:
            raise MacroscopeError(
                f"{self.options.url} has no model '{self._safe(self.options.model)}'"
                f"{nearest(self.options.model, map(self._safe, names))}"
            )

    def complete(self, prompt: str, seed: int) -> Completion:
        """One completion.

        Raises
        ------
        MacroscopeError
            Where the server refuses, another model answers, or nothing arrived in `TRIES` tries.
        """
        return self._completion(self._asked("POST", "completions", self.settings() | {"prompt": prompt, "seed": seed}))

    # ---- one request, and its retries ----------------------------------------------------------------------------

    def _asked(self, method: str, place: str, body: dict[str, Any] | None) -> Any:
        try:
            for attempt in Retrying(
                retry=retry_if_exception_type(Passing),
                stop=stop_after_attempt(TRIES),
                wait=_wait,
                before_sleep=before_sleep_log(log, logging.INFO),
                reraise=True,
            ):
                with attempt:
                    return self._tried(method, place, body)
        except Passing as error:
            raise MacroscopeError(f"{self.options.url}: {error}, {TRIES} times in a row") from None
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _tried(self, method: str, place: str, body: dict[str, Any] | None) -> Any:
        deadline = time.monotonic() + self.options.timeout_seconds
        try:
            with self._session.request(
                method,
                f"{self.options.url}/{place}",
                json=body,
                auth=_Key(self._key),
                timeout=(CONNECT_SECONDS, self.options.timeout_seconds),
                allow_redirects=False,
                stream=True,
            ) as response:
                content = _content(response, deadline)
        except (requests.exceptions.RequestException, HTTPError, TimeoutError) as error:
            raise Passing(self._safe(_reason(error))) from None
        if response.status_code in _PASSING_STATUS:
            after = _seconds(response.headers.get("Retry-After"))
            if after > PATIENCE_SECONDS:
                raise MacroscopeError(
                    f"{self.options.url} asks to come back in {after:,.0f} seconds (status {response.status_code});"
                    " run again then: what is finished is kept"
                )
            raise Passing(f"status {response.status_code}{self._quoted(content)}", after)
        if method == "GET" and response.status_code in (404, 405, 501):
            return None  # a server need not list its models
        if response.status_code != requests.codes.ok:
            raise MacroscopeError(self._refused(response, content))
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise Passing(f"an answer that is no JSON{self._quoted(content)}") from None

    def _refused(self, response: requests.Response, content: bytes) -> str:
        status = response.status_code
        advice = {
            401: "check the key in " + (self.options.api_key_variable or "the variable of 'api_key_variable'"),
            403: "check what the key may do",
            404: "check 'url' and 'model'; the URL ends with the version, such as /v1",
        }.get(status, "check the options of the system")
        if response.is_redirect:
            advice = "it leads elsewhere, and a key is not sent there; give the address itself as 'url'"
        return f"{self.options.url} refuses with status {status}{self._quoted(content)}; {advice}"

    # ---- what an answer says -------------------------------------------------------------------------------------

    def _completion(self, found: Any) -> Completion:
        try:
            choice = found["choices"][0]
            text = choice["text"]
            if not isinstance(text, str):
                raise TypeError
        except (KeyError, IndexError, TypeError):
            raise MacroscopeError(
                f"{self.options.url}: an answer without a text{self._quoted(json.dumps(found).encode())}; is it an"
                " OpenAI-compatible completions end point?"
            ) from None
        model, expected = str(found.get("model") or ""), self.options.answers_as or self.options.model
        if model and model != expected:
            raise MacroscopeError(
                f"{self.options.url} was asked for the model '{expected}', and '{self._safe(model)}' answered; if that"
                " is the same, say so by 'answers_as'"
            )
        return Completion(
            _in_whole_characters(text),
            _in_whole_characters(str(choice.get("finish_reason") or "")),
            model,
            _in_whole_characters(str(found.get("system_fingerprint") or "")),
            _tokens_of(found.get("usage")),
            _sum_of(choice.get("logprobs")),
        )

    def _quoted(self, content: bytes) -> str:
        """The beginning of a server's own words, for a message."""
        words = " ".join(content[: 8 * QUOTED].decode("utf-8", "replace").split())
        return f" ({self._safe(words)[:QUOTED]})" if words else ""

    def _safe(self, words: str) -> str:
        """Words without the key, should a server repeat it."""
        return words.replace(self._key, "***") if self._key else words


def _key_of(options: ServerSystem) -> str | None:
    name = options.api_key_variable
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise MacroscopeError(f"the environment variable {name} has no key for {options.url}; set it, and run again")
    if not key.isascii() or not key.isprintable():
        raise MacroscopeError(f"the environment variable {name} holds what cannot be a key: characters beyond ASCII")
    return key


def _wait(state: RetryCallState) -> float:
    """Longer and longer, and not before the server asks for it."""
    assert state.outcome is not None
    error = state.outcome.exception()
    grown = wait_exponential(FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS) + wait_random(0, FIRST_WAIT_SECONDS)
    return max(grown(state), error.after if isinstance(error, Passing) else 0.0)


def _content(response: requests.Response, deadline: float) -> bytes:
    """An answer as a whole, within its time."""
    pieces, size = [], 0
    while piece := response.raw.read1(1 << 16, decode_content=True):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > deadline:
            raise TimeoutError("the answer took too long")
        if size > MOST_BYTES:
            raise TimeoutError(f"the answer is longer than {MOST_BYTES >> 20} MiB")
    return b"".join(pieces)


def _seconds(header: str | None) -> float:
    """What Retry-After says: seconds, or a date; 0 where it says nothing that can be read."""
    if header is None:
        return 0.0
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return 0.0


def _reason(error: Exception) -> str:
    """Why nothing arrived, in a few words."""
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return f"no connection within {CONNECT_SECONDS:g} seconds"
    if isinstance(error, requests.exceptions.Timeout | TimeoutError):
        return "no answer in time" if isinstance(error, requests.exceptions.Timeout) else str(error)
    text = str(error)
    return "the connection is refused" if "refused" in text else f"the connection broke off ({type(error).__name__})"


def _in_whole_characters(text: str) -> str:
    """A text in which � stands for half a character: a completion may be cut within one, and no file can hold that."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _tokens_of(usage: Any) -> int | None:
    """Number of tokens of a completion; None where the server does not say it."""
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) else None


def _sum_of(logprobs: Any) -> float | None:
    """Sum of the tokens' log-probabilities; None where the server does not say them."""
    values = logprobs.get("token_logprobs") if isinstance(logprobs, dict) else None
    said = [value for value in values if value is not None] if isinstance(values, list) else []
    return float(sum(said)) if said and all(isinstance(value, int | float) for value in said) else None

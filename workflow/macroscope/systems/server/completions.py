"""Client of an OpenAI-compatible completions end point: requests, retries, and parsing of answers.

If the server is busy, breaks the connection, or sends half an answer, the request is repeated after growing waits. A
permanent failure (unknown model, missing rights) raises an error at once. The key is sent only in the header of
requests to the server's own address: redirects are not followed, and the key is removed from all quoted text.

A text is required. Everything else is optional; a value that is out of the schema (NaN, `true` for a number, a positive
log-probability, a negative count) counts as not given, which the counts of the samples report.
"""

import json
import logging
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, TypeVar

import requests
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator
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
from macroscope.systems.server import ServerSystem

MOST_TOKENS = 2**31 - 1
ROUNDING = 1e-3
"""Largest log-probability: a server's sums in half precision may end above 0."""
T = TypeVar("T")

Tokens = Annotated[int, Field(ge=0, le=MOST_TOKENS, strict=True)]
LogProbability = Annotated[float, Field(le=ROUNDING, allow_inf_nan=False, strict=True)]


@dataclass(frozen=True)
class ServerData:
    """Data of the server about a completion.

    Attributes
    ----------
    finish_reason
        "stop", "length", "content_filter", or another reason of the server; "" if it gives none.
    model, fingerprint
        Names of the model and of its state, as the server gives them; "" if it gives none.
    tokens
        Number of tokens of the completion; None if the server does not give it.
    log_probability
        Sum of the log-probabilities of the tokens that the server lists, in nats; None if it lists none.
    """

    finish_reason: str
    model: str
    fingerprint: str
    tokens: Tokens | None
    log_probability: LogProbability | None


@dataclass(frozen=True)
class Completion:
    """A completion from the server.

    Attributes
    ----------
    text
        Text without the prompt.
    data
        Data of the server about it.
    """

    text: str
    data: ServerData


def _replace_half_characters(value: Any) -> Any:
    """Replace half a character by �: a completion may be cut within a character, which no file can store."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


def _none_if_wrong(value: Any, check: Callable[[Any], T]) -> T | None:
    try:
        return check(value)
    except ValidationError:
        return None


NONE_IF_WRONG = WrapValidator(_none_if_wrong)
Text = Annotated[str, Field(strict=True), BeforeValidator(_replace_half_characters)]
Name = Annotated[str | None, Field(max_length=1000, strict=True), BeforeValidator(_replace_half_characters)]


class _LogProbabilities(BaseModel):
    token_logprobs: list[LogProbability | None]


class _Choice(BaseModel):
    text: Text
    finish_reason: Annotated[Name, NONE_IF_WRONG] = None
    logprobs: Annotated[_LogProbabilities | None, NONE_IF_WRONG] = None


class _Usage(BaseModel):
    completion_tokens: Tokens


class Answer(BaseModel):
    """An answer with a completion."""

    model_config = ConfigDict(protected_namespaces=())

    choices: list[_Choice] = Field(min_length=1)
    model: Annotated[Name, NONE_IF_WRONG] = None
    system_fingerprint: Annotated[Name, NONE_IF_WRONG] = None
    usage: Annotated[_Usage | None, NONE_IF_WRONG] = None

    def data(self) -> ServerData:
        """Return the data about the first completion."""
        choice = self.choices[0]
        given = [value for value in choice.logprobs.token_logprobs if value is not None] if choice.logprobs else []
        total = min(0.0, sum(given))
        return ServerData(
            choice.finish_reason or "",
            self.model or "",
            self.system_fingerprint or "",
            self.usage.completion_tokens if self.usage else None,
            total if given and math.isfinite(total) else None,
        )


log = logging.getLogger("macroscope")

TRIES = 8
"""Number of attempts at a request."""
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 60.0
PATIENCE_SECONDS = 600.0
"""Longest wait that a server may request."""
CONNECT_SECONDS = 10.0
MOST_BYTES = 1 << 26
"""Largest size of an answer."""
QUOTED = 300
"""Number of characters of a server's answer that error messages quote."""
_PASSING_STATUS = {408, 409, 425, 429, 500, 502, 503, 504}
UNTRUNCATED: Mapping[str, Mapping[str, float]] = {
    "openai": {},
    "vllm": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    "sglang": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    "llama_cpp": {"top_k": 0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0},
}
"""Options that switch off each program's own changes to the distribution, beyond the API of OpenAI."""


class TemporaryFailure(Exception):
    """Error for a temporary failure; `after` is the wait in seconds that the server requests."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class _Key(requests.auth.AuthBase):
    """Authorization header with the key; without a key, no header, not even one from the user's ~/.netrc."""

    def __init__(self, key: str | None) -> None:
        self.key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.key:
            request.headers["Authorization"] = f"Bearer {self.key}"
        return request


class Server:
    """Client of a completions end point.

    Raises
    ------
    MacroscopeError
        If the environment variable that the options name does not hold a key.
    """

    def __init__(self, options: ServerSystem) -> None:
        self.options, self._key = options, _read_key(options)
        self._session = requests.Session()
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=options.parallel)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def settings(self) -> dict[str, Any]:
        """Return the options that every request has, that is, all but its prompt and seed."""
        options = self.options
        settings: dict[str, Any] = {
            "model": options.model,
            "max_tokens": options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "frequency_penalty": 0.0,
            "presence_penalty": 0.0,
            "n": 1,
            "stream": False,
        }
        return settings | dict(UNTRUNCATED[options.api]) | ({"logprobs": 1} if options.log_probabilities else {})

    def require_model(self) -> None:
        """Raise `MacroscopeError` if the server lists its models and the configured one is not among them."""
        answer = self._request("GET", "models", None)
        listed = answer.get("data") if isinstance(answer, dict) else None
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        names = [name for entry in entries if isinstance(name := entry.get("id"), str)]
        if names and self.options.model not in names:
            raise MacroscopeError(
                f"{self.options.url} has no model '{self._safe(self.options.model)}'"
                f"{nearest(self.options.model, map(self._safe, names))}"
            )

    def complete(self, prompt: str, seed: int) -> Completion:
        """Request a completion of a prompt."""
        body = self.settings() | {"prompt": prompt, "seed": seed}
        return self._parse_completion(self._request("POST", "completions", body))

    # ---- requests and retries ------------------------------------------------------------------------------------

    def _request(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        try:
            for attempt in Retrying(
                retry=retry_if_exception_type(TemporaryFailure),
                stop=stop_after_attempt(TRIES),
                wait=_wait,
                before_sleep=before_sleep_log(log, logging.INFO),
                reraise=True,
            ):
                with attempt:
                    return self._request_once(method, path, body)
        except TemporaryFailure as error:
            raise MacroscopeError(f"{self.options.url}: {error}, {TRIES} times in a row") from None
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _request_once(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        deadline = time.monotonic() + self.options.timeout_seconds
        try:
            with self._session.request(
                method,
                f"{self.options.url}/{path}",
                json=body,
                auth=_Key(self._key),
                timeout=(CONNECT_SECONDS, self.options.timeout_seconds),
                allow_redirects=False,
                stream=True,
            ) as response:
                content = _read_content(response, deadline)
        except (requests.exceptions.RequestException, HTTPError, TimeoutError) as error:
            raise TemporaryFailure(self._safe(_describe_error(error))) from None
        if response.status_code in _PASSING_STATUS:
            after = _parse_seconds(response.headers.get("Retry-After"))
            if after > PATIENCE_SECONDS:
                raise MacroscopeError(
                    f"{self.options.url} requests a wait of {after:,.0f} seconds (status {response.status_code});"
                    " run again then: finished samples are kept"
                )
            raise TemporaryFailure(f"status {response.status_code}{self._quoted(content)}", after)
        if method == "GET" and response.status_code in (404, 405, 501):
            return None  # a server need not list its models
        if response.status_code != requests.codes.ok:
            raise MacroscopeError(self._refusal(response, content))
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise TemporaryFailure(f"the answer is not JSON{self._quoted(content)}") from None

    def _refusal(self, response: requests.Response, content: bytes) -> str:
        status = response.status_code
        advice = {
            401: "check the key in " + (self.options.api_key_variable or "the variable of 'api_key_variable'"),
            403: "check the permissions of the key",
            404: "check 'url' and 'model'; the URL ends with the version, such as /v1",
        }.get(status, "check the options of the system")
        if response.is_redirect:
            advice = "it redirects, and the key is not sent to another address; give the final address as 'url'"
        return f"{self.options.url} refuses with status {status}{self._quoted(content)}; {advice}"

    # ---- parsing of answers --------------------------------------------------------------------------------------

    def _parse_completion(self, answer: Any) -> Completion:
        try:
            parsed = Answer.model_validate(answer)
        except ValidationError:
            raise MacroscopeError(
                f"{self.options.url}: the answer has no text{self._quoted(json.dumps(answer).encode())}; check that it"
                " is an OpenAI-compatible completions end point"
            ) from None
        model, expected = parsed.model or "", self.options.answers_as or self.options.model
        if model and model != expected:
            raise MacroscopeError(
                f"{self.options.url}: the requested model is '{expected}', but '{self._safe(model)}' answered; if they"
                " are the same, give the latter as 'answers_as'"
            )
        return Completion(parsed.choices[0].text, parsed.data())

    def _quoted(self, content: bytes) -> str:
        """Return the beginning of a server's answer, for a message."""
        text = " ".join(content[: 8 * QUOTED].decode("utf-8", "replace").split())
        return f" ({self._safe(text)[:QUOTED]})" if text else ""

    def _safe(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def _read_key(options: ServerSystem) -> str | None:
    name = options.api_key_variable
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise MacroscopeError(f"the environment variable {name} has no key for {options.url}; set it, and run again")
    if not key.isascii() or not key.isprintable():
        raise MacroscopeError(
            f"the environment variable {name} is not a valid key: it has characters beyond printable ASCII; correct it"
        )
    return key


def _wait(state: RetryCallState) -> float:
    """Return the seconds to wait: exponentially growing, and at least what the server requests."""
    assert state.outcome is not None
    error = state.outcome.exception()
    grown = wait_exponential(FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS) + wait_random(0, FIRST_WAIT_SECONDS)
    return max(grown(state), error.after if isinstance(error, TemporaryFailure) else 0.0)


def _read_content(response: requests.Response, deadline: float) -> bytes:
    """Read an answer up to its deadline."""
    pieces, size = [], 0
    while piece := response.raw.read1(1 << 16, decode_content=True):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > deadline:
            raise TimeoutError("the answer took too long")
        if size > MOST_BYTES:
            raise TimeoutError(f"the answer is longer than {MOST_BYTES >> 20} MiB")
    return b"".join(pieces)


def _parse_seconds(header: str | None) -> float:
    """Parse the header Retry-After, which gives seconds or a date; return 0 if it is missing or malformed."""
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


def _describe_error(error: Exception) -> str:
    """Describe a failed request in a few words."""
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return f"no connection within {CONNECT_SECONDS:g} seconds"
    if isinstance(error, requests.exceptions.Timeout | TimeoutError):
        return "no answer in time" if isinstance(error, requests.exceptions.Timeout) else str(error)
    text = str(error)
    return "the connection is refused" if "refused" in text else f"the connection broke off ({type(error).__name__})"

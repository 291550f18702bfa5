"""Schema of the answers of a completions end point: what a server says is input, and nothing else of it is kept.

A text is required. Everything else is optional; a value that is out of the schema (NaN, `true` for a number, a positive
log-probability, a negative count) counts as not given, which the counts of the samples report.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator

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

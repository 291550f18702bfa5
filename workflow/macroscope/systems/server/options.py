"""Options of systems of kind `server`."""

import re
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from macroscope.systems.options import Description, Seed, SystemOptions, title_setting

if TYPE_CHECKING:
    from macroscope.config.schema import Config

Api = Literal["openai", "vllm", "sglang", "llama_cpp"]
"""Programs whose way of truncating by default is known."""


class ServerSystem(SystemOptions):
    """A model behind an OpenAI-compatible completions end point, sampled from its own distribution by default."""

    kind: Literal["server"]
    url: str = Field(description="Base URL of the end point, with its version: http://localhost:8000/v1.")
    model: str = Field(min_length=1, description="Name of the model, as the server lists it.")
    api: Api = Field(
        description="Program that answers: each truncates in a way of its own unless it is told not to (top_k, min_p,"
        " repetition penalties), and is told so. openai: only what the API of OpenAI knows."
    )
    answers_as: str | None = Field(
        None, description="Name by which the server's answers call the model, where that is another one."
    )
    api_key_variable: str | None = Field(
        None,
        description="Name of the environment variable that has the API key; the key itself stands nowhere. Default:"
        " no key.",
    )
    titles: bool = Field(False, description="Sections begin with their titles, as a fine-tuned model has learned it.")
    temperature: float = Field(1.0, ge=0, description="1: the model's own distribution.")
    top_p: float = Field(1.0, gt=0, le=1, description="Nucleus; 1: none.")
    beginning: str = Field(
        "",
        description="What is sent where a sample has no prompt, such as <|endoftext|>; it is no part of the sample.",
    )
    prompt_words: int | None = Field(
        None,
        ge=1,
        description="Words of a held-out document that a sample begins with, and that are part of it; default: none.",
    )
    samples: int = Field(1000, ge=1, description="Number of valid samples to draw.")
    max_tokens: int = Field(
        2000, ge=1, description="Longest completion, in the server's tokens; a longer one is cut and counted."
    )
    log_probabilities: bool = Field(
        False, description="Ask for the log-probabilities of the tokens; their sum stands in completions.parquet."
    )
    parallel: int = Field(8, ge=1, le=1024, description="Requests under way at the same time.")
    timeout_seconds: float = Field(600, gt=0, description="How long one request may take, answer included.")
    seed: Seed = 0

    @field_validator("url")
    @classmethod
    def _is_an_end_point(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address:
            raise ValueError(f"{url!r} is no address of a server; give one such as http://localhost:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "the address may hold no user, password or query: name the variable that has the key in"
                " 'api_key_variable'"
            )
        return url.rstrip("/")

    @field_validator("api_key_variable")
    @classmethod
    def _is_a_name(cls, name: str | None) -> str | None:
        # What does not look like a name may be the key itself, and is not repeated.
        if name is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
            raise ValueError(
                "this is the name of an environment variable, such as OPENAI_API_KEY, not the key itself: capital"
                " letters, digits and _"
            )
        return name

    def check(self, place: str, config: "Config") -> None:
        """Check that prompts fit the format."""
        if self.prompt_words and self.titles:
            raise ValueError(
                f"{place}.prompt_words: prompts are for untitled texts; set titles: false, or leave prompt_words out"
            )

    def has_prompts(self) -> bool:
        """Whether samples begin with words of held-out documents."""
        return self.prompt_words is not None

    def description(self, config: "Config") -> Description:
        """Return model, format and decoding rule."""
        rule = [f"temperature {self.temperature:g}"] if self.temperature != 1 else []
        rule += [f"nucleus p={self.top_p:g}"] if self.top_p != 1 else []
        return Description(self.kind, self.model, title_setting(self.titles), ", ".join(rule) or "ancestral")

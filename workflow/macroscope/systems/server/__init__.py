"""Kind `server`: a model behind an OpenAI-compatible completions end point, such as vLLM's, SGLang's or llama.cpp's."""

import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from macroscope.colours import BLUE
from macroscope.options import ConfigView
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, Seed, SystemOptions, title_setting

KIND = Kind(
    options=":ServerSystem",
    label="model behind a server",
    colour=BLUE,
    stages={
        # One job per system, whatever the number of samples: the server limits the number of parallel requests.
        "generate": Stage(
            "sampling:sample_server",
            inputs="prompts? corpus system seed",
            options="url model api answers_as api_key_variable titles temperature top_p beginning prompt_words samples"
            " max_tokens log_probabilities parallel timeout_seconds seed",
            minutes=2880,
            beside="completions.parquet",
        ),
    },
    names_setting=True,
)

Api = Literal["openai", "vllm", "sglang", "llama_cpp"]
"""Server programs whose default truncation is known."""


class ServerSystem(SystemOptions):
    """A model behind an OpenAI-compatible completions end point, sampled from its own distribution by default."""

    kind: Literal["server"]
    url: str = Field(description="Base URL of the end point, with its version: http://localhost:8000/v1.")
    model: str = Field(min_length=1, description="Name of the model, as the server lists it.")
    api: Api = Field(
        description="Program that answers. Each has its own default truncation (top_k, min_p, repetition penalties),"
        " which the requests switch off. openai: only the options of the API of OpenAI."
    )
    answers_as: str | None = Field(
        None, description="Name of the model in the server's answers, if it differs from 'model'."
    )
    api_key_variable: str | None = Field(
        None,
        description="Name of the environment variable with the API key; the key itself is never written. Default: no"
        " key.",
    )
    titles: bool = Field(False, description="Whether sections begin with their titles (W/ Title).")
    temperature: float = Field(1.0, ge=0, description="1: the model's own distribution.")
    top_p: float = Field(1.0, gt=0, le=1, description="Probability mass of the nucleus; 1: no truncation.")
    beginning: str = Field(
        "",
        description="Text that is sent for a sample without a prompt, such as <|endoftext|>; not part of the sample.",
    )
    prompt_words: int | None = Field(
        None,
        ge=1,
        description="Number of words of a held-out document that each sample begins with; they are part of the sample."
        " Default: none.",
    )
    samples: int = Field(1000, ge=1, description="Number of valid samples.")
    max_tokens: int = Field(
        2000, ge=1, description="Longest completion, in the server's tokens; a longer one is cut and counted."
    )
    log_probabilities: bool = Field(
        False, description="Request the log-probabilities of the tokens; their sum is written to completions.parquet."
    )
    parallel: int = Field(8, ge=1, le=1024, description="Number of parallel requests.")
    timeout_seconds: float = Field(600, gt=0, description="Longest duration of a request, including its answer.")
    seed: Seed = 0

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        try:
            parts = urlsplit(url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            # urlsplit removes line breaks and tabs, and a request would have them.
            is_address = is_address and url.isprintable() and not any(map(str.isspace, url))
        except ValueError:
            is_address = False
        if not is_address:
            raise ValueError(f"{url!r} is not the address of a server; give one such as http://localhost:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "the address must not contain a user, password or query; name the variable with the key in"
                " 'api_key_variable'"
            )
        return url.rstrip("/")

    @field_validator("api_key_variable")
    @classmethod
    def _check_variable_name(cls, name: str | None) -> str | None:
        # A value that does not look like a name may be the key itself, so the message must not repeat it.
        if name is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
            raise ValueError(
                "the value is not a name of capital letters, digits and _; give the name of an environment variable,"
                " such as OPENAI_API_KEY, not the key itself"
            )
        return name

    def check(self, place: str, config: ConfigView) -> None:
        """Check that prompts fit the format."""
        if self.prompt_words and self.titles:
            raise ValueError(
                f"{place}.prompt_words: prompts are for untitled texts; set titles: false, or leave prompt_words out"
            )

    def has_prompts(self) -> bool:
        """Return whether samples begin with words of held-out documents."""
        return self.prompt_words is not None

    def description(self, config: ConfigView) -> Description:
        """Describe it by model, format and decoding rule."""
        rule = [f"temperature {self.temperature:g}"] if self.temperature != 1 else []
        rule += [f"nucleus p={self.top_p:g}"] if self.top_p != 1 else []
        return Description(self.kind, self.model, title_setting(self.titles), ", ".join(rule) or "ancestral")

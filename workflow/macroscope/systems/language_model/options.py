"""Options of systems of kind `language_model`: the base, its training, its decoding rule."""

from typing import Annotated, Literal

from pydantic import Field

from macroscope.models import has_weights
from macroscope.options import ConfigView, Options
from macroscope.systems.options import Description, Seed, SystemOptions, title_setting


class Ancestral(Options):
    """Sampling from the model's own distribution, without truncation or temperature (top_k = 0)."""

    rule: Literal["ancestral"]


class _Changed(Options):
    """A rule that samples from a changed distribution."""

    temperature: float = Field(1.0, gt=0, description="Divisor of the logits, before truncation; 1: no change.")


class Temperature(_Changed):
    """Sampling from the distribution with its logits divided by a temperature."""

    rule: Literal["temperature"]
    temperature: float = Field(
        gt=0, description="Divisor of the logits; below 1, probable tokens become more frequent."
    )


class TopK(_Changed):
    """Sampling from the k most probable tokens (Fan et al. 2018)."""

    rule: Literal["top_k"]
    k: int = Field(ge=1, description="Number of tokens; ties with the last one are kept.")


class Nucleus(_Changed):
    """Sampling from the fewest tokens whose total probability is at least p (Holtzman et al. 2020)."""

    rule: Literal["nucleus"]
    p: float = Field(gt=0, le=1, description="Total probability of these tokens.")


class Typical(_Changed):
    """Sampling from the tokens whose surprisal is nearest to the entropy (Meister et al. 2023)."""

    rule: Literal["typical"]
    p: float = Field(gt=0, le=1, description="Total probability of these tokens.")


class MinP(_Changed):
    """Sampling from the tokens whose probability is at least a share of the largest one (Nguyen et al. 2024)."""

    rule: Literal["min_p"]
    p: float = Field(ge=0, le=1, description="Lowest probability, as a share of the largest one.")


class BeamSampling(Options):
    """Stochastic beam (meister2021 §5): k sampled extensions of each of k beams, of which the k most probable stay."""

    rule: Literal["beam_sampling"]
    beams: int = Field(5, ge=1, description="k; 1 is ancestral sampling (paper: 5).")


_MOST_SHARDS = 100_000
"""Largest number of sampling jobs of a system: planning more takes minutes."""

TokenRule = Ancestral | Temperature | TopK | Nucleus | Typical | MinP
Decoding = Annotated[TokenRule | BeamSampling, Field(discriminator="rule")]


class Training(Options):
    """Training or fine-tuning of a language model (deng2022 App. E)."""

    epochs: float = Field(20, gt=0, description="Passes over the training documents.")
    batch_size: int = Field(8, ge=1, description="Windows per update, over all devices and accumulation steps.")
    device_batch_size: int = Field(8, ge=1, description="Windows per device and step; the rest is accumulated.")
    learning_rate: float = Field(5e-5, gt=0, description="Peak learning rate of Adam.")
    warmup_share: float = Field(0.0, ge=0, lt=1, description="Share of the updates with a rising learning rate.")
    decay: Literal["linear", "inverse_sqrt"] = Field(
        "linear",
        description="Fall of the learning rate after that: linearly to 0, or with the inverse square root of the number"
        " of updates (deng2022 App. D).",
    )
    weight_decay: float = Field(0.0, ge=0, description="Weight decay of Adam.")
    beta2: float = Field(0.999, gt=0, lt=1, description="Decay of Adam's mean of squared gradients.")
    gradient_norm: float = Field(1.0, ge=0, description="Norm at which gradients are clipped; 0: not clipped.")
    evaluations: int = Field(20, ge=1, description="Number of validations and checkpoints over the whole training.")
    precision: Literal["float32", "bfloat16"] = Field("float32", description="Precision of the training's arithmetic.")
    windows: Literal["stream", "documents"] = Field(
        "stream",
        description="stream: the joined documents, cut whenever the context is full (deng2022 App. E); documents: each"
        " document by itself (deng2022 App. D).",
    )


def describe_decoding(decoding: Decoding) -> str:
    """Format a decoding rule for people: "nucleus p=0.9"."""
    options = {name: value for name, value in decoding.model_dump(exclude={"rule"}).items() if value != 1.0}
    return " ".join([decoding.rule.replace("_", " "), *(f"{name}={value:g}" for name, value in options.items())])


class LanguageModelSystem(SystemOptions):
    """A causal language model, fine-tuned, trained from scratch or as published, that generates whole documents."""

    kind: Literal["language_model"]
    base: str = Field(
        min_length=1,
        description="Name in resources/models.yaml (tiny-gpt2: from scratch), a Hugging Face name, or a folder.",
    )
    titles: bool = Field(description="Whether section titles precede the sections in the training text (W/ Title).")
    context: int | None = Field(None, ge=8, description="Context window in tokens; default: the model's own.")
    training: Training | None = Field(
        Training(), description="Training; null: no training, the base with its published weights and tokenizer."
    )
    decoding: Decoding = Field(Ancestral(rule="ancestral"), description="How the next token is chosen.")
    samples: int = Field(1000, ge=1, description="Number of valid samples.")
    samples_per_shard: int = Field(1000, ge=1, description="Number of samples per sampling job.")
    batch_size: int = Field(32, ge=1, description="Number of sequences that are sampled in parallel.")
    max_tokens: int = Field(20000, ge=1, description="Longest sample, in tokens; a longer one is cut and counted.")
    max_words: int | None = Field(
        None,
        ge=1,
        description="Longest sample, in words with those of its prompt; a longer one is cut and counted. For real texts"
        " that are cut at a number of words, such as passages; max_tokens has to leave room. Default: any number.",
    )
    stride: int | None = Field(
        None,
        ge=1,
        description="Tokens sampled between two re-encodings of a full context window (paper: 1); default: half the"
        " window.",
    )
    prompt_words: int | None = Field(
        None,
        ge=1,
        description="Number of words of a held-out document that each sample begins with; they are part of the sample."
        " Default: none.",
    )
    prompt_tokens: int | None = Field(
        None,
        ge=1,
        description="Number of tokens of the model's own tokenizer instead of words; white space at the end is left"
        " out.",
    )
    seed: Seed = 0

    def check(self, place: str, config: ConfigView) -> None:
        """Check that a base without training has weights, and that prompts fit the format."""
        if self.training is None and not has_weights(self.base):
            raise ValueError(
                f"{place}.training: '{self.base}' is trained from scratch and has no published weights;"
                " name a base with weights, or give it a training"
            )
        self.check_sampling(place)

    def check_sampling(self, place: str) -> None:
        """Check that prompts fit the format and that there are not too many jobs.

        Parameters
        ----------
        place
            Place of the sampled system in the config, for error messages.
        """
        shards = -(-self.samples // self.samples_per_shard)
        if shards > _MOST_SHARDS:
            raise ValueError(
                f"{place}.samples: {self.samples:,} samples, {self.samples_per_shard:,} per job, are {shards:,} jobs,"
                f" more than {_MOST_SHARDS:,}; give a larger samples_per_shard"
            )
        if self.prompt_words and self.prompt_tokens:
            raise ValueError(f"{place}: prompt_words and prompt_tokens are both given; give one of them")
        option = "prompt_words" if self.prompt_words else "prompt_tokens"
        if self.has_prompts() and self.titles:
            raise ValueError(
                f"{place}.{option}: prompts are for untitled texts; set titles: false for the language"
                f" model, or leave {option} out"
            )

    def as_language_model(self, config: ConfigView) -> "LanguageModelSystem":
        """Return the system itself."""
        return self

    def has_prompts(self) -> bool:
        """Return whether the samples begin as held-out documents do."""
        return bool(self.prompt_words or self.prompt_tokens)

    def prompt_length(self) -> str:
        """Return the length of the prompts, with its unit; "" without prompts."""
        if self.prompt_tokens:
            return f"{self.prompt_tokens} tokens"
        return f"{self.prompt_words} words" if self.prompt_words else ""

    def perplexity_signature(self) -> str:
        """Return what its perplexity depends on: base, format, context and training."""
        context = self.context or "model"
        training = "|training:none" if self.training is None else ""
        by_document = self.training is not None and self.training.windows == "documents"
        windows = "documents" if by_document else "joined_stream"
        return f"base:{self.base}|titles:{self.titles}|context:{context}|windows:{windows}|split:test{training}"

    def description(self, config: ConfigView) -> Description:
        """Describe it by base, format and decoding rule."""
        return Description(self.kind, self.base, title_setting(self.titles), describe_decoding(self.decoding))

"""Options of systems of kind `language_model`: the base, its training, its decoding rule."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from macroscope.models import has_weights
from macroscope.options import Options
from macroscope.systems.options import Description, Seed, SystemOptions, title_setting

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class Ancestral(Options):
    """Draw each token from the model's own distribution: no truncation, no temperature (top_k = 0)."""

    rule: Literal["ancestral"]


class _Changed(Options):
    """A rule that draws from a changed distribution."""

    temperature: float = Field(
        1.0, gt=0, description="Divides the logits before anything else; 1 leaves the distribution as it is."
    )


class Temperature(_Changed):
    """Draw from the distribution with its logits divided by a temperature."""

    rule: Literal["temperature"]
    temperature: float = Field(gt=0, description="Divides the logits: below 1 more of the probable, above 1 less.")


class TopK(_Changed):
    """Draw from the k most probable tokens (Fan et al. 2018)."""

    rule: Literal["top_k"]
    k: int = Field(ge=1, description="Number of tokens; ties with the last one stay.")


class Nucleus(_Changed):
    """Draw from the fewest tokens that hold a share of the probability (Holtzman et al. 2020)."""

    rule: Literal["nucleus"]
    p: float = Field(gt=0, le=1, description="That share.")


class Typical(_Changed):
    """Draw from the tokens whose surprisal is nearest to the entropy (Meister et al. 2023)."""

    rule: Literal["typical"]
    p: float = Field(gt=0, le=1, description="Share of the probability that these tokens hold.")


class MinP(_Changed):
    """Draw from the tokens that are not much less probable than the most probable one (Nguyen et al. 2024)."""

    rule: Literal["min_p"]
    p: float = Field(ge=0, le=1, description="Least probability, as a share of the largest.")


class BeamSampling(Options):
    """Stochastic beam (meister2021 §5): k extensions drawn for each of k beams, the k most probable of all kept."""

    rule: Literal["beam_sampling"]
    beams: int = Field(5, ge=1, description="k; 1 is ancestral sampling (paper: 5).")


_MOST_SHARDS = 100_000
"""Jobs that sample one system: a graph of more takes minutes to plan."""

TokenRule = Ancestral | Temperature | TopK | Nucleus | Typical | MinP
Decoding = Annotated[TokenRule | BeamSampling, Field(discriminator="rule")]


class Training(Options):
    """How a language model is trained or fine-tuned (deng2022 App. E)."""

    epochs: float = Field(20, gt=0, description="Passes over the training documents.")
    batch_size: int = Field(8, ge=1, description="Windows per update, over all devices and accumulation steps.")
    device_batch_size: int = Field(8, ge=1, description="Windows per device and step; the rest is accumulated.")
    learning_rate: float = Field(5e-5, gt=0, description="Peak learning rate of Adam.")
    warmup_share: float = Field(0.0, ge=0, lt=1, description="Share of the updates with a rising learning rate.")
    weight_decay: float = Field(0.0, ge=0, description="Weight decay of Adam.")
    evaluations: int = Field(20, ge=1, description="Validations (and checkpoints) over the whole training.")
    precision: Literal["float32", "bfloat16"] = Field("float32", description="Arithmetic of training.")
    windows: Literal["stream", "documents"] = Field(
        "stream",
        description="stream: the documents one after the other, cut wherever the context is full (deng2022 App. E);"
        " documents: each document by itself (deng2022 App. D).",
    )


def decoding_shown(decoding: Decoding) -> str:
    """Return a decoding rule as a person writes it: "nucleus p=0.9"."""
    options = {name: value for name, value in decoding.model_dump(exclude={"rule"}).items() if value != 1.0}
    return " ".join([decoding.rule.replace("_", " "), *(f"{name}={value:g}" for name, value in options.items())])


class LanguageModelSystem(SystemOptions):
    """A causal language model, fine-tuned, trained from scratch or as published, that samples whole documents."""

    kind: Literal["language_model"]
    base: str = Field(
        min_length=1,
        description="Name in resources/models.yaml (tiny-gpt2: from scratch), a Hugging Face name, or a folder.",
    )
    titles: bool = Field(description="Section titles stand before the sections in the training text (W/ Title).")
    context: int | None = Field(None, ge=8, description="Context window in tokens; default: the model's own.")
    training: Training | None = Field(
        Training(), description="Training; null: none, the base with its own weights and tokenizer as it was published."
    )
    decoding: Decoding = Field(Ancestral(rule="ancestral"), description="How the next token is chosen.")
    samples: int = Field(1000, ge=1, description="Number of valid samples to draw.")
    samples_per_shard: int = Field(1000, ge=1, description="Samples of one sampling job.")
    batch_size: int = Field(32, ge=1, description="Sequences that are sampled at the same time.")
    max_tokens: int = Field(20000, ge=1, description="Longest sample, in tokens; a longer one is cut and counted.")
    stride: int | None = Field(
        None,
        ge=1,
        description="Beyond the context window: tokens sampled between two re-encodings of it (1 = the paper's);"
        " default: half the window.",
    )
    prompt_words: int | None = Field(
        None,
        ge=1,
        description="Words of a held-out document that a sample begins with, and that are part of it; default: none.",
    )
    seed: Seed = 0

    def check(self, place: str, config: "Config") -> None:
        """Check that there are weights where nothing is trained, and that prompts fit the format."""
        if self.training is None and not has_weights(self.base):
            raise ValueError(
                f"{place}.training: '{self.base}' is trained from scratch and has no published weights;"
                " name a base that has, or give it a training"
            )
        self.check_sampling(place)

    def check_sampling(self, place: str) -> None:
        """Check that prompts fit the format, and that there are not too many jobs; `place` is that of who asks."""
        shards = -(-self.samples // self.samples_per_shard)
        if shards > _MOST_SHARDS:
            raise ValueError(
                f"{place}.samples: {self.samples:,} samples of {self.samples_per_shard:,} a job are {shards:,} jobs,"
                f" and {_MOST_SHARDS:,} are the most; give a larger samples_per_shard"
            )
        if self.prompt_words and self.titles:
            raise ValueError(
                f"{place}.prompt_words: prompts are for untitled texts; set titles: false for the language"
                " model, or leave prompt_words out"
            )

    def as_language_model(self, config: "Config") -> "LanguageModelSystem":
        """Return itself."""
        return self

    def description(self, config: "Config") -> Description:
        """Return base, format and decoding rule."""
        return Description(self.kind, self.base, title_setting(self.titles), decoding_shown(self.decoding))

"""Kind `resampled`: samples of another system's language model under another decoding rule or seed.

The stages of kind `language_model` generate them; the model is trained once for both systems.
"""

from typing import Literal

from pydantic import Field

from macroscope.colours import BLUE
from macroscope.options import ConfigView, require_name
from macroscope.systems.declaration import Kind
from macroscope.systems.language_model.options import Decoding, LanguageModelSystem
from macroscope.systems.options import Description, Seed, SystemOptions

KIND = Kind(options=":ResampledSystem", label="language model", colour=BLUE, names_setting=True)


class ResampledSystem(SystemOptions):
    """Samples of another system's language model, which is trained once, under another decoding rule or seed."""

    kind: Literal["resampled"]
    of: str = Field(description="Name of the system of kind language_model whose model is sampled.")
    decoding: Decoding = Field(description="How the next token is chosen.")
    samples: int | None = Field(None, ge=1, description="Number of valid samples; default: as the other system.")
    samples_per_shard: int | None = Field(
        None, ge=1, description="Samples per sampling job; default: as the other system."
    )
    batch_size: int | None = Field(
        None, ge=1, description="Sequences sampled in parallel; default: as the other system."
    )
    max_tokens: int | None = Field(None, ge=1, description="Longest sample, in tokens; default: as the other system.")
    max_words: int | None = Field(None, ge=1, description="Longest sample, in words; default: as the other system.")
    stride: int | None = Field(None, ge=1, description="As for language_model; default: as the other system.")
    prompt_words: int | None = Field(
        None, ge=0, description="As for language_model, 0: none; default: as the other system."
    )
    prompt_tokens: int | None = Field(
        None, ge=1, description="As for language_model, instead of prompt_words; default: as the other system."
    )
    seed: Seed = 0

    def applied_to(self, model: LanguageModelSystem) -> LanguageModelSystem:
        """Return the options of a language model, overridden by these."""
        names = ("decoding", "samples", "samples_per_shard", "batch_size", "max_tokens", "max_words", "stride", "seed")
        changes = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.prompt_words is not None or self.prompt_tokens is not None:
            changes |= {"prompt_words": self.prompt_words or None, "prompt_tokens": self.prompt_tokens}
        return model.model_copy(update=changes)

    def check(self, place: str, config: ConfigView) -> None:
        """Check that the other system is a language model, and that prompts fit its format."""
        models = {name for name, system in config.systems.items() if isinstance(system, LanguageModelSystem)}
        require_name(self.of, models, f"{place}.of", "system of kind language_model")
        self.as_language_model(config).check_sampling(place)

    def as_language_model(self, config: ConfigView) -> LanguageModelSystem:
        """Return the options of the other system's language model, overridden by these."""
        model = config.systems[self.of]
        assert isinstance(model, LanguageModelSystem)  # `check` requires it
        return self.applied_to(model)

    def model_of(self, system: str) -> str:
        """Return the name of the other system, which makes the model."""
        return self.of

    def description(self, config: ConfigView) -> Description:
        """Describe it as a language model with these options."""
        return self.as_language_model(config).description(config)

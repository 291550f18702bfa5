"""Options of systems of kind `hsmm`."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from macroscope.options import Options
from macroscope.systems.declaration import GENERATE, TRAIN
from macroscope.systems.options import Description, Seed, SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config

LARGE = 256
"""States from which on a model asks for a GPU."""


class ExpectationMaximisation(Options):
    """Fit by expectation maximisation (Baum-Welch): nothing to tune, and the likelihood never falls."""

    method: Literal["em"]
    iterations: int = Field(60, ge=1, description="Most passes over the training texts.")
    tolerance: float = Field(5e-4, ge=0, description="Gain, in nats a token, below which it ends.")
    smoothing: float = Field(
        0.3, ge=0, description="Pseudo-counts of each distribution, shared by its outcomes alike; 0: none."
    )
    batch_size: int = Field(64, ge=1, description="Texts that are worked on at the same time: memory grows with it.")


class GradientDescent(Options):
    """Fit by gradient descent on the log-marginal, as published: emissions first, then everything (Appendix D)."""

    method: Literal["sgd"]
    epochs: float = Field(10, gt=0, description="Passes over the training texts (paper: 10).")
    learning_rate: float = Field(0.3, gt=0, description="Of Adam, to begin with (paper: 0.3).")
    emission_epochs: float = Field(
        1, ge=0, description="Passes before these, in which the emissions alone are fitted (paper: 1)."
    )
    emission_learning_rate: float = Field(0.1, gt=0, description="Of these passes (paper: 0.1).")
    batch_size: int = Field(8, ge=1, description="Texts of an update (paper: 8).")
    least_learning_rate: float = Field(3e-4, gt=0, description="The rate falls no further (paper: 0.0003).")
    evaluations: int = Field(100, ge=1, description="Validations (and checkpoints) over the epochs.")
    patience: int = Field(
        2, ge=1, description="Validations without a lower loss after which the rate is halved (paper: 240 updates)."
    )
    validation_texts: int = Field(500, ge=1, description="Texts of a validation: the first ones of the split.")


Fit = Annotated[ExpectationMaximisation | GradientDescent, Field(discriminator="method")]


class HsmmSystem(SystemOptions):
    """A hidden semi-Markov model over n-grams that is fitted to the train split, and samples documents."""

    kind: Literal["hsmm"]
    states: int = Field(64, ge=1, description="Hidden states (paper: 800).")
    longest: int = Field(8, ge=1, description="Tokens of the longest n-gram, which is a segment (paper: 11).")
    ngrams: int = Field(
        20_000, ge=1, description="Most frequent n-grams of each length that can be a segment (paper: 250000)."
    )
    ends: bool = Field(
        True,
        description="Whether the model says where a text ends, so that it gives probabilities to texts of all lengths;"
        " false: it is told (paper).",
    )
    fit: Fit = Field(ExpectationMaximisation(method="em"), description="How it is fitted (paper: sgd).")
    segments: int | None = Field(
        None,
        ge=1,
        description="Segments of every sample, as published (paper: 50); default: until the model ends the text.",
    )
    samples: int = Field(1000, ge=1, description="Number of valid samples to draw.")
    max_tokens: int = Field(20_000, ge=1, description="Longest sample, in words; a longer one is cut and counted.")
    seed: Seed = 0

    def check(self, place: str, config: "Config") -> None:
        """Check that something says where a sample ends, and that it can."""
        if not self.ends and self.segments is None:
            raise ValueError(
                f"{place}.segments: a model that does not end its texts samples without end; give the number of"
                " segments, or set ends: true"
            )
        if self.segments is not None and self.segments > self.max_tokens:
            raise ValueError(
                f"{place}.segments: {self.segments} segments are more than the {self.max_tokens} tokens of the longest"
                " sample; raise max_tokens"
            )

    def has_perplexity(self) -> bool:
        """Every text has a probability."""
        return True

    def gpus(self, stage: str) -> int:
        """One to train or measure a model of a size that a laptop is too slow for; samples are drawn on the CPU."""
        return int(self.states >= LARGE and stage != GENERATE)

    def megabytes(self, stage: str) -> int:
        """Memory of the model, as often as the stage has it: with gradients and moments, counts, or temporaries."""
        model = 4 * self.states * self.ngrams * self.longest / 1e6
        copies = 2 if stage != TRAIN else 5 if isinstance(self.fit, GradientDescent) else 3
        return round(2000 + copies * model)

    def description(self, config: "Config") -> Description:
        """Return the size, and how it is fitted."""
        ended = "" if self.segments is None else f"{self.segments} segments"
        return Description(self.kind, f"{self.states} states", self.fit.method.upper(), ended)

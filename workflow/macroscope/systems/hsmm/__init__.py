"""Kind `hsmm`: hidden semi-Markov language models over n-grams (deng2022 §3, Appendix D)."""

from typing import Annotated, Literal

from pydantic import Field

from macroscope.colours import PURPLE
from macroscope.options import ConfigView, Options
from macroscope.stages import Stage
from macroscope.systems.declaration import GENERATE, TRAIN, Kind
from macroscope.systems.options import Description, Seed, SystemOptions

KIND = Kind(
    options=":HsmmSystem",
    extras={"models": ""},
    label="hidden semi-Markov model",
    colour=PURPLE,
    stages={
        "train": Stage(
            "training:train_hsmm",
            inputs="documents seed checkpoints",
            options="states longest ngrams ends fit",
            minutes=2880,
            folder=True,
        ),
        "generate": Stage(
            "model:sample_hsmm",
            inputs="model corpus system seed",
            options="ends segments samples max_tokens seed",
            minutes=480,
        ),
        "measure_perplexity": Stage(
            "model:measure_perplexity",
            inputs="documents model split",
            options="states longest ngrams ends fit",
            minutes=480,
        ),
    },
)

LARGE = 256
"""Least number of states of a model whose jobs request a GPU."""


class ExpectationMaximisation(Options):
    """Fit by expectation maximisation (Baum-Welch): no learning rate to tune, and the objective never falls."""

    method: Literal["em"]
    iterations: int = Field(60, ge=1, description="Largest number of passes over the training texts.")
    tolerance: float = Field(5e-4, ge=0, description="Gain in nats per token below which fitting stops.")
    smoothing: float = Field(
        0.3, ge=0, description="Pseudo-counts of each distribution, divided equally among its outcomes; 0: none."
    )
    starts: int = Field(
        3, ge=1, description="Number of random starts; the fit with the lowest validation loss is kept."
    )
    batch_size: int = Field(64, ge=1, description="Number of texts per batch; memory grows with it.")


class GradientDescent(Options):
    """Fit by gradient descent on the log-marginal, as published: emissions first, then everything (Appendix D)."""

    method: Literal["sgd"]
    epochs: float = Field(10, gt=0, description="Passes over the training texts (paper: 10).")
    learning_rate: float = Field(0.3, gt=0, description="Initial learning rate of Adam (paper: 0.3).")
    emission_epochs: float = Field(1, ge=0, description="Passes before these that fit the emissions alone (paper: 1).")
    emission_learning_rate: float = Field(0.1, gt=0, description="Learning rate of these passes (paper: 0.1).")
    batch_size: int = Field(8, ge=1, description="Texts per update (paper: 8).")
    least_learning_rate: float = Field(3e-4, gt=0, description="Lowest learning rate (paper: 0.0003).")
    evaluations: int = Field(100, ge=1, description="Number of validations and checkpoints over the epochs.")
    patience: int = Field(
        2, ge=1, description="Validations without a lower loss after which the rate is halved (paper: 240 updates)."
    )
    validation_texts: int = Field(
        500, ge=1, description="Number of texts per validation, from the beginning of the split."
    )


Fit = Annotated[ExpectationMaximisation | GradientDescent, Field(discriminator="method")]


class HsmmSystem(SystemOptions):
    """A hidden semi-Markov model over n-grams that is fitted to the train split and generates documents."""

    kind: Literal["hsmm"]
    states: int = Field(64, ge=1, description="Number of hidden states (paper: 800).")
    longest: int = Field(8, ge=1, description="Number of tokens of the longest n-gram, that is, segment (paper: 11).")
    ngrams: int = Field(
        20_000,
        ge=1,
        description="Number of n-grams of each length that can be a segment, the most frequent ones (paper: 250000).",
    )
    ends: bool = Field(
        True,
        description="Whether the model has a probability of ending a text, so that it is a distribution over texts of"
        " all lengths; false: conditional on the length (paper).",
    )
    fit: Fit = Field(ExpectationMaximisation(method="em"), description="Method of fitting (paper: sgd).")
    segments: int | None = Field(
        None,
        ge=1,
        description="Fixed number of segments per sample (paper: 50); default: until the model ends the text.",
    )
    samples: int = Field(1000, ge=1, description="Number of valid samples.")
    max_tokens: int = Field(20_000, ge=1, description="Longest sample, in words; a longer one is cut and counted.")
    seed: Seed = 0

    def check(self, place: str, config: ConfigView) -> None:
        """Check that samples end, by the model or by a number of segments that fits max_tokens."""
        if not self.ends and self.segments is None:
            raise ValueError(
                f"{place}.segments: a model with ends: false samples endless texts; give the number of segments, or set"
                " ends: true"
            )
        if self.segments is not None and self.segments > self.max_tokens:
            raise ValueError(
                f"{place}.segments: {self.segments} segments are more than the {self.max_tokens} tokens of the longest"
                " sample; raise max_tokens"
            )

    def has_perplexity(self) -> bool:
        """Return True: every text has a probability."""
        return True

    def gpus(self, stage: str) -> int:
        """Return 1 to train or measure a model that is too large for a laptop, else 0; sampling runs on the CPU."""
        return int(self.states >= LARGE and stage != GENERATE)

    def megabytes(self, stage: str) -> int:
        """Return the memory in MB of the copies of the model in a stage: gradients and moments, counts, temporaries."""
        model = 4 * self.states * self.ngrams * self.longest / 1e6
        copies = 2 if stage != TRAIN else 5 if isinstance(self.fit, GradientDescent) else 3
        return round(2000 + copies * model)

    def description(self, config: ConfigView) -> Description:
        """Describe it by its size, the method of fitting, and the number of segments."""
        segments = "" if self.segments is None else f"{self.segments} segments"
        return Description(self.kind, f"{self.states} states", self.fit.method.upper(), segments)

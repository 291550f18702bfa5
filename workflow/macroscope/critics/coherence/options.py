"""Options of the coherence critic (deng2022 §4, App. E)."""

from typing import Literal

from pydantic import Field

from macroscope.models import Precision
from macroscope.options import Options


class CoherenceOptions(Options):
    """Section classifier and section prior of the coherence critic."""

    encoder: str = Field(
        "minilm",
        min_length=1,
        description="Encoder of the section classifier: 'minilm' (comes with a package, needs no network), a Hugging"
        " Face name, or a folder (paper: bert-base-cased).",
    )
    max_tokens: int = Field(512, ge=8, description="Section texts are cut at this length; the share cut is reported.")
    precision: Precision = "float32"
    epochs: float = Field(3, gt=0, description="Passes over the training sections.")
    batch_size: int = Field(32, ge=1, description="Sections per update.")
    learning_rate: float = Field(2e-5, gt=0, description="Peak learning rate of Adam.")
    max_train_sections: int | None = Field(None, ge=1, description="Train on a random subset of this size.")
    calibrate: bool = Field(
        True,
        description="Scale the classifier's logits by a temperature that is fitted on validation sections, so that the"
        " posterior means what it says; false: the raw softmax, as in the paper.",
    )
    prior: Literal["back_off", "additive"] = Field(
        "back_off",
        description="Probability of a transition that real text was hardly seen to make. back_off: that of its section"
        " type, and of any type, with weights that make left-out documents most likely; additive: a constant.",
    )
    smoothing: list[float] = Field(
        [0.001, 0.01, 0.1, 0.5, 1.0],
        min_length=1,
        description="Candidates for additive smoothing; chosen on validation documents. Where the prior backs off, the"
        " report shows what each would give.",
    )
    convention: Literal["definition", "published"] = Field(
        "definition",
        description="definition: T(x)/M with the expectation over the posterior; published: MAP states, M + 1"
        " transitions, smoothing 0 or 1 over a vocabulary with begin and end.",
    )
    error_threshold: float = Field(
        0.01, gt=0, lt=1, description="A transition below this prior probability is an error (paper: Table 12)."
    )

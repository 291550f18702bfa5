"""Options of the coherence critic (deng2022 §4, App. E)."""

from typing import Literal

from pydantic import Field

from macroscope.models import ModelName, Precision
from macroscope.options import Options


class CoherenceOptions(Options):
    """Options of the section classifier and the section prior."""

    encoder: ModelName = Field(
        "minilm",
        min_length=1,
        description="Encoder of the section classifier: 'minilm' (installed with a package, needs no network), a"
        " Hugging Face name, or a folder (paper: bert-base-cased).",
    )
    max_tokens: int = Field(
        512, ge=8, description="Length in tokens at which section texts are truncated; the report counts them."
    )
    precision: Precision = "float32"
    epochs: float = Field(3, gt=0, description="Passes over the training sections.")
    batch_size: int = Field(32, ge=1, description="Sections per update.")
    learning_rate: float = Field(2e-5, gt=0, description="Peak learning rate of Adam.")
    max_train_sections: int | None = Field(
        None, ge=1, description="Number of sections to train on, sampled at random; empty: all."
    )
    calibrate: bool = Field(
        True,
        description="Calibrate the posterior: divide the classifier's logits by a temperature fitted on validation"
        " sections; false: the raw softmax, as in the paper.",
    )
    prior: Literal["back_off", "additive"] = Field(
        "back_off",
        description="Smoothing of rare transitions. back_off: towards the frequency of the next section type, then"
        " uniform, with weights fitted by leave-one-out likelihood; additive: a constant.",
    )
    smoothing: list[float] = Field(
        [0.001, 0.01, 0.1, 0.5, 1.0],
        min_length=1,
        description="Candidate constants of additive smoothing; validation documents select one. With back_off, the"
        " report shows the latent PPL under each.",
    )
    convention: Literal["definition", "published"] = Field(
        "definition",
        description="definition: T(x)/M with the expectation over the posterior; published: MAP states, M + 1"
        " transitions, smoothing 0 or 1 over a vocabulary with begin and end.",
    )
    error_threshold: float = Field(
        0.01,
        gt=0,
        lt=1,
        description="Prior probability below which a transition is an error (paper: Table 12).",
    )

"""Options of the synthetic critic (deng2022 §3)."""

from pydantic import Field

from macroscope.options import Options


class SyntheticOptions(Options):
    """What texts that the process cannot write cost, and which systems belong together."""

    invalid_probability: float = Field(
        0.001,
        gt=0,
        lt=1,
        description="Probability of a sub-sequence that the process does not have: -log of it is what each one costs.",
    )
    series: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Systems that are one line in the figure of word PPL against latent PPL, in order, by the name of"
        " the line: the same model after more and more epochs, or in larger and larger sizes.",
    )

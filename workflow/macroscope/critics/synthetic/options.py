"""Options of the synthetic critic (deng2022 §3)."""

from pydantic import Field

from macroscope.options import Options


class SyntheticOptions(Options):
    """Cost of invalid sub-sequences, and series of systems in the figure."""

    invalid_probability: float = Field(
        0.001,
        gt=0,
        lt=1,
        description="Probability of an invalid sub-sequence; each one costs -log of it.",
    )
    series: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Lines in the figure of latent PPL over word PPL: name -> systems in order, such as the same model"
        " after more epochs, or in larger sizes.",
    )

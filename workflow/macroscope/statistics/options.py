"""Options of the statistics room."""

from pydantic import Field

from macroscope.config.options import Options


class StatisticsOptions(Options):
    """How uncertainty is computed."""

    confidence: float = Field(0.95, ge=0.5, le=0.999, description="Level of all intervals.")
    resamples: int = Field(2000, ge=100, description="Bootstrap resamples of documents.")
    permutations: int = Field(10000, ge=100, description="Permutations of a p-value.")

"""Options of the statistics room."""

from pydantic import Field

from macroscope.options import Options


class StatisticsOptions(Options):
    """How uncertainty is computed."""

    confidence: float = Field(0.95, ge=0.5, le=0.999, description="Level of all intervals.")
    resamples: int = Field(2000, ge=100, description="Bootstrap resamples of documents.")
    permutations: int = Field(10000, ge=100, description="Permutations of a p-value.")
    margin: float = Field(
        0.1,
        gt=0,
        lt=0.5,
        description="A system is like real text, to a critic, where its documents can be told from real ones in at most"
        " so much more than half of all pairs (c2st_auc, as an interval, at most 0.5 + margin).",
    )

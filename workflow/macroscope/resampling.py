"""Options of the statistics: levels of intervals, numbers of resamples and permutations, seed."""

from dataclasses import dataclass

from pydantic import Field

from macroscope.options import Options


@dataclass(frozen=True)
class Resampling:
    """Settings of intervals and p-values.

    Attributes
    ----------
    resamples
        Number of bootstrap resamples.
    permutations
        Number of permutations behind a p-value.
    confidence
        Level of the intervals, in (0, 1).
    seed
        Seed of the random generators; a column of its own, so not in the signature.
    """

    resamples: int = 2000
    permutations: int = 10000
    confidence: float = 0.95
    seed: int = 1

    @property
    def signature(self) -> str:
        """Return every setting but the seed, as `key:value` parts."""
        return f"resamples:{self.resamples}|permutations:{self.permutations}|confidence:{self.confidence}"


class StatisticsOptions(Options):
    """Settings of intervals, p-values and verdicts."""

    confidence: float = Field(0.95, ge=0.5, le=0.999, description="Level of all intervals.")
    resamples: int = Field(2000, ge=100, description="Bootstrap resamples of documents.")
    permutations: int = Field(10000, ge=100, description="Permutations of a p-value.")
    margin: float = Field(
        0.1,
        gt=0,
        lt=0.5,
        description="Margin of equivalence: a system counts as like real text to a critic if the interval of its"
        " detectability (c2st_auc) is at most 0.5 + margin.",
    )

"""Statistics that the critic declares besides those of its detections; the stage `compare_scores` computes them."""

from dataclasses import replace

from macroscope.statistics.columns import NUMBERS
from macroscope.statistics.declaration import Statistic

STATISTICS = (
    Statistic("too_short_share", "share of the system's texts", "the same share", difference=False),
    Statistic("cut_sentence_share", "share of the system's sentences", "the same share", difference=False),
    *(replace(statistic, pattern=f"order_{statistic.pattern}") for statistic in NUMBERS),
)
"""Statistics of the input, which do not measure coherence, and of the order of the sentences."""

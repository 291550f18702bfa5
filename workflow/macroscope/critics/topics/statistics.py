"""Statistics of the patchiness of the topics, a number of the scores; the stage `compare_scores` computes them."""

from dataclasses import replace

from macroscope.statistics.columns import NUMBERS

STATISTICS = tuple(replace(statistic, pattern=f"patchiness_{statistic.pattern}") for statistic in NUMBERS)

"""Statistics that the critic declares besides those of its chains; the stage `compare_scores` computes them."""

from dataclasses import replace

from macroscope.statistics.columns import NUMBERS
from macroscope.statistics.declaration import Statistic

_EQUAL_SHARE = "the same share"
STATISTICS = (
    Statistic("in_domain_share", "share of the system's texts in the domain", _EQUAL_SHARE, difference=False),
    Statistic("resolver_failed_share", "share of texts on which the resolver fails", _EQUAL_SHARE, difference=False),
    Statistic("without_mentions_share", "share of texts without mentions of persons", _EQUAL_SHARE, difference=False),
    Statistic("few_names_share", "share of texts with too few mentions of names", _EQUAL_SHARE, difference=False),
    Statistic("invalid_mention_share", "share of invalid mentions, which are left out", _EQUAL_SHARE, difference=False),
    Statistic("unknown_surface_share", "share of mentions with an unknown surface", _EQUAL_SHARE, difference=False),
    *(replace(statistic, pattern=f"name_mismatch_{statistic.pattern}") for statistic in NUMBERS),
)
"""Statistics of coverage, which do not measure how persons are mentioned, and of the use of names."""

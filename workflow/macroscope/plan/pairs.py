"""Pairs of systems that a config compares with each other."""

from itertools import combinations
from typing import TYPE_CHECKING

from macroscope.options import CONTROL

if TYPE_CHECKING:
    from macroscope.config.schema import Config
    from macroscope.plan.systems import SystemsPlan

Pairs = dict[tuple[str, str], list[tuple[str, str]]]
"""(critic, corpus) -> pairs of systems that are compared with each other there."""


def compared_pairs(config: "Config", systems: "SystemsPlan") -> Pairs:
    """Return the pairs that each comparison names, or all pairs of the systems that it judges; each pair once.

    Pairs with what failed (`Config.missing`) are left out.
    """
    pairs: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    for comparison in config.comparisons:
        chosen = comparison.pairs
        if chosen == "all":
            judged = [name for name in systems.on(comparison.corpus, comparison.systems) if name != CONTROL]
            chosen = list(combinations(judged, 2))
        for critic in comparison.critics:
            made = [pair for pair in chosen if not any(config.lacks(comparison.corpus, name, critic) for name in pair)]
            if made:
                pairs.setdefault((critic, comparison.corpus), {}).update(dict.fromkeys(made))
    return {chapter: list(unique) for chapter, unique in pairs.items()}

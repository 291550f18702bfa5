"""Counting what a filter keeps and drops."""

from macroscope.documents import Count


def keep(count: Count, condition: bool) -> bool:
    """Count one unit as kept or dropped, and return `condition`."""
    if condition:
        count.kept += 1
    else:
        count.dropped += 1
    return condition

"""Passages with marked words, which a critic's stage `explain` has written for every system."""

from macroscope.critics.findings import MOST_SYSTEMS, Findings, ReportItem
from macroscope.files import read_json


def passage_items(findings: Findings, title: str) -> list[ReportItem]:
    """Passages of each system that has any, as items of the report; their caption is "passages".

    Parameters
    ----------
    title
        With "{system}".
    """
    found = []
    for system in findings.systems[: MOST_SYSTEMS + 1]:
        passages = read_json(findings.evidence(system, "passages.json"))
        if passages:
            heading = title.format(system=system)
            found.append(ReportItem(f"passages_{system}", heading, passages=passages, caption="passages"))
    return found

"""The legend of scorecards: the meanings of those signs that they have."""

from collections.abc import Sequence

from macroscope.reporting.scorecard import Scorecard, Verdict


def shown_verdicts(scorecards: Sequence[Scorecard]) -> set[Verdict]:
    """Return the verdicts in the cells of systems, those at matched length included."""
    return {
        cell["verdict"]
        for scorecard in scorecards
        for system in scorecard.systems
        for cells in (scorecard.rows[system], scorecard.at_matched_length(system))
        for cell in cells.values()
    }

"""Results of statistics: values with their uncertainty."""

from dataclasses import dataclass

UNDEFINED = float("nan")
"""Value, end of an interval or p-value that does not exist."""


@dataclass(frozen=True)
class Estimate:
    """Value of a statistic with its uncertainty.

    Attributes
    ----------
    statistic
        Name of the statistic.
    value
        Its value; NaN if it is undefined.
    ci_low, ci_high
        Ends of its interval; NaN if it has none.
    p_value
        P-value of its test; NaN if it has none.
    """

    statistic: str
    value: float
    ci_low: float = UNDEFINED
    ci_high: float = UNDEFINED
    p_value: float = UNDEFINED

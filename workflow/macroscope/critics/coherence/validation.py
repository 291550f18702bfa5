"""The section classifier's accuracy on validation sections, and whether it is good enough to rely on.

The stage `train` warns as soon as it is known, long before the report, which gives the same sentence as the reason why
the critic is not usable.
"""

from typing import Any

import pandas as pd

from macroscope.statistics.proportions import share_interval


def add_interval(validation: dict[str, Any], documents: pd.DataFrame, confidence: float) -> dict[str, Any]:
    """Add the interval of the accuracy, over documents, to the classifier's validation results.

    Parameters
    ----------
    documents
        One row per validation document; columns sections, correct.
    """
    _, low, high = share_interval(documents["correct"], documents["sections"], confidence)
    names = list(validation)
    at = names.index("accuracy") + 1
    interval = {"accuracy_low": low, "accuracy_high": high}
    return {name: (validation | interval)[name] for name in [*names[:at], *interval, *names[at:]]}


def check_classifier(validation: dict[str, float]) -> str | None:
    """Return a warning if the accuracy is not significantly above that of always predicting the most common type."""
    if validation["accuracy_low"] > validation["majority_share"]:
        return None
    return (
        f"The section classifier has an accuracy of {validation['accuracy']:.0%} on {validation['sections']:.0f}"
        " validation sections; always predicting the most common type would be right on"
        f" {validation['majority_share']:.0%}. The difference is not significant: do not rely on the numbers of this"
        " critic. More training documents, a larger encoder or more epochs may help."
    )

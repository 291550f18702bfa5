"""Shares of texts, in words for the user."""


def format_share(share: float) -> str:
    """Return a rounded share in percent; 0% and 100% are exact."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"

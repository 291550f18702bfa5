"""Words as critics of topics count them."""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def lower_case_words(text: str) -> list[str]:
    """Words in lower case, without punctuation and numbers."""
    return _WORD.findall(text.lower())

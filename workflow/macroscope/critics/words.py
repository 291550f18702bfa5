"""Words as critics of topics count them."""

import unicodedata

import regex

_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*")


def lower_case_words(text: str) -> list[str]:
    """Words in lower case, without punctuation and numbers; of scripts without spaces, what stands between these."""
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())

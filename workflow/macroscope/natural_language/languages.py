"""The languages that the project knows, and what follows from their scripts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from macroscope.errors import MacroscopeError

ENGLISH = "en"
_WITHOUT_SPACES = frozenset({"Chinese", "Japanese", "Thai", "Lao", "Khmer", "Burmese"})
_WITH_CAPITALS = frozenset({"Latin", "Cyrillic", "Greek", "Armenian"})


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes
    ----------
    code
        ISO 639-1 code.
    name
        English name.
    script
        Script in which it is mainly written.
    """

    code: str
    name: str
    script: str

    @property
    def has_spaces(self) -> bool:
        """Return whether spaces separate words."""
        return self.script not in _WITHOUT_SPACES

    @property
    def has_capitals(self) -> bool:
        """Return whether the script has capital letters."""
        return self.script in _WITH_CAPITALS


_NAMES_BY_SCRIPT = {
    "Latin": "af Afrikaans, ca Catalan, cs Czech, cy Welsh, da Danish, de German, en English, eo Esperanto, es Spanish,"
    " et Estonian, eu Basque, fi Finnish, fr French, ga Irish, gl Galician, hr Croatian, hu Hungarian, id Indonesian,"
    " is Icelandic, it Italian, la Latin, lt Lithuanian, lv Latvian, ms Malay, nl Dutch, no Norwegian, pl Polish,"
    " pt Portuguese, ro Romanian, sk Slovak, sl Slovenian, sq Albanian, sv Swedish, sw Swahili, tl Tagalog, tr Turkish,"
    " vi Vietnamese",
    "Cyrillic": "be Belarusian, bg Bulgarian, kk Kazakh, mk Macedonian, ru Russian, sr Serbian, uk Ukrainian",
    "Greek": "el Greek",
    "Armenian": "hy Armenian",
    "Georgian": "ka Georgian",
    "Arabic": "ar Arabic, fa Persian, ur Urdu",
    "Hebrew": "he Hebrew",
    "Devanagari": "hi Hindi, mr Marathi, ne Nepali",
    "Bengali": "bn Bengali",
    "Gujarati": "gu Gujarati",
    "Gurmukhi": "pa Punjabi",
    "Kannada": "kn Kannada",
    "Malayalam": "ml Malayalam",
    "Sinhala": "si Sinhala",
    "Tamil": "ta Tamil",
    "Telugu": "te Telugu",
    "Hangul": "ko Korean",
    "Chinese": "zh Chinese",
    "Japanese": "ja Japanese",
    "Thai": "th Thai",
    "Lao": "lo Lao",
    "Khmer": "km Khmer",
    "Burmese": "my Burmese",
}

LANGUAGES: Mapping[str, Language] = {
    code: Language(code, name, script)
    for code, name, script in sorted(
        (*entry.strip().split(" ", 1), script)
        for script, names in _NAMES_BY_SCRIPT.items()
        for entry in names.split(",")
    )
}
"""All languages by code."""


def require_code(code: str) -> str:
    """Return the code of a language; see `LANGUAGES`.

    Raises
    ------
    MacroscopeError
        If no language has this code.
    """
    if code in LANGUAGES:
        return code
    named = (language.code for language in LANGUAGES.values() if language.name.lower() == code.lower())
    near = next(named, code.replace("_", "-").split("-")[0].lower())
    hint = f"; did you mean '{near}'?" if near in LANGUAGES else ""
    raise MacroscopeError(f"{code!r} is not a language{hint}; choose from {', '.join(LANGUAGES)}")


def _validated_code(code: str) -> str:
    try:
        return require_code(code)
    except MacroscopeError as error:
        raise ValueError(str(error)) from None


LanguageCode = Annotated[str, AfterValidator(_validated_code)]
"""Type of options that hold the code of a language."""


def name_of(code: str) -> str:
    """Return the English name of a language."""
    return LANGUAGES[code].name


def share_script(language: str, others: frozenset[str]) -> bool:
    """Return whether a language is written in the script of one of others."""
    return LANGUAGES[language].script in {LANGUAGES[code].script for code in others}

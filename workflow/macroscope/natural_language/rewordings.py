"""Words that stand for each other, words of opposite sense in time, and articles, by language: for perturbations."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from macroscope.files import RESOURCES
from macroscope.natural_language.languages import name_of
from macroscope.strict_yaml import read_yaml

# ---- rewordings ------------------------------------------------------------------------------------------------------
# Lists in resources/rewordings/<language>.yaml.


@dataclass(frozen=True)
class Rewordings:
    """Pairs of words, each used in both directions.

    Attributes
    ----------
    pairs
        Words in lower case, with straight apostrophes -> words to put instead.
    """

    pairs: Mapping[str, str]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.pairs, key=lambda words: (-len(words), words))
        alternatives = "|".join(re.escape(words).replace("'", "['’]") for words in longest_first)
        return re.compile(rf"(?<![\w'’-])(?:{alternatives})(?![\w'’-])", re.IGNORECASE)

    def places(self, text: str) -> list[tuple[int, int, str]]:
        """Return the start and end of each word with a rewording, and that rewording in its case."""
        return [(*match.span(), self._reword(match)) for match in self._pattern.finditer(text)]

    def search(self, text: str) -> bool:
        """Return whether a text has a word with a rewording."""
        return self._pattern.search(text) is not None

    def reword_first(self, text: str) -> str:
        """Replace the first word that has a rewording."""
        return self._pattern.sub(self._reword, text, count=1)

    def _reword(self, match: re.Match[str]) -> str:
        new = self.pairs[match.group().lower().replace("’", "'")]
        return new[0].upper() + new[1:] if match.group()[0].isupper() else new


@cache
def rewordings(kind: str, language: str) -> Rewordings:
    """Return the pairs of a kind ("synonyms", "spellings", "contractions", "negations") in a language."""
    pairs = read_yaml(rewordings_path(language))[kind]
    return Rewordings({**{new: old for old, new in pairs.items()}, **pairs})


def rewordings_path(language: str) -> Path:
    """Return the path of a language's lists, which may not exist."""
    return RESOURCES / "rewordings" / f"{language}.yaml"


def lacks_rewordings(kind: str) -> Callable[..., str | None]:
    """Return a function that says that a language has no list of a kind; it returns None if there is one."""

    def lacks(language: str, **options: Any) -> str | None:
        if rewordings_path(language).exists():
            return None
        return f"there is no list of {kind} for {name_of(language)}; omit the step"

    return lacks


# ---- time words ------------------------------------------------------------------------------------------------------
# Words that have another sense as often are left out: "last" (of a row), "next" alone (to a place), "May", German "vor"
# and "nach" (of places), "morgen" and Spanish "mañana" (morning).

OPPOSITES: dict[str, dict[str, str]] = {
    "de": {
        "bevor": "nachdem",
        "zuvor": "danach",
        "vorher": "nachher",
        "früher": "später",
        "gestern": "übermorgen",
        "zuerst": "zuletzt",
        "anfangs": "schließlich",
        "morgens": "abends",
    },
    "en": {
        "before": "after",
        "beforehand": "afterwards",
        "earlier": "later",
        "previously": "subsequently",
        **{f"previous {unit}": f"next {unit}" for unit in ("day", "night", "week", "month", "year", "time")},
        "yesterday": "tomorrow",
        "at first": "at last",
        "firstly": "lastly",
        "initially": "finally",
        "morning": "evening",
        "dawn": "dusk",
        "sunrise": "sunset",
    },
    "es": {
        "antes": "después",
        "anteriormente": "posteriormente",
        "previamente": "seguidamente",
        "inicialmente": "finalmente",
    },
    "fr": {
        "avant": "après",
        "hier": "demain",
        "auparavant": "ensuite",
        "précédemment": "ultérieurement",
        "plus tôt": "plus tard",
        "d'abord": "enfin",
    },
    "it": {
        "prima": "dopo",
        "ieri": "domani",
        "precedentemente": "successivamente",
        "inizialmente": "infine",
        "mattina": "sera",
    },
    "nl": {
        "voordat": "nadat",
        "gisteren": "overmorgen",
        "eerder": "later",
        "vooraf": "achteraf",
        "aanvankelijk": "uiteindelijk",
    },
    "pt": {
        "antes": "depois",
        "ontem": "amanhã",
        "anteriormente": "posteriormente",
        "inicialmente": "finalmente",
    },
}
"""Language -> words, in lower case, of opposite sense; each word is in one pair alone."""

CALENDAR: dict[str, tuple[frozenset[str], ...]] = {
    "de": (frozenset("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()),),
    "en": (
        frozenset("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
        frozenset("January February April June July August September October November December".split()),
    ),
    "es": (frozenset("lunes martes miércoles jueves viernes sábado domingo".split()),),
    "fr": (frozenset("lundi mardi mercredi jeudi vendredi samedi dimanche".split()),),
    "it": (frozenset("lunedì martedì mercoledì giovedì venerdì sabato domenica".split()),),
    "nl": (frozenset("maandag dinsdag woensdag donderdag vrijdag zaterdag zondag".split()),),
    "pt": (),
}
"""Language -> groups of names, as they are written within a sentence."""


# ---- articles --------------------------------------------------------------------------------------------------------
# Those of other words, as in Swedish "huset", are no words.

ARTICLES = {
    "ca": ("el", "la", "els", "les", "un", "una", "uns", "unes"),
    "de": tuple("der die das den dem des ein eine einen einem einer eines".split()),
    "en": ("a", "an", "the"),
    "es": ("el", "la", "los", "las", "un", "una", "unos", "unas"),
    "fr": ("le", "la", "les", "un", "une", "des"),
    "gl": ("o", "a", "os", "as", "un", "unha", "uns", "unhas"),
    "hu": ("a", "az", "egy"),
    "it": ("il", "lo", "la", "i", "gli", "le", "un", "uno", "una"),
    "nl": ("de", "het", "een"),
    "pt": ("o", "a", "os", "as", "um", "uma", "uns", "umas"),
}
"""Articles that are words of their own, in lower case; an elided one, as in "l'eau", is a part of the next word."""

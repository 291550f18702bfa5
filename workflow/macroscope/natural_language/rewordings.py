"""Words that stand for each other: the lists in resources/rewordings/<language>.yaml."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from macroscope.files import RESOURCES
from macroscope.natural_language.languages import name_of
from macroscope.strict_yaml import read_yaml


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

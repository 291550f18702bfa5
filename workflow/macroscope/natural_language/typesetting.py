"""Kinds of quotation marks, dashes, spaces, capitals: a difference in these is found, and is not one of structure."""

from collections import Counter
from collections.abc import Mapping
from functools import partial

import regex

from macroscope.phrases import format_share

FAMILIES: Mapping[str, Mapping[str, str]] = {
    "quotation marks": {'"': '"', "“ ”": "[“”]", "« »": "[«»]", "„": "„", "「 」": "[「」『』]"},
    "apostrophes": {"'": r"(?<=\p{L})'(?=\p{L})", "’": r"(?<=\p{L})’(?=\p{L})"},
    "dashes": {"-": r"(?<=\s)-(?=\s)", "--": "--+", "–": "–", "—": "—"},
    "ellipses": {"...": r"\.{3,}|(?:\. ){2,}\.", "…": "…"},
    "spaces": {
        "plain": " ",
        "no-break": "[\u00a0\u202f]",
        "ideographic": "\u3000",
        "zero-width": "[\u200b\u2060\ufeff\u00ad]",
        "other": "[\u2000-\u200a\u205f]",
        "control": r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]",
    },
    "words with capitals": {"Aa": r"\b\p{Lu}\p{Ll}", "AA": r"\b\p{Lu}{2}"},
    "beginnings of sentences": {"A": r"(?<=[.!?]\s)\p{Lu}", "a": r"(?<=[.!?]\s)\p{Ll}"},
}
"""Family of marks -> its kinds, which stand for each other -> their pattern. The first kind is that of a keyboard."""
STRAIGHT: Mapping[str, Mapping[str, str]] = {
    "quotation marks": {r"«[\u00a0\u202f]?|[\u00a0\u202f]?»|[“”„‟「」『』]": '"'},
    "apostrophes": {"[‘’‚‛]": "'"},
    # Lines of hyphens alone are rules, "-->" is an arrow, and "|---|" a table.
    "dashes": {
        r"(?<=\d)(?:--|[–—])(?=\d)": "-",
        r"(?m)([^\S\n]*)(?<![-|<!])(?:(?!(?<=^[^\S\n]*)-+[^\S\n]*$)-{2,3}(?![->]|[^\S\n]*\|)|[–—])([^\S\n]*)": "-",
    },
    "ellipses": {r"(?:\. ){2,}\.|…": "..."},
    "spaces": {
        "[\u00a0\u202f\u3000\u2000-\u200a\u205f]": " ",
        "[\u200b\u2060\ufeff\u00ad]|[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]": "",
    },
}
"""Family of marks that can be straightened -> pattern of its other kinds -> what stands for them."""
_REPLACED = [(regex.compile(pattern), mark) for kinds in STRAIGHT.values() for pattern, mark in kinds.items()]
_CLOSING = "\"')]}"
_USUAL = {"spaces": "plain", "words with capitals": "Aa", "beginnings of sentences": "A"}
"""Kinds that need no mention if there is no other one of their family."""
_PATTERNS = {
    (family, kind): regex.compile(pattern) for family, kinds in FAMILIES.items() for kind, pattern in kinds.items()
}
_ASCII_PATTERNS = {
    key: pattern
    for key, pattern in _PATTERNS.items()
    if any(map(str.isascii, pattern.pattern.strip("[]").replace("-", "")))
}
"""Patterns that may match in a text of ASCII characters."""
_FEWEST_MARKS = 20
"""Number of marks of a family, on either side, below which their kinds are not compared."""
_DIFFERENT = 0.2
"""Share of the marks of a family that must be of other kinds for a difference."""
_UNUSUAL_SPACES = 0.001

Marks = Counter[tuple[str, str]]
"""Number of marks by family and kind."""


def count_marks(text: str) -> Marks:
    """Count the marks of a text."""
    patterns = _ASCII_PATTERNS if text.isascii() else _PATTERNS
    return Counter({key: number for key, pattern in patterns.items() if (number := _count(pattern, text))})


def _count(pattern: regex.Pattern[str], text: str) -> int:
    """Return the number of matches; those of a single character are counted in a fifth of the time."""
    return text.count(pattern.pattern) if len(pattern.pattern) == 1 else len(pattern.findall(text))


def straighten(text: str) -> tuple[str, int]:
    """Replace marks by those of a keyboard; return the text, and the number of marks that were replaced.

    A dash between words gets spaces, since "word-word" is another word.
    """
    marks = 0
    for pattern, mark in _REPLACED:
        text, number = pattern.subn(partial(_space_dash, text) if pattern.groups else mark, text)
        marks += number
    return text, marks


def _space_dash(text: str, match: regex.Match[str]) -> str:
    before, after = text[: match.start()][-1:], text[match.end() : match.end() + 1]
    is_apart = match[2] or (after.strip() and after not in _CLOSING)
    return f"{' ' * bool(match[1] or before.strip())}-{' ' * bool(is_apart)}"


def describe_marks(marks: Marks) -> dict[str, str]:
    """Return family -> shares of its kinds, in words; without families of which there is no mark."""
    described = {}
    for family in FAMILIES:
        shares = _shares(marks, family)
        if set(shares) <= {_USUAL.get(family)}:
            continue
        described[family] = ", ".join(
            f"{kind}  {format_share(share)}" for kind, share in sorted(shares.items(), key=lambda item: -item[1])
        )
    return {family: words for family, words in described.items() if words}


def different_families(reference: Marks, candidate: Marks) -> list[str]:
    """Return the families of marks whose kinds differ between two collections."""
    return [family for family in FAMILIES if _differ(reference, candidate, family)]


def _differ(reference: Marks, candidate: Marks, family: str) -> bool:
    if min(_total(reference, family), _total(candidate, family)) < _FEWEST_MARKS:
        return False
    of_reference, of_candidate = _shares(reference, family), _shares(candidate, family)
    distance = (
        sum(abs(of_reference.get(kind, 0) - of_candidate.get(kind, 0)) for kind in of_reference | of_candidate) / 2
    )
    return distance >= (_UNUSUAL_SPACES if family == "spaces" else _DIFFERENT)


def _total(marks: Marks, family: str) -> int:
    return sum(marks[family, kind] for kind in FAMILIES[family])


def _shares(marks: Marks, family: str) -> dict[str, float]:
    total = _total(marks, family)
    return {kind: marks[family, kind] / total for kind in FAMILIES[family] if marks[family, kind]}

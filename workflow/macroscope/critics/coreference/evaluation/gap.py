"""GAP: ambiguous pronouns of Wikipedia, each with two names, either of which it may mean (Webster et al. 2018)."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from macroscope.critics.coreference.evaluation.metrics import Score
from macroscope.critics.coreference.mentions import Resolved
from macroscope.errors import MacroscopeError

_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref", "URL")
_MASCULINE = frozenset({"he", "him", "his", "himself"})


@dataclass(frozen=True)
class Example:
    """A pronoun and two names.

    Attributes
    ----------
    id, text, page
        Of the example; address of the Wikipedia page that the text is from.
    pronoun
        Character at which the pronoun starts.
    masculine
        Whether it is a form of "he" (or else of "she").
    names
        (start, end, whether the pronoun means it) of both names, in characters.
    """

    id: str
    text: str
    page: str
    pronoun: int
    masculine: bool
    names: tuple[tuple[int, int, bool], tuple[int, int, bool]]


def read_examples(path: Path) -> list[Example]:
    """Read a file of GAP (TSV).

    Raises
    ------
    MacroscopeError
        Where it is not one.
    """
    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file; give a file of GAP, such as gap-development.tsv")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise MacroscopeError(
                    f"{path}: no column {', '.join(missing)}; give a file of GAP, such as gap-development.tsv"
                )
            found = [_example(row) for row in reader]
    except (UnicodeDecodeError, csv.Error, ValueError, TypeError) as error:
        raise MacroscopeError(f"{path}: not a readable file of GAP ({error})") from None
    if not found:
        raise MacroscopeError(f"{path}: no example in it; give a file of GAP, such as gap-development.tsv")
    return found


def _example(row: dict[str, str]) -> Example:
    names = tuple(
        (int(row[f"{name}-offset"]), int(row[f"{name}-offset"]) + len(row[name]), row[f"{name}-coref"] == "TRUE")
        for name in "AB"
    )
    masculine = row["Pronoun"].lower() in _MASCULINE
    offset = int(row["Pronoun-offset"])
    if row["Text"][offset : offset + len(row["Pronoun"])] != row["Pronoun"]:
        raise ValueError(f"{row['ID']}: the pronoun is not where Pronoun-offset says")
    return Example(row["ID"], row["Text"], row["URL"], offset, masculine, (names[0], names[1]))


def is_of(start: int, end: int, name: tuple[int, int, bool]) -> bool:
    """Whether a mention whose head is there is of one of the names: the head lies within the name, or has it in it."""
    return (start <= name[0] and name[1] <= end) or (name[0] <= start and end <= name[1])


def answers(example: Example, resolved: Resolved) -> tuple[bool, bool]:
    """Whether the resolver puts the pronoun to each of the two names."""
    entities = {m.entity for m in resolved.mentions if m.start == example.pronoun and m.pronoun}
    together = [(m.head_start, m.head_end) for m in resolved.mentions if m.entity in entities and not m.pronoun]
    first, second = (any(is_of(start, end, name) for start, end in together) for name in example.names)
    return first, second


def gap_scores(examples: Sequence[Example], answered: Iterable[tuple[bool, bool]]) -> dict[str, Score]:
    """Precision and recall over all names: "overall", "masculine", "feminine"."""
    counts = {name: [0, 0, 0] for name in ("overall", "masculine", "feminine")}
    for example, given in zip(examples, answered, strict=True):
        for (*_, gold), answer in zip(example.names, given, strict=True):
            for name in ("overall", "masculine" if example.masculine else "feminine"):
                counts[name][0] += gold and answer
                counts[name][1] += answer
                counts[name][2] += gold
    return {
        name: Score(both / given if given else 0.0, both / gold if gold else 0.0)
        for name, (both, given, gold) in counts.items()
    }

"""GAP: ambiguous pronouns of Wikipedia, each with two candidate names (Webster et al. 2018)."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.coreference.metrics import Score

from macroscope.critics.coreference.mentions import Resolved
from macroscope.errors import MacroscopeError

_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref", "URL")
_MASCULINE = frozenset({"he", "him", "his", "himself"})


@dataclass(frozen=True)
class Example:
    """A pronoun and two candidate names.

    Attributes
    ----------
    id, text, page
        Id and text of the example; URL of the text's Wikipedia page.
    pronoun
        Character offset of the pronoun.
    masculine
        Whether the pronoun is a form of "he" (otherwise of "she").
    names
        (start, end, whether the pronoun refers to it) of both names; character offsets.
    """

    id: str
    text: str
    page: str
    pronoun: int
    masculine: bool
    names: tuple[tuple[int, int, bool], tuple[int, int, bool]]


def read_examples(path: Path) -> list[Example]:
    """Read a GAP file (TSV).

    Raises
    ------
    MacroscopeError
        If the file is missing, empty, or has another format.
    """
    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file; give a GAP file, such as gap-development.tsv")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise MacroscopeError(
                    f"{path}: no column {', '.join(missing)}; give a GAP file, such as gap-development.tsv"
                )
            examples = [_parse_example(row) for row in reader]
    except (UnicodeDecodeError, csv.Error, ValueError, TypeError) as error:
        raise MacroscopeError(f"{path}: not a readable GAP file ({error})") from None
    if not examples:
        raise MacroscopeError(f"{path}: no examples; give a GAP file, such as gap-development.tsv")
    return examples


def _parse_example(row: dict[str, str]) -> Example:
    names = tuple(
        (int(row[f"{name}-offset"]), int(row[f"{name}-offset"]) + len(row[name]), row[f"{name}-coref"] == "TRUE")
        for name in "AB"
    )
    masculine = row["Pronoun"].lower() in _MASCULINE
    offset = int(row["Pronoun-offset"])
    if row["Text"][offset : offset + len(row["Pronoun"])] != row["Pronoun"]:
        raise ValueError(f"{row['ID']}: the pronoun is not at Pronoun-offset")
    return Example(row["ID"], row["Text"], row["URL"], offset, masculine, (names[0], names[1]))


def overlaps_name(start: int, end: int, name: tuple[int, int, bool]) -> bool:
    """Check that a span, the head of a mention, lies within a name, or contains it."""
    return (start <= name[0] and name[1] <= end) or (name[0] <= start and end <= name[1])


def match_names(example: Example, resolved: Resolved) -> tuple[bool, bool]:
    """Return for each of the two names whether the resolver links the pronoun to it."""
    entities = {m.entity for m in resolved.mentions if m.start == example.pronoun and m.pronoun}
    together = [(m.head_start, m.head_end) for m in resolved.mentions if m.entity in entities and not m.pronoun]
    first, second = (any(overlaps_name(start, end, name) for start, end in together) for name in example.names)
    return first, second


def score_gap(examples: Sequence[Example], predictions: Iterable[tuple[bool, bool]]) -> dict[str, Score]:
    """Compute precision and recall over all names: "overall", "masculine", "feminine"."""
    counts = {name: [0, 0, 0] for name in ("overall", "masculine", "feminine")}
    for example, predicted in zip(examples, predictions, strict=True):
        for (*_, gold), prediction in zip(example.names, predicted, strict=True):
            for name in ("overall", "masculine" if example.masculine else "feminine"):
                counts[name][0] += gold and prediction
                counts[name][1] += prediction
                counts[name][2] += gold
    return {
        name: Score(both / predicted if predicted else 0.0, both / gold if gold else 0.0)
        for name, (both, predicted, gold) in counts.items()
    }

"""The profile as a table for people, and as records for programs: a column or a record per collection of texts."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

import pandas as pd

from macroscope.criticize.checks import count_pairs_by_place, describe_languages
from macroscope.criticize.copied_texts import find_copies
from macroscope.criticize.profile import Profile, differences
from macroscope.criticize.reading import describe_dropped, list_remarks
from macroscope.documents import SPLITS
from macroscope.natural_language.typesetting import FAMILIES, describe_marks
from macroscope.phrases import format_count
from macroscope.statistics.document_groups import FEWEST_PROMPTS

READ_AS_ROW = "read as"
"""First row of the table: what of the records was taken as what."""
DIFFERS_ROW = "differs from the reference in"
_NOTHING_LISTED = "nothing listed here"
_NOTHING = re.compile(rf"|0|in 0 texts|none(?: [\d,]+)?|{_NOTHING_LISTED}")
"""Cells that say that a collection has nothing of a property."""


def table_of(reference: Profile, candidates: Sequence[Profile]) -> pd.DataFrame:
    """Return the table for the user: a row per property, a column per collection."""
    columns = {profile.name: _column(profile, reference) for profile in (reference, *candidates)}
    order = dict.fromkeys(row for column in columns.values() for row in column.index)
    return pd.DataFrame(columns).reindex(list(order)).fillna("")


def drop_empty_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table that say something of a collection: of kinds of marks, those that differ.

    Sentences beside the table say in what the collections differ.
    """
    is_empty = table.map(lambda cell: _NOTHING.fullmatch(cell) is not None).all(axis=1)
    compared = table[table.index == DIFFERS_ROW].to_numpy().ravel()  # none, if the reference is alone
    differing = {name for cell in compared for name in cell.split(", ")}
    return table[~is_empty].drop({DIFFERS_ROW, *FAMILIES} - differing, errors="ignore")


def records_of(reference: Profile, candidates: Sequence[Profile]) -> list[dict[str, Any]]:
    """Return the numbers of the table, a record per collection, for programs."""
    return [
        {
            "name": profile.name,
            "files": [str(path) for path in profile.files],
            "read_as": _read_as(profile),
            "documents": profile.documents,
            "is_all": profile.is_all,
            "words": sum(profile.words),
            **{name: size and {"words": size[0], "id": size[1]} for name, size in profile.extremes.items()},
            "languages": dict(profile.languages),
            "labels": dict(profile.labels),
            "splits": dict(profile.splits) if profile is reference else {},
            "prompts": len(set(profile.prompts)),
            "repeated": profile.repeated,
            "left_out": {count.filter: count.dropped for count in profile.counts if count.dropped},
            "straightened": dict(zip(("marks", "texts"), profile.straightened, strict=True)),
            "without_final_mark": profile.unfinished,
            "given_away_by": [asdict(wrapper) for wrapper in profile.wrappers],
            "copies": {
                kind: int(flags.sum())
                for kind, flags in zip(("whole", "half"), find_copies(reference, profile), strict=True)
            },
            "differs_in": differences(reference, profile),
            **profile.counted(),
        }
        for profile in (reference, *candidates)
    ]


def _column(profile: Profile, reference: Profile) -> pd.Series:
    of_reference = profile is reference
    rows: dict[str, str] = {
        READ_AS_ROW: _read_as(profile),
        "read from": ", ".join(path.name for path in profile.files),
        "documents": f"{profile.documents:,}" + ("" if profile.is_all else " read, and more"),
        "words": f"{sum(profile.words):,}; {median(profile.words):,.0f} in the median text" if profile.words else "0",
        "shortest text": _size(profile.shortest),
        "longest text": _size(profile.longest),
        "with section titles": f"{profile.titled:,}"
        + (f"; {profile.partly_titled:,} of them on some sections only" if profile.partly_titled else ""),
        "headings": ", ".join(f"{kind} {number:,}" for kind, number in profile.headings.most_common()),
        "language": describe_languages(profile.languages),
        **describe_marks(profile.marks),
        "labels": f"{len(profile.labels):,} on {format_count(profile.labels.total(), 'text')}"
        if profile.labels
        else "none",
        "splits": ", ".join(f"{split} {profile.splits[split]:,}" for split in SPLITS) if of_reference else "",
        "prompts": _prompts(profile),
        "texts that share their opening": _shared_openings(profile),
        "texts that occur again": f"{profile.repeated:,}",
        "left out": describe_dropped(profile.counts) or "none",
        "characters composed (NFC)": f"in {format_count(profile.not_composed, 'text')}",
        "texts without a final mark": f"{profile.unfinished:,}",
        "hard-wrapped lines joined": f"in {format_count(profile.hard_wrapped, 'text')}",
    }
    if profile.selection.straighten_typography:
        marks, texts = profile.straightened
        rows["marks straightened"] = f"{marks:,} in {format_count(texts, 'text')}"
    if not of_reference:
        rows[DIFFERS_ROW] = ", ".join(differences(reference, profile)) or _NOTHING_LISTED
        whole, half = find_copies(reference, profile)
        rows["copies of real texts"] = f"{whole.sum():,} whole, {half.sum():,} half" if (whole | half).any() else "0"
        by_place = count_pairs_by_place(reference, profile)
        rows["ids of the reference"] = f"{_shared(profile.ids, reference.ids) - by_place:,}"
        rows["file names and lines of the reference"] = f"{by_place:,}"
        openings = [opening for opening, is_copy in zip(profile.openings, whole | half, strict=True) if not is_copy]
        rows["openings of the reference"] = f"{_shared(openings, reference.openings):,}"
    return pd.Series(rows)


def _prompts(profile: Profile) -> str:
    number = len(set(profile.prompts))
    if number == profile.documents:
        return "a text each"
    if number < FEWEST_PROMPTS:
        return f"{number:,}; each text counts"
    return f"{number:,} with {profile.documents / number:.1f} texts on average; those of a prompt count as one"


def _shared_openings(profile: Profile) -> str:
    openings, texts = profile.shared_openings
    return f"{texts:,}, of {format_count(openings, 'opening')}" if profile.begins_alike else f"{texts:,}"


def _read_as(profile: Profile) -> str:
    """Return what was taken as what, and what the user should know about it."""
    files = sum(profile.read_as.values())
    read = [
        form + (f" in {format_count(number, 'file')}" if files > 1 else "") for form, number in profile.read_as.items()
    ]
    return "; ".join(["; ".join(read), *list_remarks(profile.remarks, profile.models, profile.selection)])


def _size(size: tuple[int, str] | None) -> str:
    return "" if size is None else f"{format_count(size[0], 'word')} ({size[1]})"


def _shared(values: Sequence[Hashable], reference_values: Sequence[Hashable]) -> int:
    reference = set(reference_values) - {0}
    return sum(value in reference for value in values)

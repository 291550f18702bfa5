"""Texts that are paired with real ones because their files have one name: nothing else in them may say so."""

from collections.abc import Sequence
from typing import Protocol

from macroscope.phrases import choose_form, format_count, group_names, of_each


class Texts(Protocol):
    """The properties of a collection that pair its texts by their places (`profile.Profile`)."""

    name: str
    ids_by_place: set[int]
    texts: list[int]


def count_pairs_by_place(reference: Texts, candidate: Texts) -> int:
    """Return the number of texts without an id whose file, or its line, is called as that of a real text."""
    return len(reference.ids_by_place & candidate.ids_by_place)


def describe_pairs_by_place(reference: Texts, candidates: Sequence[Texts]) -> list[str]:
    """Return sentences for the user about texts that are paired by their places, and how to have them unpaired."""
    numbers = {
        candidate.name: count_pairs_by_place(reference, candidate)
        for candidate in candidates
        if not set(candidate.texts) <= set(reference.texts)  # else they are copies, which matters more
    }
    return [
        f"{format_count(number, 'text')} {of_each(names)} {choose_form(number, 'is', 'are')} paired with real texts by"
        f" {choose_form(number, 'its file name and line', 'their file names and lines')}, as if both"
        " continued one prompt. If they do not, call the file by another name, or put the files of one folder into a"
        " folder inside it."
        for number, names in group_names(numbers).items()
        if number
    ]

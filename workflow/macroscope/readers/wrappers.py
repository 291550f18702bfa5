"""Wrapping: text around a document that is not a part of it, a row per kind, which is taken off and counted.

Language models, chat templates, converters and transcription programs write it. Left in place, it would tell two sides
apart that have the same texts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from macroscope.files import RESOURCES
from macroscope.readers import markup, templates, transcripts
from macroscope.strict_yaml import read_yaml

_MODULES = {"markup": markup, "templates": templates, "transcripts": transcripts}


@dataclass(frozen=True)
class Wrapper:
    """A kind of wrapping, a row of `resources/wrapping.yaml`.

    Attributes
    ----------
    name
        Name in the counts.
    without
        Function that returns a text without it; the same text if it has none.
    example
        An example, for the page on the user's own texts.
    title
        Pattern whose first group is the title of the document, in the text with the wrapping.
    """

    name: str
    without: Callable[[str], str]
    example: str
    title: re.Pattern[str] | None


def unwrap(text: str, wrappers: Sequence[Wrapper] | None = None) -> tuple[str, list[str], str | None]:
    r"""Take off the wrapping of a text.

    Parameters
    ----------
    text
        Text with lines that end with "\n".
    wrappers
        Kinds to take off; default: `WRAPPERS`.

    Returns
    -------
    str
        The text without it.
    list of str
        Kinds of wrapping that were taken off.
    str or None
        Title of the document, if the wrapping names it.
    """
    removed, title = [], None
    for wrapper in WRAPPERS if wrappers is None else wrappers:
        without = wrapper.without(text)
        if without != text:
            removed.append(wrapper.name)
            named = wrapper.title.search(text) if wrapper.title else None
            title, text = title or (named[1].strip() if named else None), without
    return text, removed, title


def _replace_all(steps: Sequence[Mapping[str, str]]) -> Callable[[str], str]:
    """Return a function that replaces what fits patterns, in texts with the characters that each needs."""
    compiled = [(step.get("needs", ""), re.compile(step["find"]), step.get("by", "")) for step in steps]
    return lambda text: reduce(
        lambda rest, step: step[1].sub(step[2], rest) if step[0] in rest else rest, compiled, text
    )


def _wrapper(row: Mapping[str, Any]) -> Wrapper:
    module, _, function = row.get("function", "").partition(".")
    without = getattr(_MODULES[module], function) if module else _replace_all(row["patterns"])
    return Wrapper(
        row["name"], without, row["example"], re.compile(row["title"], re.MULTILINE) if "title" in row else None
    )


_ROWS = read_yaml(RESOURCES / "wrapping.yaml")
WRAPPERS = tuple(map(_wrapper, _ROWS["around texts"]))
"""Kinds in the order in which they are taken off."""
MARKS = tuple(map(_wrapper, _ROWS["inside of sections"]))
"""Kinds that are taken off sections: the lines of headings have such marks, too."""

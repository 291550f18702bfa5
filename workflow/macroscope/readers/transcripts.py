"""Subtitles and transcripts: what is said, without times and names of speakers, or with these as messages."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from macroscope.readers.messages import Message

_TIMES = re.compile(r"\s*(?:\d+:)?\d+:\d+[.,]\d+\s*-->")
_SUBTITLES = re.compile(rf"WEBVTT\b|(?:\d+\s*\n)?{_TIMES.pattern}")
_MARKS = re.compile(r"</?[a-z][^<>]*>|<\d[\d:.]*>|\{\\[^}]*\}", re.IGNORECASE)
"""Tags of type and of speakers, times inside of a line, and positions ({\\an8})."""
_VOICE = re.compile(r"<v(?:\.\w+)* ([^<>]*)>|</v>")
_SPEAKER = re.compile(r"([^\W\d_][\w.'’-]*(?: [^\W\d_(][\w.'’-]*){0,3}): (?=\S)")
_REPEATED, _FEWEST_CUES = 0.3, 4
"""Share of the lines of captions from which they repeat the line before; fewest lines by which to tell."""


def _cues(text: str) -> list[int]:
    """Return the numbers of the lines of subtitles that are said: those after times, up to an empty line."""
    numbers, is_said = [], False
    for number, line in enumerate(text.split("\n")) if _SUBTITLES.match(text.lstrip()) else ():
        is_said = bool(_TIMES.match(line)) or (is_said and line != "")
        if is_said and not _TIMES.match(line):
            numbers.append(number)
    return numbers


def _edit_cues(text: str, edit: Callable[[list[str]], Sequence[str | None]]) -> str:
    """Return subtitles with the lines that are said as `edit` returns them; None removes one."""
    numbers, lines = _cues(text), list[str | None](text.split("\n"))
    for number, line in zip(numbers, edit([lines[number] or "" for number in numbers]), strict=True):
        lines[number] = line
    return "\n".join(line for line in lines if line is not None)


def without_speakers(text: str) -> str:
    """Return subtitles without the names of speakers."""

    def edit(lines: list[str]) -> list[str]:
        bare = [_VOICE.sub("", line) for line in lines]
        return [_SPEAKER.sub("", line, count=1) for line in bare] if _is_transcript(bare) else bare

    return _edit_cues(text, edit)


def _is_transcript(lines: Sequence[str]) -> bool:
    """Return whether lines begin with names of speakers, most of which come again."""
    names = [match[0] for line in lines if (match := _SPEAKER.match(line))]
    return len(names) >= max(_FEWEST_CUES, len(lines) / 2) and len(set(names)) <= len(names) / 2


def read_transcript(text: str) -> list[Message]:
    """Return what speakers say in subtitles, or in lines that begin with their names; empty if these are absent."""
    lines = without_repeats(text).split("\n")
    lines = [lines[number] for number in _cues("\n".join(lines))] or [line for line in lines if line.strip()]
    has_names, said = _is_transcript(lines), list[Message]()
    for line in lines:
        name = _VOICE.match(line.lstrip()) or (_SPEAKER.match(line) if has_names else None)
        speaker = (name[1] if name else None) or (said[-1].speaker if said else "")
        words = _MARKS.sub("", line[name.end() :] if name else line).strip()
        said += [Message(speaker, words)] if speaker and words else []
    return said


def without_repeats(text: str) -> str:
    """Return captions without the lines that repeat the one before, if many do."""

    def edit(lines: list[str]) -> list[str | None]:
        said = [" ".join(_MARKS.sub("", line).split()) for line in lines]
        words = [number for number, line in enumerate(said) if line]
        again = {later for earlier, later in pairwise(words) if said[earlier] == said[later]}
        repeats = len(words) >= _FEWEST_CUES and len(again) >= _REPEATED * len(words)
        return [None if repeats and number in again else line for number, line in enumerate(lines)]

    return _edit_cues(text, edit)


def without_times(text: str) -> str:
    """Return what is said in subtitles as one line."""
    numbers, lines = _cues(text), text.split("\n")
    said = (" ".join(_MARKS.sub("", lines[number]).split()) for number in numbers)
    return " ".join(filter(None, said)) if numbers else text

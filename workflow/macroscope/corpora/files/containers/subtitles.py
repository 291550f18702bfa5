"""Subtitles, SubRip (.srt) and WebVTT (.vtt): what is said is one text, without numbers, times and marks."""

import re
from pathlib import Path

from macroscope.corpora.files.containers.rows import Rows
from macroscope.corpora.records import read_numbered_lines

SUFFIXES = (".srt", ".vtt")
_TIMES = re.compile(r"\s*(?:\d+:)?\d+:\d+[.,]\d+\s*-->")
_MARKS = re.compile(r"</?[a-z][^>]*>|<\d[\d:.]*>|\{\\[^}]*\}", re.IGNORECASE)
"""Tags of type and of speakers, times inside of a line, and positions ({\\an8})."""


def open_subtitles(path: Path) -> Rows:
    """Return what is said in a file of subtitles, as one text."""
    remark = "subtitles without their numbers and times, joined into one text per file"
    return Rows("", lambda _: iter([(1, {"text": _read(path)})]), (remark,))


def _read(path: Path) -> str:
    said: list[str] = []
    is_said = False  # the lines after times, up to a blank line; notes, styles and numbers have no times
    for _, line in read_numbered_lines(path):
        if _TIMES.match(line):
            is_said = True
        elif not line.strip():
            is_said = False
        elif is_said and (words := _MARKS.sub("", line).strip()):
            said.append(words)
    return " ".join(said)

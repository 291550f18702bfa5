"""Articles in the files of WikiExtractor: `<doc id="…" url="…" title="…">`, the title again, the text, `</doc>`."""

import re
from html import unescape
from pathlib import Path
from typing import Any

from macroscope.corpora.files.containers.rows import NumberedRows, Rows
from macroscope.corpora.records import LONGEST_LINE, read_numbered_lines
from macroscope.errors import MacroscopeError

BEGINNING = b"<doc "
_BEGINNING = re.compile(r"<doc\b(.*)>\s*$")
_ATTRIBUTE = re.compile(r'(\w+)="(.*?)"(?=\s+\w+=|\s*$)')
_END = "</doc>"


def open_articles(path: Path) -> Rows:
    """Return the articles of a file of WikiExtractor, numbered by the line that each begins with."""
    return Rows("line", lambda _: _read(path))


def _read(path: Path) -> NumberedRows:
    beginning, length = 0, 0
    fields: dict[str, str] = {}
    lines: list[str] = []
    for number, line in read_numbered_lines(path):
        if match := _BEGINNING.match(line):
            beginning, lines, length = number, [], 0
            fields = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[1])}
        elif line.strip() == _END and beginning:
            yield beginning, _article(fields, lines)
            beginning = 0
        elif beginning:
            lines.append(line)
            length += len(line)
            if length > LONGEST_LINE:
                raise MacroscopeError(f"{path}, line {beginning:,}: an article without an end ({_END}); write it again")
        elif line.strip():
            raise MacroscopeError(f"{path}, line {number:,}: text between articles, which end with {_END}; remove it")
    if beginning:
        raise MacroscopeError(f"{path}, line {beginning:,}: an article without an end ({_END}); write it again")


def _article(fields: dict[str, str], lines: list[str]) -> dict[str, Any]:
    title = fields.get("title")
    if lines and title is not None and lines[0].strip() == title:
        del lines[0]
    return {"id": fields.get("id"), "title": title, "text": "\n".join(lines)}

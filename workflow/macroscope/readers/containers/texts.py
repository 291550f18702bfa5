"""Rows of text files: the whole file, or the texts between separators; chats of WhatsApp, WikiExtractor, subtitles.

Separators are the tokens with which language models end a document, and the lines that the user names.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.fields import name_field
from macroscope.files import SAVE_AS_UTF8, parse_json
from macroscope.readers.compression import DAMAGE, open_bytes, raise_broken, read_all
from macroscope.readers.records import LONGEST_LINE, NumberedRows, Rows, read_numbered_lines

_DATE = re.compile(
    r"\u200e?\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?\s\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s[ap]\.?\s?m\.?)?(?:\]|\s-)\s",
    re.IGNORECASE,
)
"""Beginning of a message on an iPhone, [26.11.25, 14:05:03], or on Android, 26/11/2025, 14:05 -."""
_AUTHOR = re.compile(r"[^:]{1,60}: ?")
_NO_TEXT = re.compile(r"\u200e|<[^<>]+>$|$")
"""Beginning of a message without text: of the program, or in place of a picture."""
_FIRST_LINES = 3


def is_chat(path: Path) -> bool:
    """Return whether one of the first lines of a text file begins as a message does; the first of all may not."""
    return any(_DATE.match(line) for _, line in islice(read_numbered_lines(path), _FIRST_LINES))


def open_chat(path: Path) -> Rows:
    """Return the messages of a chat; one without text, or of the program, has None."""
    return Rows("line", lambda _: _read_chat(path), ("messages of a WhatsApp chat, without dates and names",))


def _read_chat(path: Path) -> NumberedRows:
    beginning, lines = 0, list[str]()
    for number, line in read_numbered_lines(path):
        if match := _DATE.match(line):
            if beginning:
                yield beginning, _message(lines)
            beginning, lines = number, [line[match.end() :]]
        elif beginning:
            lines.append(line)
    if beginning:
        yield beginning, _message(lines)


def _message(lines: list[str]) -> dict[str, Any]:
    name = _AUTHOR.match(lines[0])
    text = "\n".join([lines[0][name.end() :], *lines[1:]]).strip() if name else ""
    return {"text": None if _NO_TEXT.match(text) else text, "author": name[0].strip(": ") if name else ""}


LINE, BLANK_LINE = "line", "blank-line"
"""Separators: each line is a text; blank lines stand between texts. Any other one is a line of its own, such as ---."""
_ENDS = ("<|endoftext|>", "<|end_of_text|>")
"""Tokens that end a document, as the dumps of training data and of samples have them."""
_END = re.compile("|".join(map(re.escape, _ENDS)))
_RULE = re.compile(r"([-=*#_~+%])\1{2,}$")
"""Line that may separate texts: three or more of one mark."""
_BLOCK = 1 << 20
_LINE_BREAK = "<newline>"
_SOURCE, _TARGET = ".wp_source", ".wp_target"
"""Mark of a line break inside of a text that is a line; suffixes of WritingPrompts' files of prompts and of stories."""
_FEW_FILES, _MANY_LINES = 20, 20
"""Numbers of files, too few to be compared as one text each, and of lines, more than most texts have."""


def open_text(path: Path, separator: str | None) -> Rows:
    """Return the texts of a text file.

    Parameters
    ----------
    separator
        `LINE`, `BLANK_LINE` or the line that separates texts; None: the file is one text, unless it has a token that
        ends documents.
    """
    if separator is not None:
        unit = "line" if separator == LINE else "text from line"
        return Rows(unit, lambda _: _split_at(path, separator), (f"texts are separated by {_name(separator)}",))
    if is_chat(path):
        return open_chat(path)
    if _find_first(path, (_LINE_BREAK,)) is not None:
        return Rows("line", lambda _: _read_stories(path), (f"each line is a text, since {_LINE_BREAK} is in them",))
    end = _find_first(path, _ENDS)
    if end is None:
        return Rows("", lambda _: iter([(1, {"text": _read_text(path)})]))
    return Rows("text", lambda _: _split(path), (f"texts are separated by {end}",))


def describe_lines(path: Path) -> str:
    """Return what may separate texts in a text file, and how to say so; "" if nothing does."""
    lines, blocks, rules = _count_lines(path)
    counted = [(lines, "lines", LINE)]
    if 1 < blocks < lines:
        counted.append((blocks, "blocks between blank lines", BLANK_LINE))
    counted += [(number + 1, f"parts between lines {rule!r}", rule) for rule, number in rules.most_common(1)]
    if lines < 2:
        return ""
    numbers = ", ".join(f"{number:,} {name}" for number, name, _ in counted)
    options = " or ".join(name_field("separator", option) for *_, option in reversed(counted))
    return f"{path.name} is read as one text, and has {numbers}; if it holds several texts, add {options}"


def describe_lines_of_folder(folder: Path, files: Sequence[Path]) -> str:
    """Return how to say that each text file of a folder may hold several texts, a line each; "" if they may not.

    Of few files, lines may be texts. Of more, they may if there are many in a file, without blank lines between them.
    """
    counts = [_count_lines(path)[:2] for path in files[:_FEW_FILES]]
    fewest_lines = min(lines for lines, _ in counts)
    has_blocks = any(blocks > 1 for _, blocks in counts)
    if fewest_lines < 2 or (len(files) >= _FEW_FILES and (has_blocks or fewest_lines < _MANY_LINES)):
        return ""
    lines = sum(lines for lines, _ in counts)
    first = f"the first {len(counts)}" if len(files) > len(counts) else "those"
    options = " or ".join(name_field("separator", option) for option in (LINE, *([BLANK_LINE] if has_blocks else [])))
    return (
        f"each file of {folder.name} is read as one text, and {first} have {lines:,} lines; if a file holds several"
        f" texts, add {options}"
    )


def _count_lines(path: Path) -> tuple[int, int, Counter[str]]:
    """Return the numbers of lines with text, of blocks between blank lines, and of each rule between texts."""
    lines = blocks = 0
    rules: Counter[str] = Counter()
    is_blank = True
    for _, line in read_numbered_lines(path):
        stripped = line.strip()
        lines += bool(stripped)
        blocks += is_blank and bool(stripped)
        is_blank = not stripped
        if _RULE.match(stripped):
            rules[stripped] += 1
    return lines, blocks, rules


def _name(separator: str) -> str:
    return {LINE: "line breaks", BLANK_LINE: "blank lines"}.get(separator, f"lines {separator!r}")


def _split_at(path: Path, separator: str) -> NumberedRows:
    """Stream the texts between separators, numbered by the line that each begins with."""
    beginning, lines = 1, list[str]()
    for number, line in read_numbered_lines(path):
        stripped = line.strip()
        if separator == LINE:
            if stripped:
                yield number, {"text": stripped}
        elif stripped == ("" if separator == BLANK_LINE else separator.strip()):
            yield from _text_of(beginning, lines)
            lines = []
        else:
            beginning = beginning if any(lines) else number
            lines.append(line.rstrip())
    yield from _text_of(beginning, lines)


def _text_of(beginning: int, lines: list[str]) -> NumberedRows:
    if any(lines):
        yield beginning, {"text": "\n".join(lines)}


def _split(path: Path) -> NumberedRows:
    texts: Iterator[str] = (text.strip() for text in _END.split(_read_text(path)))
    for number, text in enumerate(filter(None, texts), start=1):
        yield number, {"text": text}


def _read_stories(path: Path) -> NumberedRows:
    """Stream the lines of a file; their prompts are those of WritingPrompts' file of prompts, if it is beside it."""
    source = path.with_name(path.name.replace(_TARGET, _SOURCE))
    prompts = {} if source == path or not source.is_file() else dict(read_numbered_lines(source))
    for number, row in _split_at(path, LINE):
        yield number, row | ({"prompt": prompts[number]} if number in prompts else {})


def _find_first(path: Path, tokens: Sequence[str]) -> str | None:
    """Return the first of some tokens that a file holds; None if it holds none."""
    ends = [end.encode() for end in tokens]
    rest = b""
    try:
        with open_bytes(path) as stream:
            while block := stream.read(_BLOCK):
                rest = rest[-max(map(len, ends)) :] + block
                for end in ends:
                    if end in rest:
                        return end.decode()
    except DAMAGE as error:
        raise_broken(error, str(path))
    return None


def _read_text(path: Path) -> str:
    try:
        text = read_all(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{path}: not valid UTF-8 (byte {error.start + 1:,}); {SAVE_AS_UTF8}") from None
    if _is_json_lines(text):
        raise MacroscopeError(f"{path}: JSON Lines in a text file; call it .jsonl, so that each line is a document")
    # As `Path.read_text` reads line ends.
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_json_lines(text: str) -> bool:
    """Return whether the first line is a record with `text` or `sections`."""
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("{"):
        return False
    try:
        record = parse_json(first.encode(), "", "")
    except (MacroscopeError, UnicodeEncodeError):
        return False
    return isinstance(record, dict) and bool({"text", "sections"} & set(record))


ARTICLE_BEGINNING = b"<doc "
_ARTICLE_BEGINNING = re.compile(r"<doc\b(.*)>\s*$")
_ATTRIBUTE = re.compile(r'(\w+)="(.*?)"(?=\s+\w+=|\s*$)')
_ARTICLE_END = "</doc>"


def open_articles(path: Path) -> Rows:
    """Return the articles of a file of WikiExtractor, numbered by the line that each begins with."""
    return Rows("line", lambda _: _read_articles(path))


def _read_articles(path: Path) -> NumberedRows:
    beginning, length = 0, 0
    fields: dict[str, str] = {}
    lines: list[str] = []
    for number, line in read_numbered_lines(path):
        if match := _ARTICLE_BEGINNING.match(line):
            beginning, lines, length = number, [], 0
            fields = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[1])}
        elif line.strip() == _ARTICLE_END and beginning:
            yield beginning, _article(fields, lines)
            beginning = 0
        elif beginning:
            lines.append(line)
            length += len(line)
            if length > LONGEST_LINE:
                raise MacroscopeError(
                    f"{path}, line {beginning:,}: an article without an end ({_ARTICLE_END}); write it again"
                )
        elif line.strip():
            raise MacroscopeError(
                f"{path}, line {number:,}: text between articles, which end with {_ARTICLE_END}; remove it"
            )
    if beginning:
        raise MacroscopeError(f"{path}, line {beginning:,}: an article without an end ({_ARTICLE_END}); write it again")


def _article(fields: dict[str, str], lines: list[str]) -> dict[str, Any]:
    title = fields.get("title")
    if lines and title is not None and lines[0].strip() == title:
        del lines[0]
    return {"id": fields.get("id"), "title": title, "text": "\n".join(lines)}

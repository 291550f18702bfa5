"""Rows of a text file: the whole file, or the texts between the tokens with which language models end a document."""

import re
from collections.abc import Iterator
from pathlib import Path

from macroscope.corpora.compression import DAMAGE, open_bytes, raise_broken, read_all
from macroscope.corpora.files.containers.rows import NumberedRows, Rows
from macroscope.errors import MacroscopeError
from macroscope.files import parse_json

_ENDS = ("<|endoftext|>", "<|end_of_text|>")
"""Tokens that end a document, as the dumps of training data and of samples have them."""
_END = re.compile("|".join(map(re.escape, _ENDS)))
_BLOCK = 1 << 20


def open_text(path: Path) -> Rows:
    """Return the texts of a text file."""
    end = _find_end(path)
    if end is None:
        return Rows("", lambda _: iter([(1, {"text": _read(path)})]))
    return Rows("text", lambda _: _split(path), (f"texts are separated by {end}",))


def _split(path: Path) -> NumberedRows:
    texts: Iterator[str] = (text.strip() for text in _END.split(_read(path)))
    for number, text in enumerate(filter(None, texts), start=1):
        yield number, {"text": text}


def _find_end(path: Path) -> str | None:
    """Return the first of the tokens that a file holds; None if it holds none."""
    ends = [end.encode() for end in _ENDS]
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


def _read(path: Path) -> str:
    try:
        text = read_all(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{path}: not valid UTF-8 (byte {error.start + 1:,}); save the file as UTF-8") from None
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

"""From files to hotel reviews: LARA's hotels, and JSON Lines with a review a line.

LARA (Wang et al. 2010): a file is one hotel, a JSON object with `Reviews`, a list of objects with `ReviewID`, `Content`
and others, and with `HotelInfo`. The release is a tar archive of such files. Two traces of the web page go from
`Content`: its line breaks (`<br/>`) end a line, and calls of its script, `showReview(...)`, are left out. All else
stays: it may be what the reviewer wrote.

JSON Lines: a line is an object with `text`, and perhaps an `id`, or a list of sentences. What INSET (Huang et al. 2020)
made of the reviews has that form once it is converted. INSET's README and code say, and it has not been seen here, that
`tripadvisor_review_processed_uncut.json` in its dataset.tar.gz is a list of reviews, each a list of sentences, written
by Python's pickle in spite of its name. To open a pickle runs the code in it, so none is opened here.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from macroscope.corpora.archives import open_archive
from macroscope.corpora.lines import numbered_lines
from macroscope.errors import MacroscopeError

_LINES = (".jsonl", ".jsonl.gz")
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz")
_PICKLE = b"\x80"  # a pickle begins with this byte, and no text in UTF-8 does
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_SCRIPT = re.compile(r"showReview\([^()\n]*\)\s*;?")
_A_HOTEL = "a .json file is a hotel of LARA, an object with 'Reviews'; a file with a review a line is named .jsonl"
_A_LINE = "a line is an object with 'text' (a string), or a list of sentences"
_CONVERT = (
    "python -c 'import json, pickle, sys; [print(json.dumps(r)) for r in pickle.load(sys.stdin.buffer)]'"
    " < FILE > reviews.jsonl"
)


@dataclass(frozen=True)
class Review:
    """A review: its id, and its text, or its sentences where they are known."""

    id: str
    text: str | list[str]


def read_reviews(path: Path) -> Iterator[Review]:
    """Stream the reviews of a file or archive, a hotel or a line at a time.

    An id is that of the review, or where there is none the file's name and the number of the review or the line.

    Raises
    ------
    MacroscopeError
        Where a file is of another format, a Python pickle, broken or malformed; with the line where there is one.
    """
    name = path.name.lower()
    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file")
    if name.endswith(_LINES):
        return _of_lines(path)
    if name.endswith(".json"):
        return _of_hotel(path.read_bytes(), path.stem, str(path))
    if name.endswith((".zip", *_TARS)):
        return _of_archive(path)
    raise MacroscopeError(
        f"{path}: this format is not known; give hotels of LARA (.json, or a .tar.bz2, .tar.gz, .tar or .zip of them),"
        " or JSON Lines (.jsonl, .jsonl.gz)"
    )


def cleaned(content: str) -> str:
    """Take the traces of the web page off a review."""
    return _SCRIPT.sub(" ", _BREAK.sub("\n", content))


def _of_lines(path: Path) -> Iterator[Review]:
    with path.open("rb") as stream:
        _refuse_pickle(stream.read(1), str(path))
    stem = path.name.split(".")[0]
    for number, line in numbered_lines(path):
        if line.strip():
            where = f"{path}, line {number}"
            yield _of_line(_parsed(line, str(path), number, _A_LINE), f"{stem}-{number}", where)


def _of_line(record: Any, default_id: str, where: str) -> Review:
    if isinstance(record, list) and all(isinstance(sentence, str) for sentence in record):
        return Review(default_id, record)
    if isinstance(record, dict) and isinstance(record.get("text"), str):
        return Review(_identifier(record, "id", default_id, where), record["text"])
    raise MacroscopeError(f"{where}: neither a text nor a list of sentences; {_A_LINE}")


def _of_archive(path: Path) -> Iterator[Review]:
    found = False
    for name, data in (_zipped if path.suffix.lower() == ".zip" else _tarred)(path):
        found = True
        yield from _of_hotel(data, PurePosixPath(name).stem, f"{path}, {name}")
    if not found:
        raise MacroscopeError(f"{path}: no .json file in this archive; give TripAdvisorJson.tar.bz2 of LARA")


def _tarred(path: Path) -> Iterator[tuple[str, bytes]]:
    with open_archive(path) as archive:
        for member in archive:
            stream = archive.extractfile(member) if _is_json(member.name) else None
            if stream is not None:
                yield member.name, stream.read()


def _zipped(path: Path) -> Iterator[tuple[str, bytes]]:
    if not zipfile.is_zipfile(path):
        raise MacroscopeError(f"{path}: not a zip file, or a truncated one; download it again")
    with zipfile.ZipFile(path) as archive:
        for name in filter(_is_json, archive.namelist()):
            try:
                data = archive.read(name)
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                raise MacroscopeError(f"{path}, {name}: the data are broken ({error}); download it again") from None
            yield name, data


def _is_json(name: str) -> bool:
    """Whether a member of an archive is a .json file; macOS puts hidden ones beside the files."""
    return name.lower().endswith(".json") and not PurePosixPath(name).name.startswith(".")


def _of_hotel(data: bytes, stem: str, where: str) -> Iterator[Review]:
    _refuse_pickle(data, where)
    hotel = _parsed(_decoded(data, where), where, 1, _A_HOTEL)
    reviews = hotel.get("Reviews") if isinstance(hotel, dict) else None
    if not isinstance(reviews, list):
        raise MacroscopeError(f"{where}: no list 'Reviews' in it; {_A_HOTEL}")
    for number, record in enumerate(reviews, start=1):
        place = f"{where}, review {number}"
        content = record.get("Content") if isinstance(record, dict) else record
        if not isinstance(record, dict) or not isinstance(content, str | None):
            raise MacroscopeError(
                f"{place}: 'Content' is a {type(content).__name__}; a review of LARA is an object whose 'Content' is a"
                " string"
            )
        yield Review(_identifier(record, "ReviewID", f"{stem}-{number}", place), cleaned(content or ""))


def _identifier(record: dict[str, Any], key: str, default: str, where: str) -> str:
    value = record.get(key)
    if value is None or value == "":
        return default
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise MacroscopeError(f"{where}: '{key}' is a {type(value).__name__}; give a string or a whole number")
    return str(value)


def _refuse_pickle(start: bytes, where: str) -> None:
    if start.startswith(_PICKLE):
        raise MacroscopeError(
            f"{where}: a Python pickle, which is not opened, since that runs the code in it; where you trust the file,"
            f" convert it to JSON Lines, a review a line: {_CONVERT}"
        )


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{where}: not valid UTF-8 (byte {error.start + 1:,}); save the file as UTF-8") from None


def _parsed(text: str, where: str, line: int, advice: str) -> Any:
    """Value of a JSON text that begins on a line of a file."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line += error.lineno - 1
        raise MacroscopeError(
            f"{where}, line {line} is not valid JSON ({error.msg} at column {error.colno}); {advice}"
        ) from None
    except RecursionError:
        raise MacroscopeError(f"{where}, line {line} is not usable JSON (nested too deep); {advice}") from None

"""The shared part of the fuzzing tests of all readers: odd records, damage to bytes, and checks of the result."""

import json
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st

from macroscope.documents import Provenance, read_documents, write_documents
from macroscope.errors import MacroscopeError

FUZZ = settings(max_examples=60)

HALVES = st.sampled_from(["\ud800", "\udfff", "a\udc80b"])
ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=30) | HALVES
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3))

ODD_LINES = [
    b"",
    b"\xef\xbb\xbf",  # a byte order mark alone
    b"\xef\xbb\xbf{}",
    b"\xff\xfe{\x00}\x00",  # UTF-16
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"id": ' + b"9" * 5000 + b"}",
    b"-" + b"9" * 5000,
    b'{"a": 1, "a": 2}',
    b'{"text": "caf\xe9"}',
    b'{"text": "a\\ud800b", "id": "\\udfff"}',
    b"NaN",
    b'{"id": Infinity, "text": "x"}',
    b"null",
    b"\x00" * 100,
    b'"1","a\n',
    b"\x80\x04.",  # a pickle
    b"\x1f\x8b",  # gzip, cut
    b"BZh9",
    b"PK\x03\x04",
    b"PAR1",
]
"""Files that no reader's author thinks of."""


def is_one_sentence(message):
    assert message.strip()
    assert "\n" not in message
    assert len(message) < 5000
    message.encode(errors="backslashreplace")  # it can be printed


def ends_well(read, options, path):
    """Documents that survive the disk, or a sentence; the documents, where there are any."""
    provenance = Provenance("test")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.parquet"
        try:
            documents = list(read(options, path, provenance, 1))
            write_documents(out, documents, provenance)
        except MacroscopeError as error:
            is_one_sentence(str(error))
            return []
        assert list(read_documents(out)) == documents
        return documents


def damaged(data, content):
    """Bytes of which some were changed, left out or cut off, as Hypothesis chooses."""
    content = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        if not content:
            break
        place = data.draw(st.integers(0, len(content) - 1))
        how = data.draw(st.sampled_from(["change", "change", "cut", "leave out", "repeat"]))
        if how == "change":
            content[place] = data.draw(st.integers(0, 255))
        elif how == "cut":
            del content[place:]
        elif how == "leave out":
            del content[place : place + data.draw(st.integers(1, 8))]
        else:
            content[place:place] = content[place : place + data.draw(st.integers(1, 8))]
    return bytes(content)


def lines_of(records):
    return "\n".join(map(json.dumps, records)).encode()

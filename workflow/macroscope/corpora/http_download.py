"""One attempt at a file over HTTP, from where the last one ended.

A download grows in "<destination>.part"; what it is part of is noted in "<destination>.part.json", so that a file which
changed upstream starts anew.
"""

import hashlib
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as NothingArrived

from macroscope.files import read_json, write_json
from macroscope.progress import Progress

PIECE_BYTES = 1 << 18
CONNECT_SECONDS, SILENCE_SECONDS, ANSWER_SECONDS = 10.0, 30.0, 60.0
"""How long is waited for a connection, for another byte, and for an answer to begin, names and redirects included."""
SLOWEST = 1000
"""Bytes a second; a host that sends fewer for `SILENCE_SECONDS` counts as silent. A modem sends five times that."""
_PASSING_STATUS = {408, 425, 429, 500, 502, 503, 504}
# "identity": lengths and ranges are those of the file itself. Wikimedia turns away clients without a name.
HEADERS = {"Accept-Encoding": "identity", "User-Agent": "macroscope/0.1 (research on language models)"}


@dataclass(frozen=True)
class Download:
    """A finished download: its size in bytes, its checksum, when it changed upstream."""

    size: int
    sha256: str
    changed: str | None


class Missing(Exception):
    """A place does not have the file, or cannot be reached."""


class Broken(Exception):
    """The transfer broke off, or the host asks to come back later."""


class Silent(Broken):
    """Nothing, or next to nothing, arrived for as long as is waited."""


class Transfer:
    """One attempt at a file over HTTP, from where the last one ended."""

    def __init__(self, url: str, destination: Path, name: str) -> None:
        self.url, self.name = url, name
        self.part, self.note = part_of(destination), note_of_part(destination)

    def run(self) -> Download:
        """Download what is not here yet.

        Raises
        ------
        Broken
            Where another attempt may help.
        Missing
            Where none does.
        """
        start, validator = self._resumable()
        headers = HEADERS | ({"Range": f"bytes={start}-", "If-Range": validator} if start and validator else {})
        try:
            with answer(self.url, headers) as response:
                return self._receive(response, start)
        except (
            HTTPError,
            requests.exceptions.ConnectionError,
            requests.exceptions.ChunkedEncodingError,
            requests.exceptions.ContentDecodingError,
            requests.exceptions.Timeout,
        ) as error:
            raise _broken(error) from None
        except (requests.exceptions.RequestException, ValueError) as error:
            # Redirects in a circle or to what is no web address, an address that cannot be parsed: no retry helps.
            raise Missing(f"{self.url}: {reason_of(error)}") from None

    def _resumable(self) -> tuple[int, str | None]:
        """How much is here, and the validator of the version that it is part of."""
        if not self.part.exists() or not self.note.exists():
            return 0, None
        note = read_json(self.note)
        known = note if isinstance(note, dict) else {}
        if known.get("url") != self.url or not known.get("validator"):
            return 0, None
        return self.part.stat().st_size, known["validator"]

    def _receive(self, response: requests.Response, start: int) -> Download:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return self._nothing_left(response, start)
        if response.status_code in _PASSING_STATUS:
            raise Broken(f"HTTP status {response.status_code}")
        if not response.ok:
            raise Missing(f"{self.url}: HTTP status {response.status_code}")
        resumed = response.status_code == requests.codes.partial_content
        if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            self.part.unlink(missing_ok=True)
            raise Broken("it sent another range than it was asked for")
        start = start if resumed else 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length is not None else None
        write_json(self.note, {"url": self.url, "validator": _validator(response)})
        digest = digest_of(self.part) if resumed else hashlib.sha256()
        size = self._write(response, digest, start, total)
        if total is not None and size < total:
            raise Broken(f"{size:,} of {total:,} bytes arrived")
        return Download(size, digest.hexdigest(), response.headers.get("Last-Modified"))

    def _nothing_left(self, response: requests.Response, start: int) -> Download:
        """The part is all of the file, or does not fit it and goes."""
        if response.headers.get("Content-Range", "").endswith(f"*/{start}"):
            return Download(start, digest_of(self.part).hexdigest(), response.headers.get("Last-Modified"))
        self.part.unlink()
        raise Broken("the part that was here does not fit the file")

    def _write(self, response: requests.Response, digest: "hashlib._Hash", start: int, total: int | None) -> int:
        size = start
        with (
            self.part.open("ab" if start else "wb") as target,
            Progress(f"retrieve {self.name}", total, "B") as progress,
        ):
            progress.advance(start)
            for piece in pieces(response):
                digest.update(piece)
                size += target.write(piece)
                progress.advance(len(piece))
        return size


def answer(url: str, headers: Mapping[str, str]) -> requests.Response:
    """Ask a host for a file: its answer, of which the content is still to come (`pieces`).

    Raises
    ------
    Silent
        Where there is none in time: the library's own limits begin anew with every byte.
    """
    found: Future[requests.Response] = Future()

    def ask() -> None:
        try:
            limits = (CONNECT_SECONDS, SILENCE_SECONDS)
            found.set_result(requests.get(url, headers=dict(headers), stream=True, timeout=limits))
        except Exception as error:
            found.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return found.result(ANSWER_SECONDS)
    except TimeoutError:
        found.add_done_callback(_close)
        raise Silent(f"no answer within {ANSWER_SECONDS:g} s") from None


def _close(late: Future[requests.Response]) -> None:
    """An answer that nobody waits for any more."""
    if late.exception() is None:
        late.result().close()


def pieces(response: requests.Response) -> Iterator[bytes]:
    """Content of an answer, as it arrives.

    Raises
    ------
    Silent
        Where it arrives more slowly than `SLOWEST`.
    """
    since, arrived = time.monotonic(), 0
    while piece := response.raw.read1(PIECE_BYTES, decode_content=True):
        yield piece
        arrived += len(piece)
        passed = time.monotonic() - since
        if passed >= SILENCE_SECONDS:
            if arrived < SLOWEST * passed:
                raise Silent(f"{arrived:,} bytes arrived in {passed:.3g} s")
            since, arrived = time.monotonic(), 0


def _validator(response: requests.Response) -> str | None:
    """Strong ETag, or date of the last change: what If-Range may hold."""
    etag = response.headers.get("ETag")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")


def digest_of(path: Path) -> "hashlib._Hash":
    """Hash of a file, to which may be added."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256")


def part_of(destination: Path) -> Path:
    """Where a download grows."""
    return destination.with_name(destination.name + ".part")


def note_of_part(destination: Path) -> Path:
    """Where it is noted what a part is part of."""
    return destination.with_name(destination.name + ".part.json")


def _broken(error: Exception) -> Broken:
    """What a network error says of the host: that it is silent, or something else."""
    cause = _innermost(error)
    # A refused connection is among urllib3's errors of time, too.
    if not isinstance(cause, NothingArrived) or isinstance(cause, NewConnectionError):
        return Broken(reason_of(error))
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return Silent(f"no connection within {CONNECT_SECONDS:g} s")
    return Silent(f"nothing arrived for {SILENCE_SECONDS:g} s")


def reason_of(error: Exception) -> str:
    """Innermost cause of a network error, in a few words."""
    cause = _innermost(error)
    return str(cause).rsplit(": ", 1)[-1] or type(cause).__name__


def _innermost(error: Exception) -> Exception:
    cause: Any = error
    while True:
        inner = getattr(cause, "reason", None) or next((arg for arg in cause.args if isinstance(arg, Exception)), None)
        if not isinstance(inner, Exception):
            return cause
        cause = inner

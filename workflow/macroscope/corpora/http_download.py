"""Resumable download of a file over HTTP, one attempt at a time.

A download grows in "<destination>.part". "<destination>.part.json" records its URL and version, so that the download of
a file that changed upstream starts anew.
"""

import hashlib
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import requests
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as NothingArrived

from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json
from macroscope.progress import Progress

PIECE_BYTES = 1 << 18
CONNECT_SECONDS, SILENCE_SECONDS, ANSWER_SECONDS = 10.0, 30.0, 60.0
"""Time limits for a connection, for the next byte, and for the start of an answer (names and redirects included)."""
SLOWEST = 1000
"""Bytes per second; a host that sends fewer for `SILENCE_SECONDS` counts as silent. A modem sends five times that."""
_PASSING_STATUS = {408, 425, 429, 500, 502, 503, 504}
# "identity": lengths and ranges refer to the file itself. Wikimedia rejects clients without a name.
HEADERS = {"Accept-Encoding": "identity", "User-Agent": "macroscope/0.1 (research on language models)"}


@dataclass(frozen=True)
class Download:
    """A finished download.

    Attributes
    ----------
    size, sha256
        Bytes and checksum.
    changed
        Date of the last change upstream, if the host told it.
    is_whole
        Whether the end of the file was marked, by its length or by the transfer.
    """

    size: int
    sha256: str
    changed: str | None
    is_whole: bool = True


class Missing(Exception):
    """Failure that another attempt does not cure: the address lacks the file, or cannot be reached."""


class Broken(Exception):
    """Failure that another attempt may cure: the transfer broke off, or the host is busy."""


class Silent(Broken):
    """Failure of a host that sent (almost) nothing within the time limits."""


class Transfer:
    """One attempt to download a file over HTTP, which continues the attempt before it."""

    def __init__(self, url: str, destination: Path, name: str) -> None:
        self.url, self.name = url, name
        self.part, self.note = part_path(destination), part_note_path(destination)

    def run(self) -> Download:
        """Download the missing rest of the file.

        Raises
        ------
        Broken
            If another attempt may help.
        Missing
            If no further attempt can help.
        """
        start, validator = self._resumable()
        headers = HEADERS | ({"Range": f"bytes={start}-", "If-Range": validator} if start and validator else {})
        try:
            with request_file(self.url, headers) as response:
                return self._receive(response, start)
        except (
            HTTPError,
            requests.exceptions.ConnectionError,
            requests.exceptions.ChunkedEncodingError,
            requests.exceptions.ContentDecodingError,
            requests.exceptions.Timeout,
        ) as error:
            raise _classify(error) from None
        except (requests.exceptions.RequestException, ValueError) as error:
            # Circular redirects, redirects to something else than a web address, malformed addresses: no retry helps.
            raise Missing(f"{self.url}: {describe_error(error)}") from None

    def _resumable(self) -> tuple[int, str | None]:
        """Return the number of bytes that are here, and the validator of their version."""
        if not self.part.exists() or not self.note.exists():
            return 0, None
        try:
            note = read_json(self.note)
        except MacroscopeError:  # cut by a full disk or a kill: the download starts anew
            return 0, None
        note = note if isinstance(note, dict) else {}
        if note.get("url") != self.url or not isinstance(note.get("validator"), str):
            return 0, None
        return self.part.stat().st_size, note["validator"]

    def _receive(self, response: requests.Response, start: int) -> Download:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return self._finish_at(response, start)
        if response.status_code in _PASSING_STATUS:
            raise Broken(f"HTTP status {response.status_code}")
        if not response.ok:
            raise Missing(f"{self.url}: HTTP status {response.status_code}")
        resumed = response.status_code == requests.codes.partial_content
        if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            self.part.unlink(missing_ok=True)
            raise Broken("the host sent another range than the requested one")
        start = start if resumed else 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length is not None else None
        write_json(self.note, {"url": self.url, "validator": _validator(response)})
        digest = hash_file(self.part) if resumed else hashlib.sha256()
        size = self._write(response, digest, start, total)
        if total is not None and size < total:
            raise Broken(f"{size:,} of {total:,} bytes arrived")
        is_chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
        changed = response.headers.get("Last-Modified")
        return Download(size, digest.hexdigest(), changed, is_whole=total is not None or is_chunked)

    def _finish_at(self, response: requests.Response, start: int) -> Download:
        """Accept the part as the whole file if their sizes agree; delete it otherwise."""
        if response.headers.get("Content-Range", "").endswith(f"*/{start}"):
            return Download(start, hash_file(self.part).hexdigest(), response.headers.get("Last-Modified"))
        self.part.unlink()
        raise Broken("the downloaded part does not fit the file")

    def _write(self, response: requests.Response, digest: "hashlib._Hash", start: int, total: int | None) -> int:
        size = start
        with (
            self.part.open("ab" if start else "wb") as target,
            Progress(f"retrieve {self.name}", total, "B") as progress,
        ):
            progress.advance(start)
            for piece in stream_content(response):
                digest.update(piece)
                size += target.write(piece)
                progress.advance(len(piece))
        return size


def request_file(url: str, headers: Mapping[str, str]) -> requests.Response:
    """Request a file from a host; `stream_content` reads the content of the answer."""
    answer: Future[requests.Response] = Future()

    def send() -> None:
        try:
            limits = (CONNECT_SECONDS, SILENCE_SECONDS)
            answer.set_result(requests.get(url, headers=dict(headers), stream=True, timeout=limits))
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=send, daemon=True).start()
    try:
        return answer.result(ANSWER_SECONDS)
    except TimeoutError:
        answer.add_done_callback(_close)
        raise Silent(f"no answer within {ANSWER_SECONDS:g} s") from None


def _close(late: Future[requests.Response]) -> None:
    if late.exception() is None:
        late.result().close()


def stream_content(response: requests.Response) -> Iterator[bytes]:
    """Stream the content of an answer as it arrives."""
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
    """Return the value for If-Range: the strong ETag, or the date of the last change."""
    etag = response.headers.get("ETag")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")


def copy_stream(stream: IO[bytes], destination: Path) -> Download:
    """Copy a stream to the part of a destination."""
    digest, size = hashlib.sha256(), 0
    with part_path(destination).open("wb") as target:
        while piece := stream.read(PIECE_BYTES):
            digest.update(piece)
            size += target.write(piece)
    return Download(size, digest.hexdigest(), None)


def hash_file(path: Path) -> "hashlib._Hash":
    """Hash a file; the hash object can be updated further."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256")


def part_path(destination: Path) -> Path:
    return destination.with_name(destination.name + ".part")


def part_note_path(destination: Path) -> Path:
    return destination.with_name(destination.name + ".part.json")


def _classify(error: Exception) -> Broken:
    """Classify a network error: a silent host, or another failure."""
    cause = _innermost(error)
    # urllib3 counts a refused connection among its timeouts, too.
    if not isinstance(cause, NothingArrived) or isinstance(cause, NewConnectionError):
        return Broken(describe_error(error))
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return Silent(f"no connection within {CONNECT_SECONDS:g} s")
    return Silent(f"nothing arrived for {SILENCE_SECONDS:g} s")


def describe_error(error: Exception) -> str:
    """Return the innermost cause of a network error, in a few words."""
    cause = _innermost(error)
    return str(cause).rsplit(": ", 1)[-1] or type(cause).__name__


def _innermost(error: Exception) -> Exception:
    cause: Any = error
    while True:
        inner = getattr(cause, "reason", None) or next((arg for arg in cause.args if isinstance(arg, Exception)), None)
        if not isinstance(inner, Exception):
            return cause
        cause = inner

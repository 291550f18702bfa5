"""Retrieval of raw files: registry, mirrors, resumed downloads, retries, checksums (design, section 9).

The registry is resources/sources.yaml. A download grows in "<destination>.part", which a broken run leaves to the
next; what it is part of is noted in "<destination>.part.json", so that a file which changed upstream starts anew. What
is known about a finished file stands in "<destination>.json".
"""

import hashlib
import logging
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import requests
import yaml
from tenacity import Retrying, before_sleep_log, retry_if_exception_type, stop_after_attempt, wait_exponential

from macroscope.corpora.integrity import fault_of, has_checksum, published_checksum
from macroscope.corpora.origin import note_of
from macroscope.errors import MacroscopeError, nearest
from macroscope.files import read_json, write_json
from macroscope.paths import RESOURCES
from macroscope.progress import Progress

log = logging.getLogger("macroscope")

_PIECE_BYTES = 1 << 18
_TIMEOUT_SECONDS = (20.0, 60.0)  # to connect, between two pieces
_ATTEMPTS = 6
_FIRST_WAIT_SECONDS = 1.0
_PASSING_STATUS = {408, 425, 429, 500, 502, 503, 504}
# "identity": lengths and ranges are those of the file itself. Wikimedia turns away clients without a name.
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "macroscope/0.1 (research on language models)"}


@dataclass(frozen=True)
class RemoteFile:
    """A file of a source, as the registry has it.

    Attributes
    ----------
    name
        File name.
    urls
        Where it is, first choice first.
    sha256, size
        Checksum (hexadecimal) and size in bytes; None for a file that changes upstream.
    sums
        Where upstream publishes checksums of what it has now; None where it does not.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None
    size: int | None = None
    sums: str | None = None


@dataclass(frozen=True)
class RemoteSource:
    """A source of the registry.

    Attributes
    ----------
    source
        Which source of the corpora room reads its files.
    gone
        Why it can no longer be had upstream, and what stands in for it; None where it can.
    """

    name: str
    version: str
    source: str
    licence: str
    citation: str
    files: tuple[RemoteFile, ...]
    gone: str | None = None


def remote_source(name: str) -> RemoteSource:
    """Look a source up in the registry.

    Raises
    ------
    MacroscopeError
        Where there is none of this name.
    """
    registry = _registry()
    if name not in registry:
        raise MacroscopeError(f"{name!r} is no source of resources/sources.yaml{nearest(name, registry)}")
    return registry[name]


@cache
def _registry() -> dict[str, RemoteSource]:
    raw = yaml.safe_load((RESOURCES / "sources.yaml").read_text(encoding="utf-8"))
    return {name: _remote_source(name, entry) for name, entry in raw.items()}


def _remote_source(name: str, entry: dict[str, Any]) -> RemoteSource:
    files = tuple(
        RemoteFile(
            file["name"],
            (file["url"], *file.get("mirrors", ())),
            file.get("sha256"),
            file.get("size"),
            file.get("sums"),
        )
        for file in entry["files"]
    )
    return RemoteSource(
        name, str(entry["version"]), entry["source"], entry["licence"], entry["citation"], files, entry.get("gone")
    )


def remote_file(name: str, file: str) -> RemoteFile:
    """Look a file of a source up in the registry."""
    files = {entry.name: entry for entry in remote_source(name).files}
    if file not in files:
        raise MacroscopeError(f"source {name!r} has no file {file!r}{nearest(file, files)}")
    return files[file]


def retrieve(name: str, file: str, destination: Path, mirror: str | None = None) -> None:
    """Download a file of a source and verify it.

    Parameters
    ----------
    name, file
        As in resources/sources.yaml.
    destination
        Where to write it. Beside it, "<destination>.json" says where it came from, its size and sha256, and when
        it last changed upstream.
    mirror
        An http(s) or file URL, or a folder, in place of scheme and host of the registry's URL: the file is looked
        for under the URL's whole path, then under its bare name.

    Raises
    ------
    MacroscopeError
        Where the source is gone upstream, no place has the file, no host can be reached, or the checksum is wrong.
    """
    remote, source = remote_file(name, file), remote_source(name)
    if mirror is None and source.gone:
        raise MacroscopeError(f"source '{name}': {source.gone}")
    places = _mirrored(remote.urls[0], mirror) if mirror is not None else list(remote.urls)
    destination.parent.mkdir(parents=True, exist_ok=True)
    origin = {"retrieved_as": name, "version": source.version, "licence": source.licence, "citation": source.citation}
    failures: list[str] = []
    for place in places:
        try:
            download = _download(place, destination, remote)
        except _Missing as error:
            failures.append(str(error))
            continue
        _verify(remote, download, destination, mirror)
        os.replace(_part(destination), destination)
        _note(destination).unlink(missing_ok=True)
        known = {"url": place, "size": download.size, "sha256": download.sha256, "changed": download.changed}
        write_json(note_of(destination), origin | known)
        return
    advice = "check the mirror" if mirror is not None else "set 'mirror:' in the config to an address that has it"
    raise MacroscopeError(f"{file} cannot be retrieved: {'; '.join(failures)}; {advice}")


@dataclass(frozen=True)
class _Download:
    """A finished download: its size in bytes, its checksum, when it changed upstream."""

    size: int
    sha256: str
    changed: str | None


class _Missing(Exception):
    """A place does not have the file, or cannot be reached."""


class _Broken(Exception):
    """The transfer broke off, or the host asks to come back later."""


def _mirrored(url: str, mirror: str) -> list[str]:
    """Where a mirror may have what is at a URL."""
    base = mirror.rstrip("/")
    try:
        scheme = urlsplit(mirror).scheme
    except ValueError as error:
        raise MacroscopeError(f"mirror: {mirror!r} is no address ({error}); give a folder, or an http(s) URL") from None
    if scheme not in ("http", "https", "file"):
        base = Path(mirror).resolve().as_uri()
    path = urlsplit(url).path
    return list(dict.fromkeys([base + path, f"{base}/{path.rpartition('/')[2]}"]))


def _download(place: str, destination: Path, remote: RemoteFile) -> _Download:
    if urlsplit(place).scheme == "file":
        return _copy(Path(url2pathname(unquote(urlsplit(place).path))), destination)
    host = urlsplit(place).hostname
    try:
        for attempt in Retrying(
            retry=retry_if_exception_type(_Broken),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_exponential(multiplier=_FIRST_WAIT_SECONDS, max=60),
            before_sleep=before_sleep_log(log, logging.INFO),
            reraise=True,
        ):
            with attempt:
                return _Transfer(place, destination, remote).run()
    except _Broken as error:
        raise _Missing(f"{host} could not be reached, or broke off, {_ATTEMPTS} times ({error})") from None
    raise AssertionError("unreachable: the last attempt returns or raises")


def _copy(path: Path, destination: Path) -> _Download:
    if not path.is_file():
        raise _Missing(f"no file {path}")
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as source, _part(destination).open("wb") as target:
        while piece := source.read(_PIECE_BYTES):
            digest.update(piece)
            size += target.write(piece)
    return _Download(size, digest.hexdigest(), None)


class _Transfer:
    """One attempt at a file over HTTP, from where the last one ended."""

    def __init__(self, url: str, destination: Path, remote: RemoteFile) -> None:
        self.url, self.remote = url, remote
        self.part, self.note = _part(destination), _note(destination)

    def run(self) -> _Download:
        start, validator = self._resumable()
        headers = _HEADERS | ({"Range": f"bytes={start}-", "If-Range": validator} if start and validator else {})
        try:
            with requests.get(self.url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as response:
                return self._receive(response, start)
        except (
            requests.exceptions.ConnectionError,
            requests.exceptions.ChunkedEncodingError,
            requests.exceptions.ContentDecodingError,
            requests.exceptions.Timeout,
        ) as error:
            raise _Broken(_reason(error)) from None
        except (requests.exceptions.RequestException, ValueError) as error:
            # Redirects in a circle or to what is no web address, an address that cannot be parsed: no retry helps.
            raise _Missing(f"{self.url}: {_reason(error)}") from None

    def _resumable(self) -> tuple[int, str | None]:
        """How much is here, and the validator of the version that it is part of."""
        if not self.part.exists() or not self.note.exists():
            return 0, None
        note = read_json(self.note)
        known = note if isinstance(note, dict) else {}
        if known.get("url") != self.url or not known.get("validator"):
            return 0, None
        return self.part.stat().st_size, known["validator"]

    def _receive(self, response: requests.Response, start: int) -> _Download:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return self._nothing_left(response, start)
        if response.status_code in _PASSING_STATUS:
            raise _Broken(f"HTTP status {response.status_code}")
        if not response.ok:
            raise _Missing(f"{self.url}: HTTP status {response.status_code}")
        resumed = response.status_code == requests.codes.partial_content
        if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            self.part.unlink(missing_ok=True)
            raise _Broken("it sent another range than it was asked for")
        start = start if resumed else 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length is not None else None
        write_json(self.note, {"url": self.url, "validator": _validator(response)})
        digest = _digest_of(self.part) if resumed else hashlib.sha256()
        size = self._write(response, digest, start, total)
        if total is not None and size < total:
            raise _Broken(f"{size:,} of {total:,} bytes arrived")
        return _Download(size, digest.hexdigest(), response.headers.get("Last-Modified"))

    def _nothing_left(self, response: requests.Response, start: int) -> _Download:
        """The part is all of the file, or does not fit it and goes."""
        if response.headers.get("Content-Range", "").endswith(f"*/{start}"):
            return _Download(start, _digest_of(self.part).hexdigest(), response.headers.get("Last-Modified"))
        self.part.unlink()
        raise _Broken("the part that was here does not fit the file")

    def _write(self, response: requests.Response, digest: "hashlib._Hash", start: int, total: int | None) -> int:
        size = start
        with (
            self.part.open("ab" if start else "wb") as target,
            Progress(f"retrieve {self.remote.name}", total, "B") as progress,
        ):
            progress.advance(start)
            for piece in response.iter_content(_PIECE_BYTES):
                digest.update(piece)
                size += target.write(piece)
                progress.advance(len(piece))
        return size


def _validator(response: requests.Response) -> str | None:
    """Strong ETag, or date of the last change: what If-Range may hold."""
    etag = response.headers.get("ETag")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")


def _digest_of(path: Path) -> "hashlib._Hash":
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256")


def _verify(remote: RemoteFile, download: _Download, destination: Path, mirror: str | None) -> None:
    """Check what is known of a file: size, checksum, what upstream publishes, what its name says."""
    part, wrong = _part(destination), None
    if remote.size is not None and download.size != remote.size:
        wrong = f"its size is {download.size:,} bytes, not {remote.size:,}"
    elif remote.sha256 is not None and download.sha256 != remote.sha256:
        wrong = f"its sha256 is {download.sha256}, not {remote.sha256}"
    elif remote.sha256 is None and (fault := fault_of(part, remote.name)) is not None:
        wrong = fault
    elif remote.sha256 is None:
        published = _published_checksum(remote, mirror)
        if published is None:
            log.info("%s: upstream gives no checksum that lasts: unverified; sha256 %s", remote.name, download.sha256)
        elif not has_checksum(part, published):
            wrong = f"its checksum is not the published one, {published}"
    if wrong:
        part.unlink()
        _note(destination).unlink(missing_ok=True)
        raise MacroscopeError(f"{remote.name}: {wrong}; the download was deleted: retrieve it again, or from a mirror")


def _published_checksum(remote: RemoteFile, mirror: str | None) -> str | None:
    """Checksum that upstream, or the mirror, publishes beside a file; None where it cannot be had."""
    if remote.sums is None:
        return None
    for place in _mirrored(remote.sums, mirror) if mirror is not None else [remote.sums]:
        found = published_checksum(_text_at(place), remote.name)
        if found is not None:
            return found
    return None


def _text_at(place: str) -> str:
    """A short text at a URL; "" where there is none."""
    if urlsplit(place).scheme == "file":
        path = Path(url2pathname(unquote(urlsplit(place).path)))
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    try:
        response = requests.get(place, headers=_HEADERS, timeout=_TIMEOUT_SECONDS)
    except requests.exceptions.RequestException as error:
        log.info("%s: %s", place, _reason(error))
        return ""
    return response.text if response.ok else ""


def _part(destination: Path) -> Path:
    return destination.with_name(destination.name + ".part")


def _note(destination: Path) -> Path:
    return destination.with_name(destination.name + ".part.json")


def _reason(error: Exception) -> str:
    """Innermost cause of a network error, in a few words."""
    cause: Any = error
    while True:
        inner = getattr(cause, "reason", None) or next((arg for arg in cause.args if isinstance(arg, Exception)), None)
        if not isinstance(inner, Exception):
            break
        cause = inner
    return str(cause).rsplit(": ", 1)[-1] or type(cause).__name__

"""Retrieval of raw files: registry, mirrors, retries, checksums (design, section 9).

The registry is resources/sources.yaml. A broken run leaves its part of a file to the next (`corpora/http_download.py`).
What is known about a finished file stands in "<destination>.json".
"""

import hashlib
import logging
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
import yaml
from tenacity import (
    RetryCallState,
    Retrying,
    before_sleep_log,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
)
from tenacity.stop import stop_base
from urllib3.exceptions import HTTPError

from macroscope.corpora.checksums import fault_of, has_checksum, published_checksum
from macroscope.corpora.http_download import (
    HEADERS,
    PIECE_BYTES,
    Broken,
    Download,
    Missing,
    Silent,
    Transfer,
    answer,
    note_of_part,
    part_of,
    pieces,
    reason_of,
)
from macroscope.corpora.provenance import RETRIEVED_AS, note_of
from macroscope.errors import MacroscopeError, nearest
from macroscope.files import RESOURCES, write_json

log = logging.getLogger("macroscope")

_ATTEMPTS = 6
# A host that says that it is busy will mostly have the file later; one that says nothing will mostly go on so.
_SILENT_ATTEMPTS = 3
_FIRST_WAIT_SECONDS = 1.0


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


def remote_sources() -> list[str]:
    """Names of all sources of the registry."""
    return list(_registry())


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
    origin = {RETRIEVED_AS: name, "version": source.version, "licence": source.licence, "citation": source.citation}
    failures: list[str] = []
    unreachable: set[str | None] = set()
    for place in places:
        if urlsplit(place).netloc in unreachable:
            continue
        try:
            download = _download(place, destination, remote)
        except Missing as error:
            if isinstance(error, _Unreachable):
                unreachable.add(urlsplit(place).netloc)
            failures.append(str(error))
            continue
        _verify(remote, download, destination, mirror)
        os.replace(part_of(destination), destination)
        note_of_part(destination).unlink(missing_ok=True)
        known = {"url": place, "size": download.size, "sha256": download.sha256, "changed": download.changed}
        write_json(note_of(destination), origin | known)
        return
    advice = "check the mirror" if mirror is not None else "set 'mirror:' in the config to an address that has it"
    raise MacroscopeError(f"{file} cannot be retrieved: {'; '.join(failures)}; {advice}")


class _Unreachable(Missing):
    """No place of this host can be reached."""


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


def _download(place: str, destination: Path, remote: RemoteFile) -> Download:
    if urlsplit(place).scheme == "file":
        return _copy(_path_of(place), destination)
    host, silences = urlsplit(place).hostname, _StopAtSilence()
    try:
        for attempt in Retrying(
            retry=retry_if_exception_type(Broken),
            stop=silences | stop_after_attempt(_ATTEMPTS),
            wait=wait_exponential(multiplier=_FIRST_WAIT_SECONDS, max=60),
            before_sleep=before_sleep_log(log, logging.INFO),
            reraise=True,
        ):
            with attempt:
                return Transfer(place, destination, remote.name).run()
    except Silent as error:
        raise _Unreachable(f"{host} was silent or too slow, {silences.found} times ({error})") from None
    except Broken as error:
        raise _Unreachable(f"{host} could not be reached, or broke off, {_ATTEMPTS} times ({error})") from None
    raise AssertionError("unreachable: the last attempt returns or raises")


class _StopAtSilence(stop_base):
    """Stop where a host was silent too often; what it does otherwise counts as another try alone."""

    def __init__(self) -> None:
        self.found = 0

    def __call__(self, state: RetryCallState) -> bool:
        self.found += state.outcome is not None and isinstance(state.outcome.exception(), Silent)
        return self.found >= _SILENT_ATTEMPTS


def _path_of(place: str) -> Path:
    """Path of a file URL."""
    return Path(url2pathname(urlsplit(place).path))


def _copy(path: Path, destination: Path) -> Download:
    if not path.is_file():
        raise Missing(f"no file {path}")
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as source, part_of(destination).open("wb") as target:
        while piece := source.read(PIECE_BYTES):
            digest.update(piece)
            size += target.write(piece)
    return Download(size, digest.hexdigest(), None)


def _verify(remote: RemoteFile, download: Download, destination: Path, mirror: str | None) -> None:
    """Check what is known of a file: size, checksum, what upstream publishes, what its name says."""
    part, wrong = part_of(destination), None
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
        note_of_part(destination).unlink(missing_ok=True)
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
        path = _path_of(place)
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    try:
        with answer(place, HEADERS) as response:
            return b"".join(pieces(response)).decode("utf-8", "replace") if response.ok else ""
    except (Silent, HTTPError, requests.exceptions.RequestException) as error:
        log.info("%s: %s", place, reason_of(error))
        return ""

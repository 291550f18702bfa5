"""Retrieval of raw files: registry, mirrors, retries, checksums.

The registry is resources/sources.yaml. An interrupted run keeps its part of a file, and the next run continues it
(`corpora/http_download.py`). "<destination>.json" describes a finished file.
"""

import logging
import os
from dataclasses import dataclass, replace
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

from macroscope.corpora.checksums import add_checksum, find_fault, find_published_checksum, has_checksum, read_checksums
from macroscope.corpora.http_download import (
    HEADERS,
    Broken,
    Download,
    Missing,
    Silent,
    Transfer,
    copy_stream,
    describe_error,
    part_note_path,
    part_path,
    request_file,
    stream_content,
)
from macroscope.corpora.package_index import SCHEME, PackagedFile, retrieve_packaged_file
from macroscope.corpora.provenance import RETRIEVED_AS, note_path
from macroscope.errors import MacroscopeError, nearest
from macroscope.files import RESOURCES, write_json

log = logging.getLogger("macroscope")

_ATTEMPTS = 6
# A host that answers that it is busy mostly serves the file later; a silent host mostly stays silent.
_SILENT_ATTEMPTS = 3
_FIRST_WAIT_SECONDS = 1.0
_CHANGING_VERSIONS = ("latest", "main")
"""Versions whose files upstream replaces by newer ones of the same name."""


@dataclass(frozen=True)
class RemoteFile:
    """Registry entry of a file of a source.

    Attributes
    ----------
    name
        File name.
    urls
        Addresses of the file, first choice first.
    sha256, size
        Checksum (hexadecimal) and size in bytes; None for a file that changes upstream.
    sums
        Address of the checksums that upstream publishes for its current files; None if there is none.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None
    size: int | None = None
    sums: str | None = None


@dataclass(frozen=True)
class RemoteSource:
    """Registry entry of a source.

    Attributes
    ----------
    source
        Name of the source of the corpora room that reads its files; None for a resource that is not a corpus.
    gone
        Reason why upstream no longer offers it, with its substitutes; None if upstream offers it.
    substitute
        What to use instead if no address answers; None if there is nothing.
    """

    name: str
    version: str
    source: str | None
    licence: str
    citation: str
    files: tuple[RemoteFile, ...]
    gone: str | None = None
    substitute: str | None = None

    @property
    def changes(self) -> bool:
        """Return whether upstream replaces the files by newer ones."""
        return self.version in _CHANGING_VERSIONS


def find_remote_source(name: str) -> RemoteSource:
    """Look up a source in the registry.

    Raises
    ------
    MacroscopeError
        If the registry has no source of this name.
    """
    registry = _registry()
    if name not in registry:
        raise MacroscopeError(f"{name!r} is not a source of resources/sources.yaml{nearest(name, registry)}")
    return registry[name]


def list_remote_sources() -> list[str]:
    """List the names of all sources of the registry."""
    return list(_registry())


@cache
def _registry() -> dict[str, RemoteSource]:
    raw = yaml.safe_load((RESOURCES / "sources.yaml").read_text(encoding="utf-8"))
    return {name: _remote_source(name, entry) for name, entry in raw.items()}


def _remote_source(name: str, entry: dict[str, Any]) -> RemoteSource:
    files = tuple(
        RemoteFile(
            file["name"],
            (_address(file), *file.get("mirrors", ())),
            file.get("sha256"),
            file.get("size"),
            file.get("sums"),
        )
        for file in entry["files"]
    )
    return RemoteSource(
        *(name, str(entry["version"]), entry["source"], entry["licence"], entry["citation"], files),
        gone=entry.get("gone"),
        substitute=entry.get("substitute"),
    )


def _address(file: dict[str, Any]) -> str:
    """Return the first address of a file: its URL, or its place in a package of the package index."""
    if "url" in file:
        return file["url"]
    if "member" in file:
        return PackagedFile(file["pypi"], file["member"], file.get("tag", "")).url
    return PackagedFile(file["pypi"], file["name"], f"sha256={file['sha256']}").url


def find_remote_file(name: str, file: str) -> RemoteFile:
    """Look up a file of a source in the registry."""
    files = {entry.name: entry for entry in find_remote_source(name).files}
    if file not in files:
        raise MacroscopeError(f"source {name!r} has no file {file!r}{nearest(file, files)}")
    return files[file]


def retrieve(name: str, file: str, destination: Path, mirror: str | None = None, checksums: Path | None = None) -> None:
    """Download a file of a source and verify it.

    Parameters
    ----------
    name, file
        Names of the source and of its file in resources/sources.yaml.
    destination
        Path to write. Beside it, "<destination>.json" records the URL, size, sha256 and the date of the last change
        upstream.
    mirror
        An http(s) or file URL, or a folder, that replaces scheme and host of the registry's URL. The file is looked up
        under the URL's whole path, then under its bare name, then upstream.
    checksums
        File that learns the sha256 of a file which never changes and has none in the registry. If it has one already,
        the download must have the same.

    Raises
    ------
    MacroscopeError
        If the source is gone upstream, no address has the file, no host can be reached, or the checksum is wrong.
    """
    remote, source = find_remote_file(name, file), find_remote_source(name)
    key = f"data/{name}/{source.version}/{file}"
    learns = checksums is not None and remote.sha256 is None and not source.changes
    learned = read_checksums(checksums).get(key) if checksums is not None and learns else None
    remote = replace(remote, sha256=remote.sha256 or learned)
    if mirror is None and source.gone:
        raise MacroscopeError(f"source '{name}': {source.gone}")
    mirrored = _mirrored(remote.urls[0], mirror) if mirror is not None else []
    places = [*mirrored, *(() if source.gone else remote.urls)]
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
        _verify(remote, download, destination, mirror if place in mirrored else None, checksums if learned else None)
        if checksums is not None and learns and learned is None:
            add_checksum(checksums, key, download.sha256)
        os.replace(part_path(destination), destination)
        part_note_path(destination).unlink(missing_ok=True)
        details = {"url": place, "size": download.size, "sha256": download.sha256, "changed": download.changed}
        write_json(note_path(destination), origin | details)
        return
    advice = "check the mirror" if mirror is not None else "set 'mirror:' in the config to an address that has it"
    if source.substitute:
        advice += f", or use {source.substitute}"
    raise MacroscopeError(f"{file} cannot be retrieved: {'; '.join(failures)}; {advice}")


class _Unreachable(Missing):
    """Failure to reach a host: its other addresses are skipped."""


def _mirrored(url: str, mirror: str) -> list[str]:
    """Return the addresses under which a mirror may have the file at a URL."""
    base = mirror.rstrip("/")
    try:
        scheme = urlsplit(mirror).scheme
    except ValueError as error:
        raise MacroscopeError(
            f"mirror: {mirror!r} is not an address ({error}); give a folder, or an http(s) URL"
        ) from None
    if scheme not in ("http", "https", "file"):
        base = Path(mirror).resolve().as_uri()
    path = urlsplit(url).path
    return list(dict.fromkeys([base + path, f"{base}/{path.rpartition('/')[2]}"]))


def _download(place: str, destination: Path, remote: RemoteFile) -> Download:
    if urlsplit(place).scheme == "file":
        return _copy(_path_of(place), destination)
    if urlsplit(place).scheme == SCHEME:
        return retrieve_packaged_file(place, destination)
    host, silence = urlsplit(place).hostname, _StopAtSilence()
    try:
        for attempt in Retrying(
            retry=retry_if_exception_type(Broken),
            stop=silence | stop_after_attempt(_ATTEMPTS),
            wait=wait_exponential(multiplier=_FIRST_WAIT_SECONDS, max=60),
            before_sleep=before_sleep_log(log, logging.INFO),
            reraise=True,
        ):
            with attempt:
                return Transfer(place, destination, remote.name).run()
    except Silent as error:
        raise _Unreachable(f"{host} was silent or too slow, {silence.silences} times ({error})") from None
    except Broken as error:
        raise _Unreachable(f"{host} could not be reached, or broke off, {_ATTEMPTS} times ({error})") from None
    raise AssertionError("unreachable: the last attempt returns or raises")


class _StopAtSilence(stop_base):
    """Stop condition for silent hosts; other failures count only as attempts."""

    def __init__(self) -> None:
        self.silences = 0

    def __call__(self, state: RetryCallState) -> bool:
        self.silences += state.outcome is not None and isinstance(state.outcome.exception(), Silent)
        return self.silences >= _SILENT_ATTEMPTS


def _path_of(place: str) -> Path:
    return Path(url2pathname(urlsplit(place).path))


def _copy(path: Path, destination: Path) -> Download:
    if not path.is_file():
        raise Missing(f"no file {path}")
    with path.open("rb") as stream:
        return copy_stream(stream, destination)


def _verify(
    remote: RemoteFile, download: Download, destination: Path, mirror: str | None, learned_from: Path | None
) -> None:
    """Check a downloaded file: its size, its checksum, the published checksum, and the format of its name."""
    part, wrong = part_path(destination), None
    if remote.size is not None and download.size != remote.size:
        wrong = f"its size is {download.size:,} bytes, not {remote.size:,}"
    elif remote.sha256 is not None and download.sha256 != remote.sha256:
        wrong = f"its sha256 is {download.sha256}, not {remote.sha256}"
        if learned_from is not None:
            wrong += f" as at its first retrieval (remove its line from {learned_from} if upstream has corrected it)"
    elif remote.sha256 is None and (fault := find_fault(part, remote.name)) is not None:
        wrong = fault
    elif remote.sha256 is None:
        published = _published_checksum(remote, mirror)
        if published is None and remote.size is None and not download.is_whole:
            wrong = "its host told neither its length nor a checksum, so it may be cut"
        elif published is None:
            log.info(
                "%s: upstream has no lasting checksum, so the file is unverified; sha256 %s",
                remote.name,
                download.sha256,
            )
        elif not has_checksum(part, published):
            wrong = f"its checksum is not the published one, {published}"
    if wrong:
        part.unlink()
        part_note_path(destination).unlink(missing_ok=True)
        raise MacroscopeError(f"{remote.name}: {wrong}; the download was deleted: retrieve it again, or from a mirror")


def _published_checksum(remote: RemoteFile, mirror: str | None) -> str | None:
    """Return the checksum that upstream, or the mirror, publishes beside a file; None if there is none."""
    if remote.sums is None:
        return None
    for place in _mirrored(remote.sums, mirror) if mirror is not None else [remote.sums]:
        checksum = find_published_checksum(_read_text(place), remote.name)
        if checksum is not None:
            return checksum
    return None


def _read_text(place: str) -> str:
    """Read a short text at a URL; "" if it cannot be read."""
    if urlsplit(place).scheme == "file":
        path = _path_of(place)
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    try:
        with request_file(place, HEADERS) as response:
            return b"".join(stream_content(response)).decode("utf-8", "replace") if response.ok else ""
    except (Silent, HTTPError, requests.exceptions.RequestException) as error:
        log.info("%s: %s", place, describe_error(error))
        return ""

"""A small stand-in for the Hugging Face hub: data sets of local folders, in the hub's own protocol."""

import http.server
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .local_server import serve_requests

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_API = re.compile(
    r"/api/datasets/(?P<name>[^/]+/[^/]+)/(?P<what>revision|tree|paths-info)/(?P<revision>[^/]+)/?(?P<path>.*)"
)
_FILE = re.compile(r"/datasets/(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")


class Hub:
    """The data sets of a folder, `owner/name` each, at one commit.

    Attributes
    ----------
    served
        Paths of the files that were asked for, in order.
    gated
        Names that need a permission.
    broken
        Files that cannot be had now.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.address = root, ""
        self.served: list[str] = []
        self.gated: set[str] = set()
        self.broken: set[str] = set()

    def environment(self, home: Path, **more: str) -> dict[str, str]:
        """Return the environment of a process that uses this server as the hub, and keeps its cache in `home`."""
        variables = {
            "HF_ENDPOINT": self.address,
            "HF_HOME": str(home),
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_XET": "1",
        }
        return os.environ | variables | more

    def answer(self, request: "_Request") -> None:
        path = unquote(urlsplit(request.path).path)
        match = _API.fullmatch(path) or _FILE.fullmatch(path)
        if match is None or not (self.root / match["name"]).is_dir():
            return request.refuse(401, "RepoNotFound")
        if match["name"] in self.gated:
            return request.refuse(403, "GatedRepo")
        if match["revision"] != COMMIT:
            return request.refuse(404, "RevisionNotFound")
        folder, inside = self.root / match["name"], match["path"]
        what = match.groupdict().get("what")
        if what is None:
            return self._send_file(request, folder, inside)
        if what == "revision":
            files = [{"rfilename": entry["path"]} for entry in _entries(folder, folder) if entry["type"] == "file"]
            return request.send({"id": match["name"], "sha": COMMIT, "siblings": files, "private": False, "tags": []})
        if what == "paths-info":
            asked = {entry["path"]: entry for entry in _entries(folder, folder)}
            return request.send([asked[path] for path in request.paths() if path in asked])
        if not (folder / inside).is_dir():
            return request.refuse(404, "EntryNotFound")
        recursive = "recursive=true" in urlsplit(request.path).query.lower()
        return request.send(list(_entries(folder, folder / inside, recursive)))

    def _send_file(self, request: "_Request", folder: Path, inside: str) -> None:
        if inside in self.broken:
            return request.refuse(500, "Broken")
        if not (folder / inside).is_file():
            return request.refuse(404, "EntryNotFound")
        if request.command == "GET":
            self.served.append(inside)
        return request.send_bytes((folder / inside).read_bytes(), inside)


def _entries(root: Path, folder: Path, recursive: bool = True) -> Iterator[dict[str, object]]:
    for path in sorted(folder.rglob("*") if recursive else folder.iterdir()):
        kind = "directory" if path.is_dir() else "file"
        size = path.stat().st_size if path.is_file() else 0
        yield {"type": kind, "path": path.relative_to(root).as_posix(), "size": size, "oid": f"{size:040x}"}


class _Request(http.server.BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        self.hub.answer(self)

    do_HEAD = do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass

    def paths(self) -> list[str]:
        """Paths that a question about files names."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        return (
            json.loads(body)["paths"]
            if body.startswith("{")
            else [unquote(p) for p in re.findall("paths=([^&]+)", body)]
        )

    def refuse(self, status: int, code: str) -> None:
        self.send_bytes(b"", "", status, {"X-Error-Code": code})

    def send(self, value: object) -> None:
        self.send_bytes(json.dumps(value).encode(), "", headers={"Content-Type": "application/json"})

    def send_bytes(self, body: bytes, name: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        size = len(body)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        headers = {"ETag": f'"{name}-{size}"', "X-Repo-Commit": COMMIT} | (headers or {})
        if asked is not None:
            first, last = int(asked[1]), min(int(asked[2] or size - 1), size - 1)
            body, status = body[first : last + 1], 206
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        self.send_response(status)
        for key, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def serve(root: Path) -> Iterator[Hub]:
    """A hub at a port of this machine."""
    hub = Hub(root)
    with serve_requests(type("Request", (_Request,), {"hub": hub})) as hub.address:
        yield hub

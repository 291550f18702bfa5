"""Retrieval from a local server that misbehaves like real servers."""

import bz2
import gzip
import hashlib
import http.server
import json
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from macroscope.corpora import http_download, retrieval, sources
from macroscope.corpora.checksums import find_fault, find_published_checksum
from macroscope.corpora.retrieval import RemoteFile, RemoteSource, retrieve
from macroscope.errors import MacroscopeError

from ...local_server import serve_requests

CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """Server of CONTENT at /dumps/file.bin; `script` lists the answers to requests, and its last entry repeats."""

    def __init__(self, script):
        self.script, self.requests, self.etag, self.sums = list(script), [], '"one"', ""
        self.over = threading.Event()

    def answer(self, request):
        self.requests.append(dict(request.headers))
        action = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if action == "busy":
            request.send_error(503)
            return
        if action.startswith("trickle"):
            self.trickle(request, action)
            return
        if action in ("silent", "silent later"):
            if action == "silent later":
                request.send_response(200)
                request.send_header("Content-Length", str(len(CONTENT)))
                request.end_headers()
                request.wfile.write(CONTENT[:1000])
            self.over.wait(20)
            return
        if action in ("circle", "file:///etc/passwd"):
            request.send_response(302)
            request.send_header("Location", request.path if action == "circle" else action)
            request.end_headers()
            return
        if request.path.endswith("sums.txt"):
            body = self.sums.encode()
            request.send_response(200)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)
            return
        if action == "no length":
            request.send_response(200)
            request.end_headers()
            request.wfile.write(CONTENT[: len(CONTENT) // 2])
            return
        if "chunks" in action:
            request.protocol_version = "HTTP/1.1"
            request.send_response(200)
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            request.wfile.write(b"%x\r\n%b\r\n" % (len(CONTENT) // 2, CONTENT[: len(CONTENT) // 2]))
            request.close_connection = True
            if action == "chunks":
                request.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(CONTENT) // 2, CONTENT[len(CONTENT) // 2 :]))
            return
        if action == "page":
            request.send_response(200)
            request.end_headers()
            request.wfile.write(b"<!DOCTYPE html><title>Log in</title>")
            return
        if request.path != "/dumps/file.bin":
            request.send_error(404)
            return
        start, ranges = 0, request.headers.get("Range")
        if ranges and action != "ignore range" and request.headers.get("If-Range") == self.etag:
            start = int(ranges.removeprefix("bytes=").removesuffix("-"))
        request.send_response(206 if start else 200)
        request.send_header("ETag", self.etag)
        request.send_header("Content-Length", str(len(CONTENT) - start))
        if start:
            sent = start - 10 if action == "another range" else start
            request.send_header("Content-Range", f"bytes {sent}-{len(CONTENT) - 1}/{len(CONTENT)}")
        request.end_headers()
        end = len(CONTENT) // 2 if action == "break" else len(CONTENT)
        if action != "slow":
            request.wfile.write(CONTENT[start:end])
            return
        with suppress(OSError):
            for first in range(start, end, 1 << 15):
                request.wfile.write(CONTENT[first : min(first + (1 << 15), end)])
                self.over.wait(0.04)

    def trickle(self, request, action):
        """Send a byte now and then, within a socket's own time limit, until the client leaves."""
        start = b"HTTP/1.1 200 OK\r\n"
        if action != "trickle headers":
            kind = b"Transfer-Encoding: chunked" if "chunks" in action else b"Content-Length: 1000000"
            start += kind + b"\r\n\r\n"
        request.wfile.write(start)
        with suppress(OSError):
            while not self.over.wait(0.02):
                request.wfile.write(b"1\r\nx\r\n" if "chunks" in action else b"x")


@contextmanager
def serving(*script):
    server = Server(script)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            server.answer(self)

        def log_message(self, *args):
            pass

    with serve_requests(Handler) as server.url:
        try:
            yield server
        finally:
            server.over.set()


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    file = RemoteFile("file.bin", ("https://example.invalid/dumps/file.bin",), SHA256, len(CONTENT))
    rolling = RemoteFile("file.bin", file.urls, sums="https://example.invalid/dumps/x-latest-sums.txt")
    entries = {
        "fixed": RemoteSource("fixed", "1", "cohan", "none", "nobody", (file,)),
        "rolling": RemoteSource("rolling", "latest", "wikipedia", "none", "nobody", (rolling,)),
        "lost": RemoteSource("lost", "1", "cohan", "none", "nobody", (file,), gone="it was deleted; use 'fixed'"),
    }
    monkeypatch.setattr(retrieval, "_registry", lambda: entries)
    monkeypatch.setattr(retrieval, "_FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(retrieval, "_ATTEMPTS", 3)


def test_downloads_and_notes_the_origin(tmp_path):
    with serving("serve") as server:
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    note = json.loads((tmp_path / "file.bin.json").read_text())
    assert (note["sha256"], note["size"]) == (SHA256, len(CONTENT))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file.bin", "file.bin.json"]


@pytest.mark.parametrize("kind", ["silent", "silent later"])
def test_a_silent_server_is_given_up_soon(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(http_download, "SILENCE_SECONDS", 0.2)
    with serving(kind) as server, pytest.raises(MacroscopeError) as error:
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
    # Three attempts, and none at the second address on the same host.
    assert len(server.requests) == 3
    assert "127.0.0.1 was silent or too slow, 3 times (nothing arrived for 0.2 s); " in str(error.value)
    assert str(error.value).endswith("; check the mirror")


@pytest.mark.parametrize("kind", ["trickle headers", "trickle", "trickle chunks"])
def test_a_server_that_trickles_is_given_up_soon(tmp_path, monkeypatch, kind):
    """A socket's own limits never end a transfer that sends a byte now and then."""
    monkeypatch.setattr(http_download, "SILENCE_SECONDS", 0.3)
    monkeypatch.setattr(http_download, "ANSWER_SECONDS", 0.4)
    began = time.monotonic()
    with serving(kind) as server:
        with pytest.raises(MacroscopeError, match="was silent or too slow, 3 times") as error:
            retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
        assert time.monotonic() - began < 5
        assert len(server.requests) == 3
    reason = "no answer within 0.4 s" if "headers" in kind else "bytes arrived in 0.3"
    assert reason in str(error.value)


def test_bytes_of_a_slow_server_are_kept(tmp_path, monkeypatch):
    """A host above the limit is waited for; bytes of a host below it are kept for the next run."""
    monkeypatch.setattr(http_download, "SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(http_download, "SLOWEST", 1 << 40)
    with serving("slow") as server:
        with pytest.raises(MacroscopeError, match="was silent or too slow, 3 times"):
            retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
        kept, seen = (tmp_path / "file.bin.part").stat().st_size, len(server.requests)
        assert 0 < kept < len(CONTENT)
        monkeypatch.setattr(http_download, "SLOWEST", 1000)
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
        assert [request["Range"] for request in server.requests[seen:]] == [f"bytes={kept}-"]
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_published_checksums_that_trickle_do_not_delay_retrieval(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(http_download, "SILENCE_SECONDS", 0.3)
    with serving("serve", "trickle") as server, caplog.at_level("INFO", logger="macroscope"):
        retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
    assert "unverified" in caplog.text


def test_a_server_that_recovers_is_not_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(http_download, "SILENCE_SECONDS", 0.2)
    with serving("silent", "busy", "silent later", "serve") as server:
        monkeypatch.setattr(retrieval, "_ATTEMPTS", 6)
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_no_more_than_two_minutes_of_silence():
    waits = sum(2.0**k for k in range(retrieval._SILENT_ATTEMPTS - 1))
    longest = max(http_download.CONNECT_SECONDS, http_download.SILENCE_SECONDS)
    assert retrieval._SILENT_ATTEMPTS * longest + waits <= 120


def test_resumes_where_the_connection_broke(tmp_path):
    with serving("break", "serve") as server:
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
        assert server.requests[1]["Range"] == f"bytes={len(CONTENT) // 2}-"
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_resumes_in_a_later_run(tmp_path):
    with serving("break") as server:
        # Every attempt breaks at the same byte: the first run fails, and keeps its part.
        with pytest.raises(MacroscopeError, match="could not be reached, or broke off"):
            retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
        server.script, seen = ["serve"], len(server.requests)
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
        assert server.requests[seen]["Range"] == f"bytes={len(CONTENT) // 2}-"
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_changed_upstream_starts_anew(tmp_path):
    with serving("break", "break", "break", "serve") as server:
        with pytest.raises(MacroscopeError):
            retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
        server.etag = '"two"'
        retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("script", [("busy", "busy", "serve"), ("break", "ignore range")])
def test_servers_that_are_busy_or_ignore_ranges(tmp_path, script):
    with serving(*script) as server:
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_wrong_checksum_is_deleted(tmp_path, monkeypatch):
    file = RemoteFile("file.bin", ("https://example.invalid/dumps/file.bin",), "0" * 64, len(CONTENT))
    entry = RemoteSource("fixed", "1", "cohan", "none", "nobody", (file,))
    monkeypatch.setattr(retrieval, "_registry", lambda: {"fixed": entry})
    with serving("serve") as server, pytest.raises(MacroscopeError, match="its sha256 is"):
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def unverified(monkeypatch):
    """A file that never changes, whose checksum nobody publishes."""
    entries = {
        name: RemoteSource(
            name, version, "cohan", "none", "nobody", (RemoteFile("file.bin", ("https://x.invalid/f",)),)
        )
        for name, version in (("undated", "1"), ("current", "latest"))
    }
    monkeypatch.setattr(retrieval, "_registry", lambda: entries)


def test_the_second_retrieval_is_compared_with_the_first(tmp_path, unverified):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "f").write_bytes(b"one")
    for _ in range(2):
        retrieve("undated", "file.bin", tmp_path / "got.bin", str(tmp_path / "mirror"), tmp_path / "data.sha256")
    line = f"{hashlib.sha256(b'one').hexdigest()}  data/undated/1/file.bin\n"
    assert (tmp_path / "data.sha256").read_text() == line
    (tmp_path / "got.bin").unlink()
    (tmp_path / "mirror" / "f").write_bytes(b"two")
    with pytest.raises(MacroscopeError, match=r"as at its first retrieval \(remove its line from .*data\.sha256"):
        retrieve("undated", "file.bin", tmp_path / "got.bin", str(tmp_path / "mirror"), tmp_path / "data.sha256")
    assert not (tmp_path / "got.bin").exists()


def test_files_that_change_upstream_are_not_learned(tmp_path, unverified):
    (tmp_path / "mirror").mkdir()
    for content in (b"one", b"two"):
        (tmp_path / "mirror" / "f").write_bytes(content)
        retrieve("current", "file.bin", tmp_path / "got.bin", str(tmp_path / "mirror"), tmp_path / "data.sha256")
    assert not (tmp_path / "data.sha256").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [("sums\n", "line 1: not a line of sha256sum"), (f"{'0' * 64}  a\n{'1' * 64}  a\n", "line 2: another sha256 of a")],
)
def test_broken_files_of_checksums(tmp_path, unverified, text, message):
    (tmp_path / "data.sha256").write_text(text)
    with pytest.raises(MacroscopeError, match=message):
        retrieve("undated", "file.bin", tmp_path / "got.bin", str(tmp_path), tmp_path / "data.sha256")


def test_folder_as_mirror_by_path_and_by_name(tmp_path):
    by_path, by_name = tmp_path / "by path, 50%20é#?", tmp_path / "by_name"
    (by_path / "dumps").mkdir(parents=True)
    (by_path / "dumps" / "file.bin").write_bytes(CONTENT)
    by_name.mkdir()
    (by_name / "file.bin").write_bytes(CONTENT)
    for mirror in (by_path, by_name):
        retrieve("fixed", "file.bin", tmp_path / mirror.name / "got.bin", str(mirror))
        assert (tmp_path / mirror.name / "got.bin").read_bytes() == CONTENT


def test_missing_in_the_mirror_names_both_places(tmp_path):
    with pytest.raises(MacroscopeError, match=r"no file .*dumps/file\.bin; no file .*file\.bin; .*; check the mirror"):
        retrieve("fixed", "file.bin", tmp_path / "file.bin", str(tmp_path))


def test_what_the_mirror_lacks_is_retrieved_upstream(tmp_path, monkeypatch):
    with serving("serve") as server:
        file = RemoteFile("file.bin", (f"{server.url}/dumps/file.bin",), SHA256, len(CONTENT))
        for name, gone in (("fixed", None), ("lost", "it was deleted")):
            entry = RemoteSource(name, "1", "cohan", "none", "nobody", (file,), gone)
            monkeypatch.setattr(retrieval, "_registry", lambda entry=entry: {entry.name: entry})
            if gone is None:
                retrieve(name, "file.bin", tmp_path / "file.bin", str(tmp_path / "empty"))
            else:
                with pytest.raises(MacroscopeError, match="check the mirror"):
                    retrieve(name, "file.bin", tmp_path / "lost.bin", str(tmp_path / "empty"))
        assert len(server.requests) == 1
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_no_network_names_the_host_and_the_option(tmp_path):
    with pytest.raises(MacroscopeError, match=r"example\.invalid could not be reached.*set 'mirror:'"):
        retrieve("fixed", "file.bin", tmp_path / "file.bin")


def test_gone_upstream_names_the_substitute(tmp_path):
    with pytest.raises(MacroscopeError, match="it was deleted; use 'fixed'"):
        retrieve("lost", "file.bin", tmp_path / "file.bin")


def test_shipped_registry_is_complete(monkeypatch):
    monkeypatch.undo()
    for name, source in retrieval._registry().items():
        assert source == retrieval.find_remote_source(name)
        assert source.source in (*sources(), None)
        assert source.licence
        assert source.citation
        assert all(url.startswith(("https://", "pypi:/")) for file in source.files for url in file.urls)
        # A package is a wheel of the index's choice, unless its file has a checksum.
        assert all(file.sha256 for file in source.files if file.urls[0].startswith("pypi:"))
    with pytest.raises(MacroscopeError, match="did you mean 'pubmed'"):
        retrieval.find_remote_source("pubmd")


def test_another_range_than_the_requested_one_is_not_appended(tmp_path):
    with serving("break", "another range", "serve") as server:
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_login_page_is_not_the_file(tmp_path):
    with serving("page") as server, pytest.raises(MacroscopeError, match=r"it is a web page.*deleted"):
        retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", ["circle", "file:///etc/passwd"])
def test_redirects_that_lead_nowhere(script, tmp_path):
    with serving(script) as server, pytest.raises(MacroscopeError, match="cannot be retrieved") as error:
        retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("mirror", ["http://[::1", "http://localhost:99999999", "http://"])
def test_mirrors_that_are_not_addresses(mirror, tmp_path):
    with pytest.raises(MacroscopeError) as error:
        retrieve("rolling", "file.bin", tmp_path / "file.bin", mirror)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("note", ["{}", "[]", '{"url": 3}', '{"url": "http', "", '{"url": "URL", "validator": 3}'])
def test_a_note_without_content_starts_the_download_anew(note, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(b"half")
    with serving("serve") as server:
        (tmp_path / "file.bin.part.json").write_text(note.replace("URL", f"{server.url}/dumps/file.bin"))
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_file_whose_end_nothing_marks_is_not_kept_without_a_checksum(tmp_path):
    with serving("no length") as server:
        with pytest.raises(MacroscopeError, match="told neither its length nor a checksum, so it may be cut"):
            retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
        assert not list(tmp_path.iterdir())
        server.sums = f"{SHA256}  file.bin\n"
        with pytest.raises(MacroscopeError, match="its checksum is not the published one"):
            retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
    with serving("chunks") as server:
        retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_chunks_that_end_half_way_are_retried(tmp_path):
    with serving("half of the chunks", "chunks") as server:
        retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_published_checksums_are_compared_with_the_file(tmp_path, caplog):
    sha1 = hashlib.sha1(CONTENT).hexdigest()
    with serving("serve") as server, caplog.at_level("INFO", logger="macroscope"):
        server.sums = f"{'0' * 40}  other.bin\n{sha1}  file.bin\n"
        retrieve("rolling", "file.bin", tmp_path / "a", server.url)
        assert "unverified" not in caplog.text
        server.sums = f"{'0' * 40}  file.bin\n"
        with pytest.raises(MacroscopeError, match="its checksum is not the published one"):
            retrieve("rolling", "file.bin", tmp_path / "b", server.url)
        server.sums = ""
        retrieve("rolling", "file.bin", tmp_path / "c", server.url)
        assert "unverified" in caplog.text


def test_listings_have_the_date_of_the_latest_dump():
    listing = (
        "a" * 40 + "  enwiki-20260101-pages-articles.xml.bz2\n" + "b" * 40 + "  enwiki-20260101-pages-meta.xml.bz2\n"
    )
    assert find_published_checksum(listing, "enwiki-latest-pages-articles.xml.bz2") == "a" * 40
    assert find_published_checksum(listing, "enwiki-latest-abstract.xml.gz") is None


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.bz2", bz2.compress(b"text"), None),
        ("a.gz", gzip.compress(b"text", mtime=0), None),
        ("a.txt", b"text", None),
        ("a.html", b"<html>", None),
        ("a.bz2", b"PK\x03\x04", "does not begin as a .bz2 file does"),
        ("a.bz2", b"BZh9" + b"x" * 99, "cannot be decompressed"),
        ("a.gz", gzip.compress(b"text" * 99, mtime=0)[:20], "cannot be decompressed"),
        ("a.zip", b"PK\x03\x04" + b"x" * 99, "its end is missing"),
        ("a.jsonl", b" <HTML>", "it is a web page"),
        ("a.jsonl", b"", "it is empty"),
    ],
)
def test_faults_of_downloaded_files(name, content, fault, tmp_path):
    (tmp_path / name).write_bytes(content)
    message = find_fault(tmp_path / name, name)
    assert message is None if fault is None else fault in message

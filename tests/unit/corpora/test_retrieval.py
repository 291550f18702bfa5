"""Retrieval from a local server that misbehaves like real servers."""

import json
import time

import pytest

from macroscope.corpora import http_download, retrieval, sources
from macroscope.corpora.retrieval import RemoteFile, RemoteSource, retrieve
from macroscope.errors import MacroscopeError

from .flawed_server import CONTENT, SHA256, serving

pytestmark = pytest.mark.usefixtures("registry")


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
            entry = RemoteSource(name, "1", "cohan", "none", "no source", (file,), gone)
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


def test_a_source_of_one_address_names_its_substitute(tmp_path, monkeypatch):
    file = RemoteFile("file.bin", ("https://example.invalid/file.bin",))
    entry = RemoteSource("one", "1", "cohan", "none", "no source", (file,), substitute="'fixed'")
    monkeypatch.setattr(retrieval, "_registry", lambda: {"one": entry})
    with pytest.raises(MacroscopeError, match=r"example\.invalid could not be reached.*, or use 'fixed'$"):
        retrieve("one", "file.bin", tmp_path / "file.bin")


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
        # One dead address does not stop a run: there is another one, or a sentence that says what to do.
        in_an_index = all(file.urls[0].startswith("pypi:") for file in source.files)
        assert source.gone or source.substitute or in_an_index or all(len(file.urls) > 1 for file in source.files), name
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


def test_chunks_that_end_half_way_are_retried(tmp_path):
    with serving("half of the chunks", "chunks") as server:
        retrieve("rolling", "file.bin", tmp_path / "file.bin", server.url)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT

"""Checksums of retrieved files: given, published, learned at the first retrieval; and faults that none tells."""

import bz2
import gzip
import hashlib

import pytest

from macroscope.corpora import retrieval
from macroscope.corpora.checksums import find_fault, find_published_checksum
from macroscope.corpora.retrieval import RemoteFile, RemoteSource, retrieve
from macroscope.errors import MacroscopeError

from .flawed_server import CONTENT, SHA256, serving

pytestmark = pytest.mark.usefixtures("registry")


def test_wrong_checksum_is_deleted(tmp_path, monkeypatch):
    file = RemoteFile("file.bin", ("https://example.invalid/dumps/file.bin",), "0" * 64, len(CONTENT))
    entry = RemoteSource("fixed", "1", "cohan", "none", "no source", (file,))
    monkeypatch.setattr(retrieval, "_registry", lambda: {"fixed": entry})
    with serving("serve") as server, pytest.raises(MacroscopeError, match="its sha256 is"):
        retrieve("fixed", "file.bin", tmp_path / "file.bin", server.url)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def unverified(monkeypatch):
    """A file that never changes, whose checksum nobody publishes."""
    entries = {
        name: RemoteSource(
            name, version, "cohan", "none", "no source", (RemoteFile("file.bin", ("https://x.invalid/f",)),)
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

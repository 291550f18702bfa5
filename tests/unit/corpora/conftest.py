"""Fixtures of the tests of retrieval."""

import pytest

from macroscope.corpora import retrieval
from macroscope.corpora.retrieval import RemoteFile, RemoteSource

from .flawed_server import CONTENT, SHA256


@pytest.fixture
def registry(monkeypatch):
    """Register the file of the server: with its checksum, with a published one, and as lost."""
    file = RemoteFile("file.bin", ("https://example.invalid/dumps/file.bin",), SHA256, len(CONTENT))
    rolling = RemoteFile("file.bin", file.urls, sums="https://example.invalid/dumps/x-latest-sums.txt")
    entries = {
        "fixed": RemoteSource("fixed", "1", "cohan", "none", "no source", (file,)),
        "rolling": RemoteSource("rolling", "latest", "wikipedia", "none", "no source", (rolling,)),
        "lost": RemoteSource("lost", "1", "cohan", "none", "no source", (file,), gone="it was deleted; use 'fixed'"),
    }
    monkeypatch.setattr(retrieval, "_registry", lambda: entries)
    monkeypatch.setattr(retrieval, "_FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(retrieval, "_ATTEMPTS", 3)

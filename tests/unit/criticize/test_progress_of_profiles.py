"""The profile of large files: it says how far it is, and batches give what single texts give."""

import dataclasses

import pytest

from macroscope.criticize import profile as profiles
from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.profile import profile_texts
from macroscope.criticize.reading import read_sides

from .texts import write_texts


def test_a_long_profile_says_how_far_it_is(tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO", "macroscope")
    path = write_texts(tmp_path / "r.jsonl", 30)
    monkeypatch.setattr("macroscope.progress.SILENT_SECONDS", 1e9)
    profile_texts("mine", [path])
    assert not caplog.messages
    monkeypatch.setattr("macroscope.progress.SILENT_SECONDS", 0)
    profile_texts("mine", [path])
    assert caplog.messages[-1].startswith("profile mine: 30 texts, ")


def test_a_long_reading_says_how_far_it_is(tmp_path, monkeypatch, caplog):
    """Verbs without a profile are rank, sameness and sentences."""
    caplog.set_level("INFO", "macroscope")
    real, mine = write_texts(tmp_path / "r.jsonl", 30), write_texts(tmp_path / "mine.jsonl", 20)
    monkeypatch.setattr("macroscope.progress.SILENT_SECONDS", 1e9)
    read_sides([real], [mine], GivenFields())
    assert not any(message.startswith("read ") for message in caplog.messages)
    monkeypatch.setattr("macroscope.progress.SILENT_SECONDS", 0)
    read_sides([real], [mine], GivenFields())
    lines = {message.partition(" texts, ")[0] for message in caplog.messages}
    assert lines >= {"read the real texts: 30", "read mine: 20"}


@pytest.mark.parametrize("limit", ["_BATCH_DOCUMENTS", "_BATCH_CHARACTERS"])
def test_a_profile_does_not_depend_on_its_batches(limit, tmp_path, monkeypatch):
    path = write_texts(tmp_path / "r.jsonl", 30, titled=4)
    whole = dataclasses.asdict(profile_texts("mine", [path]))
    monkeypatch.setattr(profiles, limit, 1)
    assert dataclasses.asdict(profile_texts("mine", [path])) == whole

"""The first look at large files: it says how far it is, and batches give what single texts give."""

import dataclasses

import pytest

from macroscope.criticize import profile as profiles
from macroscope.criticize.profile import profile_texts

from .texts import write_texts


def test_a_long_look_says_how_far_it_is(tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO", "macroscope")
    path = write_texts(tmp_path / "r.jsonl", 30)
    profile_texts("mine", [path])
    assert not caplog.messages
    monkeypatch.setattr(profiles, "_SILENT_SECONDS", 1e-9)
    profile_texts("mine", [path])
    assert caplog.messages[-1].startswith("look at mine: 30 texts, ")


@pytest.mark.parametrize("limit", ["_BATCH_DOCUMENTS", "_BATCH_CHARACTERS"])
def test_a_profile_does_not_depend_on_its_batches(limit, tmp_path, monkeypatch):
    path = write_texts(tmp_path / "r.jsonl", 30, titled=4)
    whole = dataclasses.asdict(profile_texts("mine", [path]))
    monkeypatch.setattr(profiles, limit, 1)
    assert dataclasses.asdict(profile_texts("mine", [path])) == whole

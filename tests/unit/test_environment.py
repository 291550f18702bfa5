"""Caches that cannot be written, as in a container without a home."""

from pathlib import Path

import pytest

from macroscope.plan.criticism import environment


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_HOME", raising=False)
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    return tmp_path / "cache"


def test_a_cache_that_can_be_written_is_used(cache, tmp_path):
    assert environment(tmp_path)["XDG_CACHE_HOME"] == str(cache)
    assert cache.is_dir()


def test_one_that_cannot_gives_way_to_the_runs_own(cache, tmp_path):
    cache.write_text("no folder")
    found = environment(tmp_path)
    assert Path(found["XDG_CACHE_HOME"]).parent == tmp_path / ".snakemake"
    assert "HF_HOME" not in found


def test_models_of_a_cache_that_is_for_reading_are_still_found(cache, tmp_path, monkeypatch):
    (cache / "huggingface").mkdir(parents=True)
    monkeypatch.setattr("os.access", lambda *_: False)
    found = environment(tmp_path)
    assert found["HF_HOME"] == str(cache / "huggingface")
    assert found["XDG_CACHE_HOME"] != str(cache)


def test_a_home_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/proc/nowhere")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert environment(tmp_path)["XDG_CACHE_HOME"].startswith(str(tmp_path))

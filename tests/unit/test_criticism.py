"""Which critics a user's texts allow, before anything is run."""

import json

import pytest

from macroscope.critics import critics
from macroscope.critics.declaration import Critic
from macroscope.errors import MacroscopeError
from macroscope.plan.criticism import asked_by_default, default_critics
from macroscope.stages import Stage


def _texts(path, number, titled=0):
    """Narratives of five sentences about persons."""
    rest = "It was long. It was late. They slept. They woke."
    records = [
        {"sections": [{"title": "life" if n < titled else None, "text": f"He and she read text number {n}. {rest}"}]}
        for n in range(number)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_texts_that_allow_all_are_judged_by_all(tmp_path):
    asked, reasons = asked_by_default([_texts(tmp_path / "r.jsonl", 120, titled=30)])
    assert (asked, reasons) == (list(default_critics()), [])


def test_what_the_texts_lack_is_said(tmp_path):
    asked, reasons = asked_by_default([_texts(tmp_path / "r.jsonl", 40, titled=3)])
    left_out = set(default_critics()) - set(asked)
    assert left_out == {name for name in default_critics() if critics()[name].data.fewest}
    assert len(reasons) == len(left_out) > 1
    assert any("it needs 100 documents, and the reference has 40" in reason for reason in reasons)
    assert any("it needs 20 documents with section titles, and the reference has 3" in reason for reason in reasons)


def test_several_files_count_together(tmp_path):
    paths = [_texts(tmp_path / f"{n}.jsonl", 60, titled=15) for n in range(2)]
    assert asked_by_default(paths)[1] == []


def test_no_more_is_read_than_is_needed(tmp_path):
    path = _texts(tmp_path / "r.jsonl", 150, titled=150)
    with path.open("a") as stream:
        stream.write("not JSON\n")
    assert asked_by_default([path])[1] == []
    with pytest.raises(MacroscopeError, match="line 4 is not valid JSON"):
        asked_by_default([_broken(tmp_path)])


def _broken(folder):
    path = _texts(folder / "broken.jsonl", 3)
    with path.open("a") as stream:
        stream.write("not JSON\n")
    return path


def test_only_what_is_counted_can_be_asked_for():
    with pytest.raises(ValueError, match="not pages"):
        Critic("o:O", {"project": Stage("m:f"), "score": Stage("m:f")}, fewest={"pages": 3})

"""Atomic files, progress, figures."""

import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from macroscope.errors import MacroscopeError, escape_controls, nearest
from macroscope.files import (
    REPOSITORY,
    atomic,
    read_json,
    require_replaceable,
    scratch_folder,
    write_json,
    write_text,
)
from macroscope.plotting import formats, save, style
from macroscope.progress import progress
from macroscope.readers.records import read_numbered_records
from macroscope.statistics.judgements import read_judgements
from macroscope.strict_yaml import read_yaml
from macroscope.tables import read_csv

PACKAGE = str(REPOSITORY / "workflow")
KILLED = """
import os, signal, sys
from pathlib import Path
from macroscope.files import atomic
with atomic(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")

    def fail_half_way():
        with atomic(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_replaces_a_folder(tmp_path):
    for content in ("one", "two"):
        with atomic(tmp_path / "folder") as folder:
            folder.mkdir()
            (folder / content).write_text(content)
    assert [p.name for p in (tmp_path / "folder").iterdir()] == ["two"]


def test_a_folder_that_is_replaced_is_never_half_there(tmp_path, monkeypatch):
    path = tmp_path / "folder"
    rmtree = shutil.rmtree

    def half(removed, **options):
        if Path(removed) == path:
            (path / "one").unlink()
            raise KeyboardInterrupt
        rmtree(removed, **options)

    monkeypatch.setattr(shutil, "rmtree", half)
    for content in ("1", "2"):
        with atomic(path) as folder:
            folder.mkdir()
            for name in ("one", "two"):
                (folder / name).write_text(content)
    assert {file.name: file.read_text() for file in path.iterdir()} == {"one": "2", "two": "2"}
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_replaces_no_folder(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("x")
    with pytest.raises(IsADirectoryError, match="thesis"):
        write_json(tmp_path / "thesis", {})
    assert [p.name for p in tmp_path.rglob("*")] == ["thesis", "chapter.tex"]


def test_what_a_killed_process_left_is_swept(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "model")], check=False, env=os.environ | {"PYTHONPATH": PACKAGE}
    )
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert (left / "model").read_text() == "half"
    with atomic(tmp_path / "model.json") as longer:  # one with a longer name touches it not
        longer.write_text("{}")
    assert left.exists()
    with atomic(tmp_path / "model") as temporary, atomic(tmp_path / "model"[:-1]) as shorter:
        assert not left.exists()
        temporary.write_text("whole")
        shorter.write_text("x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mode", "model", "model.json"]


def test_a_scratch_folder_that_is_in_use_stays(tmp_path):
    with scratch_folder(tmp_path / "model") as first, scratch_folder(tmp_path / "model") as second:
        assert first != second
        assert first.exists()


def test_names_as_long_as_they_may_be(tmp_path):
    path = tmp_path / ("\u00e4" * 120 + ".json")
    write_json(path, 1)
    assert read_json(path) == 1


PIPES_AND_DEVICES = {"pipe": os.mkfifo, "device": lambda path: os.symlink("/dev/full", path)}


@pytest.fixture(params=PIPES_AND_DEVICES)
def irregular(request, tmp_path):
    PIPES_AND_DEVICES[request.param](tmp_path / "x")
    return tmp_path / "x", f"a {request.param}, not a file"


def test_pipes_and_devices_are_not_read(irregular):
    """Reading them may never end."""
    path, message = irregular
    for read in (read_json, read_yaml, read_csv, read_judgements, lambda path: list(read_numbered_records(path))):
        with pytest.raises(MacroscopeError, match=message):
            read(path)


def test_pipes_and_devices_are_not_replaced(irregular):
    path, message = irregular
    with pytest.raises(MacroscopeError, match=message):
        write_text(path, "text")
    assert not path.is_file()
    assert os.path.lexists(path)


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    for text in ("first", "second"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "folder" / "file").read_text() == text


def test_a_folder_is_replaced_in_one_step(tmp_path, monkeypatch):
    """A kill between two renames would leave it absent."""
    path, steps = tmp_path / "folder", []
    with atomic(path) as temporary:
        temporary.mkdir()
        (temporary / "old").touch()
    monkeypatch.setattr(os, "replace", lambda *paths: steps.append(paths))
    with atomic(path) as temporary:
        temporary.mkdir()
        (temporary / "new").touch()
    assert [file.name for file in path.iterdir()] == ["new"]
    assert not steps
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_a_folder_is_replaced_where_folders_cannot_be_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: None)
    for name in ("old", "new"):
        with atomic(tmp_path / "folder") as temporary:
            temporary.mkdir()
            (temporary / name).touch()
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["new"]


def test_errors_name_the_output_and_not_what_is_beside_it(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "out.json", "/proc/out.json", "/proc/none/out.json"):
        with pytest.raises(OSError, match=f"'{path}'"):
            write_text(Path(path), "")


def test_only_an_own_output_is_replaced(tmp_path):
    path = tmp_path / "out.json"
    for content in ("", "ours: 1"):
        require_replaceable(path, "ours")
        path.write_text(content)
    require_replaceable(path, "ours")
    for beginning in ("our", "policy: 1"):
        path.write_text(beginning)
        with pytest.raises(MacroscopeError, match=r"out\.json: exists, and is not an earlier output"):
            require_replaceable(path, "ours")
    with pytest.raises(MacroscopeError, match="exists, and is not an earlier output"):
        require_replaceable(tmp_path, "ours")


@pytest.mark.parametrize("number", ["1:30", "-1:30.5", "12:30:45", "010", "+017"])
def test_numbers_that_versions_of_yaml_read_differently_are_rejected(number, tmp_path):
    (tmp_path / "a.yaml").write_text(f"run: r\nseed: {number}\n")
    with pytest.raises(MacroscopeError, match=r"a\.yaml: line 2: '.*' is .* in one version of YAML"):
        read_yaml(tmp_path / "a.yaml")


def test_other_numbers_are_read_as_they_are_written(tmp_path):
    (tmp_path / "a.yaml").write_text("[7, 0, -3, 0.5, .5, 1.0e-3, 1_000, '1:30', 'a:b']\n")
    assert read_yaml(tmp_path / "a.yaml") == [7, 0, -3, 0.5, 0.5, 0.001, 1000, "1:30", "a:b"]


def test_merges_that_would_fill_the_memory_are_rejected(tmp_path):
    lines = ["a0: &a0 {k: 1}"]
    for level in range(1, 30):
        lines.append(f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 20)}]}}")
    (tmp_path / "a.yaml").write_text("\n".join(lines))
    with pytest.raises(MacroscopeError, match=r"merges .* of more than 100,000 keys"):
        read_yaml(tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text("\n".join(lines[:3]))
    assert read_yaml(tmp_path / "a.yaml")["a2"] == {"k": 1}


def test_a_sentence_about_a_name_of_any_length():
    sentence = str(MacroscopeError(f"mine.jsonl: two documents have the id {'x' * 100_000}; ids must be unique"))
    assert len(sentence) < 2100
    assert sentence.startswith("mine.jsonl: two documents")
    assert sentence.endswith("x; ids must be unique")


def test_control_characters_are_escaped():
    assert escape_controls("a\x1b[31m\u202eb\n\ud800é\u3000", kept="\n") == "a\\x1b[31m\\u202eb\n\\ud800é\u3000"


def test_json_has_no_infinity(tmp_path):
    write_json(tmp_path / "a.json", {"ppl": float("inf"), "rows": [1.5, (float("nan"), 2)], "name": "x"})
    assert read_json(tmp_path / "a.json") == {"ppl": None, "rows": [1.5, [None, 2]], "name": "x"}


def test_json_errors_name_file_and_line(tmp_path):
    write_json(tmp_path / "a.json", {"b": 1})
    assert read_json(tmp_path / "a.json") == {"b": 1}
    (tmp_path / "bad.json").write_text("{\n1\n")
    with pytest.raises(MacroscopeError, match=r"bad\.json is not valid JSON .* at line 2, column 1"):
        read_json(tmp_path / "bad.json")


def test_nearest():
    assert nearest("corpra", ["corpora", "systems"]) == "; did you mean 'corpora'?"
    assert "did you mean" not in nearest("xyz", ["corpora"])


def test_progress_logs_what_it_did(caplog, monkeypatch):
    monkeypatch.setattr("macroscope.progress.SILENT_SECONDS", 0)
    with caplog.at_level(logging.INFO, logger="macroscope"):
        assert list(progress(range(3), "count", unit="things")) == [0, 1, 2]
    assert "count: 3 of 3 things" in caplog.text


def test_same_figure_same_bytes(tmp_path):
    import matplotlib.pyplot as plt

    for name in ("a", "b"):
        with style():
            figure, axes = plt.subplots()
            axes.plot([1, 2], [3, 4], label="x")
            axes.legend()
        save(figure, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.pdf").stat().st_size > 1000


def test_figures_without_pdf(tmp_path):
    import matplotlib.pyplot as plt

    with formats(with_pdf=False):
        save(plt.figure(), tmp_path / "a")
    save(plt.figure(), tmp_path / "b")
    assert {path.name for path in tmp_path.iterdir()} == {"a.svg", "b.svg", "b.pdf"}

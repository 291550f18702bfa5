"""The user's files: jobs know them by their content, and their dates do not count."""

import os
import time
from types import SimpleNamespace

import pytest

from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json
from macroscope.plan import user_files
from macroscope.plan.user_files import UserFiles, redate_future_files, require_past

from .plans import find_job, names, plan_of

NOWHERE = SimpleNamespace()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda: UserFiles(["results/r", "data/webtext"])


def rewrite(path, text):
    """Write a text as a copy that keeps the time and the size of the original."""
    times = path.stat()
    path.write_text(text)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_another_content_of_the_same_size_and_time_is_another_digest(tmp_path, files):
    path = tmp_path / "a.jsonl"
    path.write_text("one")
    before = files().digest(["a.jsonl"])
    rewrite(path, "two")
    assert files().digest(["a.jsonl"]) != before
    rewrite(path, "one")
    os.utime(path, (1, 4e9))
    assert files().digest(["a.jsonl"]) == before


def test_every_file_of_a_folder_counts_but_not_its_place(tmp_path, files):
    (tmp_path / "texts" / "more").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "more/a.txt"):
        (tmp_path / "texts" / name).write_text(name)
    (tmp_path / "texts" / "gone.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "texts" / "fifo.txt")
    digests = [files().digest(["texts"])]
    rewrite(tmp_path / "texts" / "more" / "a.txt", "edited txt")
    digests.append(files().digest(["texts"]))
    (tmp_path / "texts" / "c.txt").write_text("new")
    digests.append(files().digest(["texts"]))
    (tmp_path / "texts" / "b.txt").rename(tmp_path / "texts" / "d.txt")
    digests.append(files().digest(["texts"]))
    assert len(set(digests)) == 4
    (tmp_path / "texts").rename(tmp_path / "moved")
    assert files().digest(["moved"]) == digests[-1]


def test_what_jobs_make_or_retrieve_is_not_read(tmp_path, files):
    for path in ("results/r/a.parquet", "data/webtext/v1/a.jsonl"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("made")
    assert files().digest(["results/r/a.parquet", "data/webtext/v1/a.jsonl", "nowhere.jsonl"]) == ""


def test_only_files_of_the_user_that_are_here_are_undated(tmp_path, files):
    (tmp_path / "a.jsonl").write_text("here")
    users = files()
    users.flag = "undated {}".format
    assert users.undated(lambda wildcards: "a.jsonl")(NOWHERE) == "undated a.jsonl"
    given = ["a.jsonl", "elsewhere.jsonl", "results/r/a.parquet"]
    assert users.undated(given)(NOWHERE) == ["undated a.jsonl", *given[1:]]


def test_a_large_file_is_read_again_only_after_a_change(tmp_path, files, monkeypatch):
    monkeypatch.setattr(user_files, "LARGE", 1)
    monkeypatch.setattr(user_files, "_SETTLED_SECONDS", -1.0)
    (tmp_path / "a.jsonl").write_text("one")
    digest = files().digest(["a.jsonl"])
    [(path, (_, state))] = read_json(user_files.NOTE).items()
    write_json(user_files.NOTE, {path: ["another", state]})
    assert files().digest(["a.jsonl"]) != digest  # the note counts
    rewrite(tmp_path / "a.jsonl", "one")
    assert files().digest(["a.jsonl"]) == digest


@pytest.mark.parametrize("note", ["[1]", "{", '{"a": 1}'])
def test_a_note_that_is_not_ours_does_not_count(note, tmp_path, files, monkeypatch):
    monkeypatch.setattr(user_files, "LARGE", 1)
    (tmp_path / "a.jsonl").write_text("one")
    before = files().digest(["a.jsonl"])
    user_files.NOTE.parent.mkdir(exist_ok=True)
    user_files.NOTE.write_text(note)
    assert files().digest(["a.jsonl"]) == before


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path, files, monkeypatch):
    monkeypatch.setattr("builtins.open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(MacroscopeError, match=r"a\.jsonl: cannot be read \(Permission denied\)"):
        files().digest(["a.jsonl"])


def test_the_users_files_of_jobs(tmp_path, monkeypatch):
    """Texts of systems, and mentions; a result is never among them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "y").write_text("text")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "mine.parquet").write_text("mentions")
    critics = {"coreference": {"resolver": "files", "mentions": "m/{system}.parquet"}}
    plan = plan_of([{"corpus": "wiki", "critics": ["coreference", "tendencies"]}], critics=critics)

    def contents(name):
        return plan.user_files.contents_of(find_job(plan, name))(names(corpus="wiki", system="mine"))

    assert contents("generate_files")
    assert contents("project_coreference")
    assert contents("generate_files") != contents("project_coreference")
    assert contents("project_tendencies") == ""


def test_results_of_the_future_are_of_today_in_their_order(tmp_path):
    dates = {"later": 5e9, "old": 1e9, "sooner": 4e9}
    for name, date in dates.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (date, date))
    redate_future_files([str(tmp_path), str(tmp_path / "nowhere")])
    old, sooner, later = ((tmp_path / name).stat().st_mtime for name in ("old", "sooner", "later"))
    assert old == 1e9
    assert time.time() - 60 < sooner < later <= time.time()


def test_results_of_today_keep_their_dates(tmp_path):
    (tmp_path / "a").touch()
    before = (tmp_path / "a").stat().st_mtime_ns
    redate_future_files([str(tmp_path)])
    assert (tmp_path / "a").stat().st_mtime_ns == before


def test_a_users_file_of_the_future_is_named(tmp_path):
    path = tmp_path / "real.jsonl"
    path.touch()
    require_past(str(path))
    os.utime(path, (4e9, 4e9))
    with pytest.raises(MacroscopeError, match=f"{path}: dated in the future, .*; run `touch {path}`"):
        require_past(str(path))

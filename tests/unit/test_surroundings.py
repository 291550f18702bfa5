"""Environments of macroscope: homes and temporary folders that cannot be written, terminals of few characters."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from macroscope.execution.job_environment import caches
from macroscope.files import REPOSITORY, SNAKEFILE

LIBRARIES = ("HF_HOME", "MPLCONFIGDIR", "XDG_CONFIG_HOME")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    for name in LIBRARIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_cache_that_can_be_written_is_used(cache, tmp_path):
    assert caches(tmp_path) == {}
    assert cache.is_dir()


def test_a_cache_that_cannot_be_written_is_replaced_by_one_in_the_runs_folder(cache, tmp_path, monkeypatch):
    cache.write_text("no folder")
    variables = caches(tmp_path)
    run_cache = Path(variables["XDG_CACHE_HOME"])
    assert run_cache.parent == tmp_path / ".snakemake"
    assert variables == {"XDG_CACHE_HOME": str(run_cache), "MPLCONFIGDIR": str(run_cache / "matplotlib")}
    monkeypatch.setenv("XDG_CACHE_HOME", str(run_cache))
    assert caches(tmp_path) == {}  # jobs of this run do not warn again


def test_models_of_a_cache_that_is_for_reading_are_still_found(cache, tmp_path, monkeypatch):
    (cache / "huggingface").mkdir(parents=True)
    monkeypatch.setattr("os.access", lambda *_: False)
    variables = caches(tmp_path)
    assert variables["HF_HOME"] == str(cache / "huggingface")
    assert variables["XDG_CACHE_HOME"] != str(cache)


def test_what_the_environment_says_of_a_library_stays(cache, tmp_path, monkeypatch):
    cache.write_text("no folder")
    monkeypatch.setenv("MPLCONFIGDIR", "mine")
    assert "MPLCONFIGDIR" not in caches(tmp_path)


def test_a_home_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/proc/nowhere")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert caches(tmp_path)["XDG_CACHE_HOME"].startswith(str(tmp_path))


SURROUNDINGS = [
    {"HOME": "FILE"},
    {"HOME": ""},
    {"XDG_CACHE_HOME": "FILE", "XDG_CONFIG_HOME": "FILE"},
    {"TMPDIR": "/none/such"},
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LANG": "tr_TR.UTF-8", "TZ": "Nowhere/Else"},
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "file").write_text("")  # a home that nobody can write, not even root
    for name, number in (("real", 8), ("mine", 4)):
        lines = (f'{{"text": "Text {number} of {name}, é. It is so. And so."}}\n' for number in range(number))
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def call(folder, changed, *arguments, before="", within=()):
    """Call a module of Python in other surroundings, in a shell that does something before."""
    env = os.environ | {name: value.replace("FILE", str(folder / "file")) for name, value in changed.items()}
    command = [*within, "bash", "-c", f'{before} exec "$@"', "bash", sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


PROFILE = ["macroscope", "criticize", "--reference", "real.jsonl", "--candidate", "mine.jsonl", "--output", "out"]


@pytest.mark.parametrize("changed", SURROUNDINGS, ids=lambda changed: "-".join(changed))
def test_a_look_is_the_same_wherever_it_is_taken(changed, folder):
    done = call(folder, changed, *PROFILE, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert re.search("^documents +8 +4$", done.stdout, re.MULTILINE)
    assert "Critics, with the number of real texts" in done.stdout


CONFIG = """
run: r
corpora: {c: {source: files, files: [real.jsonl], split: test, filters: {min_sections: 1, min_section_tokens: 0}}}
systems: {s: {kind: files, files: [mine.jsonl]}}
comparisons: [{corpus: c, systems: [s], critics: [tendencies]}]
"""
WORKFLOW = ["snakemake", "--configfile", "config.yaml", "--cores", "1", "--nocolor", "--until", "generate_files"]


@pytest.mark.parametrize("changed", [{"HOME": "FILE"}, {"XDG_CACHE_HOME": "FILE"}], ids=["HOME", "XDG_CACHE_HOME"])
def test_snakemake_alone_needs_no_home(changed, folder):
    """The profile of this checkout and the rules see to it; `macroscope criticize` calls the same."""
    (folder / "config.yaml").write_text(CONFIG)
    done = call(folder, changed, *WORKFLOW, "--snakefile", str(SNAKEFILE), before="umask 077;")
    assert done.returncode == 0, done.stderr
    assert (folder / "results/r/systems/c/s/samples.parquet").stat().st_mode & 0o777 == 0o600
    assert done.stderr.count("this run keeps its cache in") == 1
    assert "Traceback" not in done.stderr


def test_a_users_files_below_data_are_not_downloads(folder):
    """With --forceall, Snakemake removes every file that a rule can make."""
    user_file = folder / "data" / "mine" / "v1" / "real.jsonl"
    user_file.parent.mkdir(parents=True)
    (folder / "real.jsonl").rename(user_file)
    (folder / "config.yaml").write_text(CONFIG.replace("real.jsonl", "data/mine/v1/real.jsonl"))
    arguments = [*WORKFLOW, "--forceall", "--snakefile", str(SNAKEFILE)]
    done = call(folder, {}, *arguments)
    assert done.returncode == 0, done.stderr
    assert user_file.exists()


@pytest.mark.slow
def test_texts_are_known_by_content_and_dates_do_not_count(folder):
    """Copies with old dates, texts and results of a machine whose clock is ahead."""
    (folder / "config.yaml").write_text(CONFIG)
    arguments = [*WORKFLOW, "--snakefile", str(SNAKEFILE)]
    os.utime(folder / "mine.jsonl", (4e9, 4e9))
    refused = call(folder, {}, *arguments)
    assert refused.returncode == 1
    assert "mine.jsonl: dated in the future, so that its results count as old; run `touch " in refused.stderr
    os.utime(folder / "mine.jsonl")
    extracted = folder / "results/r/corpora/c/extracted/000-real-jsonl.parquet"
    samples = folder / "results/r/systems/c/s/samples.parquet"
    assert call(folder, {}, *arguments).returncode == 0
    os.utime(extracted, (4e9, 4e9))
    before, made = samples.read_bytes(), extracted.read_bytes()
    edited = (folder / "mine.jsonl").read_text().replace("Text", "Txet")
    (folder / "mine.jsonl").write_text(edited)
    os.utime(folder / "mine.jsonl", (1e9, 1e9))
    done = call(folder, {}, *arguments)
    assert done.returncode == 0, done.stderr
    assert samples.read_bytes() != before
    assert "000-real-jsonl.parquet: dated in the future" in done.stderr
    assert extracted.stat().st_mtime < 4e9
    assert extracted.read_bytes() == made
    again = call(folder, {}, *arguments, "--dry-run")
    assert re.search("^total +0$", again.stdout + again.stderr, re.MULTILINE)


@pytest.mark.parametrize("name", ["a{b}", "a:b"])
def test_folders_that_the_workflow_cannot_be_in(name, folder):
    (folder / name).mkdir()
    shutil.copy(SNAKEFILE, folder / name)
    done = call(folder, {}, "snakemake", "--dry-run", "--snakefile", str(folder / name / "Snakefile"))
    assert done.returncode == 1
    assert f"the workflow is in {str(folder / name)!r}: " in done.stdout + done.stderr


OWN_MOUNTS = ("unshare", "--map-root-user", "--mount")
"""Within it, mounts are nobody else's and end with the command."""
MOUNTS = {
    "a full TMPDIR": "mkdir full; mount -t tmpfs -o size=4k none full; head -c 9999 /dev/zero 2> /dev/null > full/x;",
    "a checkout that cannot be written": f"mount --bind {shlex.quote(str(REPOSITORY))} {shlex.quote(str(REPOSITORY))};"
    f"mount -o remount,ro,bind {shlex.quote(str(REPOSITORY))};",
}


@pytest.mark.parametrize("mounts", MOUNTS)
def test_disks_that_cannot_be_written(mounts, folder):
    try:
        subprocess.run([*OWN_MOUNTS, "mount", "-t", "tmpfs", "none", str(folder)], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system lets nobody but its owner mount")
    (folder / "config.yaml").write_text(CONFIG)
    arguments = [*WORKFLOW, "--snakefile", str(SNAKEFILE)]
    done = call(folder, {"TMPDIR": "full"}, *arguments, before=MOUNTS[mounts], within=OWN_MOUNTS)
    assert done.returncode == 0, done.stderr
    assert (folder / "results/r/systems/c/s/samples.parquet").exists()


def test_a_clone_may_be_called_as_its_owner_likes(folder):
    """Its path stands in the command of every job."""
    clone = folder / 'cl$(touch pwned)\'q `touch pwned`; "x" é'
    for name in ("Snakefile", "workflow", "profiles", "resources", "envs"):
        source, target = REPOSITORY / name, clone / name
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    (folder / "config.yaml").write_text(CONFIG)
    done = call(folder, {}, *WORKFLOW, "--snakefile", str(clone / "Snakefile"))
    assert done.returncode == 0, done.stderr
    assert (folder / "results/r/systems/c/s/samples.parquet").exists()
    assert not list(folder.rglob("pwned"))

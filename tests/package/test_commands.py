"""The commands of an installed package, from a folder of a user, with an installation that cannot be written."""

import json
import re
import shlex
import subprocess

import pytest

from .conftest import call

pytestmark = pytest.mark.package
OWN_MOUNTS = ("unshare", "--map-root-user", "--mount")


@pytest.fixture
def folder(tmp_path):
    """A folder with texts, and a file that is named as the home: nobody can write to it, not even root."""
    (tmp_path / "file").write_text("")
    for name, number in (("real", 8), ("mine", 4)):
        texts = [{"text": f"Text {number} of {name}. It is so. And so."} for number in range(number)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    return tmp_path


def read_only(macroscope, folder, *arguments):
    """Call the command in a folder while its environment is mounted for reading only."""
    place = shlex.quote(str(macroscope.parents[1]))
    mount = f'mount --bind {place} {place}; mount -o remount,ro,bind {place}; touch {place}/x && exit 9; exec "$@"'
    if subprocess.run([*OWN_MOUNTS, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody but its owner mount")
    words = (*OWN_MOUNTS, "bash", "-c", mount, "bash", macroscope, *arguments)
    return call(*words, folder=folder, HOME=str(folder / "file"))


TEXTS = ("--reference", "real.jsonl", "--candidate", "mine.jsonl", "--output", "out")


def test_a_verdict(macroscope, folder):
    done = read_only(macroscope, folder, "criticize", *TEXTS, "--critic", "tendencies")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "out" / "results" / "criticism" / "report.html").exists()
    assert {path.name for path in folder.iterdir()} == {"file", "real.jsonl", "mine.jsonl", "out"}
    assert {path.name for path in (folder / "out").iterdir()} >= {"config.yaml", "logs", "results", ".snakemake"}


def test_annotation_pages(macroscope, folder):
    for name in ("people", "model"):
        texts = [[{"title": title, "text": f"{title}, {name} {n}."} for title in ("Life", "Work")] for n in range(60)]
        lines = (json.dumps({"sections": sections}) + "\n" for sections in texts)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    arguments = ("--real", "people.jsonl", "--system", "model=model.jsonl", "--documents", "2", "--training", "1")
    done = read_only(macroscope, folder, "human", "sheet", *arguments, "--annotators", "2", "--output", "study")
    assert done.returncode == 0, done.stderr
    assert len(list((folder / "study" / "pages").glob("*.html"))) == 2


def test_an_experiment_is_copied_and_planned(macroscope, folder):
    done = read_only(macroscope, folder, "experiments", "meister2021-small")
    assert done.returncode == 0, done.stderr
    done = read_only(macroscope, folder, "run", "--config", "meister2021-small.yaml", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^ +\d+ finetune$", done.stderr, re.MULTILINE)


def test_a_demonstration_without_models_says_how_to_install_them(macroscope, folder):
    done = read_only(macroscope, folder, "demo")
    assert done.returncode == 1
    assert done.stderr.count("pip install 'macroscope-text[models]'") == 1

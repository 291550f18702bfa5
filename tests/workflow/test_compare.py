"""`macroscope.compare` and the workflow: the same bytes in tables."""

import json
import os
import subprocess
import sys

import pytest

import macroscope
from macroscope.files import REPOSITORY, SNAKEFILE, SNAKEMAKE_PROFILE

pytestmark = pytest.mark.slow
RUN = "results/criticism"
WORDS = "river mill bread garden letter winter road child song stone".split()


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Write narratives about persons, with titles: a folder with real.jsonl and mine.jsonl."""
    folder = tmp_path_factory.mktemp("texts")
    for name, shift in (("real", 0), ("mine", 3)):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for number in range(40):
                nouns = [WORDS[(number * (k + 2) + shift * k) % len(WORDS)] for k in range(6)]
                text = " ".join(f"He took the {noun}, and he put it by the bed {number}." for noun in nouns)
                sections = [{"title": "life", "text": text}, {"title": "works", "text": f"She left. {text}"}]
                file.write(json.dumps({"sections": sections}) + "\n")
    return folder


def snakemake(folder, *arguments):
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--configfile", "config.yaml"),
        *("--workflow-profile", str(SNAKEMAKE_PROFILE), "--cores", "2", *arguments),
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_statistics_are_those_of_the_command_byte_by_byte(texts, tmp_path):
    real, mine = texts / "real.jsonl", texts / "mine.jsonl"
    critics = ["strings"]  # takes least
    result = macroscope.compare(real, mine, critics=critics, n_jobs=2, progress=False, keep=tmp_path / "kept")
    subprocess.run(
        [
            *(sys.executable, "-m", "macroscope", "criticize", "--reference", str(real), "--candidate", str(mine)),
            *("--critic", critics[0], "--output", str(tmp_path / "judged"), "--cores", "2"),
        ],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow")},
    )
    tables = [
        path.relative_to(tmp_path / "judged")
        for folder in ("statistics", "tables")
        for path in sorted((tmp_path / "judged" / RUN / folder).rglob("*.csv"))
    ]
    assert len(tables) > 10
    for table in tables:
        assert (tmp_path / "kept" / table).read_bytes() == (tmp_path / "judged" / table).read_bytes(), table

    assert list(result.scorecard.columns) == critics
    assert list(result.scorecard.index) == ["mine", "real text against itself"]
    assert set(result.documents["critic"]) == {"strings"}
    assert result.documents["system"].value_counts().to_dict() == {"control": 40, "mine": 40}
    assert {"value", "ci_low", "p_value", "n_reference", "signature"} <= {*result.statistics}
    assert "mine" in repr(result)
    assert "<table" in result._repr_html_()

    page = result.report(tmp_path / "report")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert {path.name for path in page.parent.iterdir()} == {"report.html", "pages", "reader", "figures", "tables"}
    saved = result.save(tmp_path / "saved")
    assert repr(macroscope.load(saved)) == repr(result)
    # Snakemake goes on from there.
    assert "Nothing to be done" in snakemake(tmp_path / "kept", "--dry-run")

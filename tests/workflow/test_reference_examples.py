"""References of public texts: their sources, and those of files that users download, built from small ones."""

import json
import random
import runpy
import subprocess
import sys

import pytest
import yaml

from macroscope.config.schema import parse_config
from macroscope.engine.kept_references import read_kept
from macroscope.files import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "references"
REFERENCES = yaml.safe_load((EXAMPLE / "references.yaml").read_text())
DOWNLOADED = ["abstracts", "novels"]
WORDS = "river mill winter bread letter brother road night horse window garden stone".split()


@pytest.mark.parametrize("name", [name for name in REFERENCES if name not in DOWNLOADED])
def test_the_corpus_of_a_reference_is_valid_and_has_licence_and_citation(name):
    config = {
        "run": "r",
        "corpora": {name: REFERENCES[name]["corpus"]},
        "systems": {"control": {"kind": "control"}},
        "critics": {"tendencies": {}},
        "comparisons": [{"corpus": name, "systems": ["control"], "critics": ["tendencies"]}],
    }
    parse_config(config, name)
    licence, citation = runpy.run_path(str(EXAMPLE / "build.py"))["find_licence"](REFERENCES[name])
    assert licence
    assert citation
    assert licence.split(" (")[0] in (EXAMPLE / "README.md").read_text()


def write_sentences(chance, number):
    return " ".join(f"The {chance.choice(WORDS)} was near the {chance.choice(WORDS)}." for _ in range(number))


@pytest.mark.slow
def test_references_of_files_that_users_download_are_built(tmp_path):
    chance = random.Random(1)
    (tmp_path / "data" / "gutenberg").mkdir(parents=True)
    with (tmp_path / "data" / "arxiv-metadata-oai-snapshot.json").open("w") as file:
        for number in range(40):
            entry = {"id": f"0704.{number:04}", "title": "On rivers", "abstract": write_sentences(chance, 12)}
            file.write(json.dumps(entry | {"authors": "A. Author", "categories": "hep-ph"}) + "\n")
    for number in range(3):
        (tmp_path / "data" / "gutenberg" / f"book{number}.txt").write_text(write_sentences(chance, 700))
    command = [sys.executable, str(EXAMPLE / "build.py"), *DOWNLOADED, "--", "--critic", "tendencies", "--cores", "1"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    for name in DOWNLOADED:
        kept = read_kept(tmp_path / f"{name}.reference")
        about = {key: REFERENCES[name][key] for key in ("licence", "citation")}
        assert kept.header["about"] == about
        assert kept.header["critics"] == ["tendencies"]
    assert len(kept.header["profile"]["words"]) > 20
    assert set(kept.header["profile"]["words"]) == {400}
    abstracts = (tmp_path / "abstracts.jsonl").read_text().splitlines()
    assert len(abstracts) == 40
    assert "On rivers" not in abstracts[0]


def test_an_unknown_reference_is_named_with_the_others(tmp_path):
    command = [sys.executable, str(EXAMPLE / "build.py"), "poems"]
    said = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert said.returncode
    assert "'poems'" in said.stderr
    assert "short-stories" in said.stderr

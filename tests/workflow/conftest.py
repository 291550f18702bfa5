"""A whole run of the workflow."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from copy import copy, deepcopy
from pathlib import Path

import pytest
import yaml

from macroscope.files import REPOSITORY

from ..contract.case import cases
from ..tiny import simulated_documents, write_encoder, write_jsonl

CHECKOUT = ("Snakefile", "config.yaml", "pyproject.toml", "workflow", "profiles", "envs", "resources", "experiments")


def copy_checkout(folder: Path) -> Path:
    """Copy what a run needs of this checkout, so that tests may edit it.

    Bytecode and compiled functions are copied, too: half a minute of compiling.
    """
    for name in CHECKOUT:
        source = REPOSITORY / name
        if source.is_dir():
            # Other processes may be writing the files with an additional ending.
            ignored = shutil.ignore_patterns("*.egg-info", "*.pyc.*", "*.tmp.*")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    return folder


class Run:
    """A working directory with a config.

    Attributes
    ----------
    checkout, work
        Folders; the checkout is this one, or a copy for tests that edit it.
    reference, candidate, people
        Files: real texts, texts to judge, human judgements.
    config
        The config as a dict; `save` writes it.
    """

    def __init__(self, folder: Path, checkout: Path = REPOSITORY) -> None:
        self.checkout, self.work = checkout, folder / "work"
        self.reference = write_jsonl(self.work / "real.jsonl", simulated_documents("process", 160, 1))
        self.candidate = write_jsonl(self.work / "mine.jsonl", simulated_documents("shuffled", 40, 2), titles=False)
        self.people = self.work / "people.csv"
        options = {name: dict(case.options) for name, case in cases().items()}
        encoder = str(write_encoder(self.work / "encoder"))
        probing = {
            "corpus": "real",
            "reference": "real",
            "encoders": {"tiny": {"encoder": encoder, "max_tokens": 32}},
            "numbers_of_clusters": [4, 8],
        }
        self.config = {
            "run": "test",
            "cut_texts": ["Of lm, 6 texts were cut."],
            "statistics": {"resamples": 200, "permutations": 200},
            "corpora": {
                "real": {
                    "source": "files",
                    "files": [str(self.reference)],
                    "test_share": 0.2,
                    "filters": {"rare_titles": {"min_count": 2}},
                }
            },
            "systems": {
                "mine": {"kind": "files", "files": [str(self.candidate)]},
                "lm": {
                    "kind": "language_model",
                    "base": "tiny-gpt2",
                    "titles": False,
                    "context": 64,
                    "samples": 6,
                    "samples_per_shard": 3,
                    "max_tokens": 80,
                    "training": {"epochs": 1, "batch_size": 16, "learning_rate": 0.003, "evaluations": 1},
                },
                "lm-nucleus": {
                    "kind": "resampled",
                    "of": "lm",
                    "decoding": {"rule": "nucleus", "p": 0.9},
                    "samples_per_shard": 6,
                },
            },
            "critics": {
                "coherence": options["coherence"] | {"encoder": encoder},
                "tendencies": options["tendencies"],
                "clusters": options["clusters"] | {"encoder": encoder, "clustering": "shared", "probing": [probing]},
                "strings": options["strings"],
            },
            "comparisons": [
                {"corpus": "real", "systems": "all", "critics": ["coherence", "tendencies"]},
                {"corpus": "real", "systems": ["mine", "lm"], "critics": ["clusters", "strings"]},
            ],
        }
        self.save()

    def save(self) -> None:
        (self.work / "config.yaml").write_text(yaml.safe_dump(self.config, sort_keys=False))

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._call(["snakemake", "--snakefile", str(self.checkout / "Snakefile"), "--configfile"], arguments)

    def macroscope(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `macroscope run`, which makes a second pass without what failed."""
        return self._call(["macroscope", "run", "--config"], arguments)

    def _call(self, words: list[str], arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        command = [
            *(sys.executable, "-m", *words, str(self.work / "config.yaml")),
            *("--directory", str(self.work), "--cores", "2", "--nocolor", *arguments),
        ]
        environment = os.environ | {"PYTHONPATH": str(self.checkout / "workflow")}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def copied(self, work: Path) -> "Run":
        """The same with another working directory, a copy of this one with all results."""
        duplicate = copy(self)
        duplicate.work, duplicate.config = shutil.copytree(self.work, work), deepcopy(self.config)
        return duplicate

    def pending(self, *arguments: str) -> Counter[str]:
        """Jobs that a run would do now, by rule."""
        return self.jobs("--dry-run", *arguments)

    def jobs(self, *arguments: str) -> Counter[str]:
        """Jobs that a run does, by rule."""
        done = self.snakemake(*arguments)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
        output = done.stdout + done.stderr
        table = re.search(r"^job +count\n-+ +-+\n(.*?)\n\n", output, re.MULTILINE | re.DOTALL)
        if table is None:
            assert "Nothing to be done" in output, output
            return Counter()
        jobs = Counter({name: int(n) for name, n in (line.split() for line in table.group(1).splitlines())})
        del jobs["total"], jobs["all"]
        return jobs


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """A run that has finished, of a copy of the checkout."""
    folder = tmp_path_factory.mktemp("run")
    run = Run(folder, copy_checkout(folder / "checkout"))
    run.people.write_text("system,score\nlm,2.5\nmine,1.5\nlm-nucleus,3\n")
    run.config["human_judgements"] = [{"corpus": "real", "table": str(run.people)}]
    run.save()
    done = run.snakemake()
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return run

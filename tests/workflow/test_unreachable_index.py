"""The default run where the package index cannot be reached: it reports the rest, and says what it lacks."""

import pandas as pd
import pytest

from macroscope.errors import IN_PART

from .conftest import Run


@pytest.fixture
def without_index(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple/")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    run = Run(tmp_path)
    run.config["systems"] = {
        "shuffled": {"kind": "perturbation", "perturb": ["shuffle_words"]},
        "smollm2": {
            "kind": "language_model", "base": "smollm2-135m", "titles": False, "training": None, "samples": 4,
            "max_tokens": 20,
        },
    }  # fmt: skip
    run.config["corpora"]["encyclopedia"] = {"source": "wikipedia", "dump": "enwiki-sample"}
    critics = {"critics": ["strings"]}
    run.config["critics"] = {"strings": run.config["critics"]["strings"]}
    run.config["comparisons"] = [
        {"corpus": "real", "systems": ["smollm2", "shuffled"]} | critics,
        {"corpus": "encyclopedia", "systems": ["shuffled"]} | critics,
    ]
    run.save()
    return run


def test_the_run_reports_what_needs_no_package_and_says_what_is_missing(without_index):
    done = without_index.macroscope("--retries", "0")
    assert done.returncode == IN_PART, done.stdout[-3000:] + done.stderr[-3000:]
    missing = pd.read_csv(without_index.work / "results" / "test" / "tables" / "missing.csv", keep_default_na=False)
    assert {*zip(missing["corpus"], missing["system"], strict=True)} == {("encyclopedia", ""), ("real", "smollm2")}
    assert missing["reason"].str.contains(r"==[\d.]+ \(the package index could not be reached\)").all()
    assert "The report lacks corpus 'encyclopedia', system 'smollm2' on 'real'" in done.stderr
    assert (without_index.work / "results" / "test" / "report.html").exists()

"""Finished runs for tests of the gate: a table of statistics, a table of corpora, a config."""

import copy
import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from macroscope.gate.evaluate import evaluate_policy, match_systems
from macroscope.gate.policy import read_policy
from macroscope.runs.results import find_run
from macroscope.statistics.tidy import COLUMNS
from macroscope.tables import write_csv

SIGNATURE = "macroscope:0.1.0|critic:coherence|encoder:minilm|convention:definition|run_seed:1|confidence:0.95"
CONFIG = {
    "corpora": {"wiki": {"source": "files", "files": ["real.jsonl"], "filters": {"min_sections": 1}}},
    "systems": {"control": {"kind": "control", "split": "test"}, "lm": {"kind": "files"}},
    "statistics": {"confidence": 0.95},
}


def row(value, low, high, system="lm", statistic="latent_nll", critic="coherence", n=100, **others):
    """Return a row of tidy statistics with the signature of the critic."""
    signature = SIGNATURE.replace("coherence", critic)
    fixed = {"corpus": "wiki", "p_value": "", "n_reference": n, "n_candidate": n, "seed": 1, "reason": ""}
    names = {"system": system, "critic": critic, "statistic": statistic, "signature": signature}
    return {**fixed, **names, "value": value, "ci_low": low, "ci_high": high, **others}


def write_run(folder: Path, rows, config=None, tokens=1000):
    """Write the folder of a finished run, and return it."""
    (folder / "tables").mkdir(parents=True)
    write_csv(pd.DataFrame(rows, columns=list(COLUMNS)), folder / "tables" / "statistics.csv")
    corpora = pd.DataFrame([("wiki", "test", 100, tokens)], columns=["corpus", "split", "documents", "total_tokens"])
    write_csv(corpora, folder / "tables" / "corpora.csv")
    (folder / "config.json").write_text(json.dumps(copy.deepcopy(CONFIG) if config is None else config))
    return folder


@pytest.fixture
def gated(tmp_path):
    """Return a function that evaluates rules on the rows of a baseline and a candidate."""

    def call(before, after, *rules, **options):
        folders = [tmp_path / name for name in ("before", "after")]
        for folder, rows in zip(folders, (before, after), strict=True):
            if not folder.exists():
                write_run(folder, rows)
        path = tmp_path / "policy.yaml"
        path.write_text(yaml.safe_dump({"statistics": list(rules), **options}))
        return evaluate_policy(match_systems(find_run(str(folders[0])), find_run(str(folders[1]))), read_policy(path))

    return call


def rule(worse="higher", statistic="latent_nll", critic="coherence", **others):
    return {"critic": critic, "statistic": statistic, "worse": worse, **others}

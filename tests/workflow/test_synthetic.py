"""The synthetic experiment, small: who learns the structure of strings, and who only their next tokens."""

import pandas as pd
import pytest

from macroscope.files import read_json

from .conftest import Run

CORPUS = {"source": "simulated", "kind": "hsmm", "valid_share": 0.05, "test_share": 0.1}
TRAINING = {
    "windows": "documents", "epochs": 5, "batch_size": 32, "device_batch_size": 32, "learning_rate": 0.005,
    "warmup_share": 0.05, "evaluations": 3,
}  # fmt: skip


def systems(samples):
    """Return the systems, two of which have this many samples."""
    return {
        "control": {"kind": "control"},
        "process": {"kind": "simulated", "order": "process", "samples": 64},
        "transformer": {
            "kind": "language_model", "base": "tiny-symbols", "titles": False, "context": 64, "samples": samples,
            "samples_per_shard": samples, "batch_size": 200, "max_tokens": 120, "training": TRAINING,
        },
        "hsmm": {
            "kind": "hsmm", "states": 48, "longest": 5, "ngrams": 400, "segments": 12, "samples": samples,
            "fit": {"method": "em", "smoothing": 1, "batch_size": 256, "starts": 1},
        },
    }  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory, runs_of):
    """Strings, the systems that are trained on them, and their critic."""
    run = Run(tmp_path_factory.mktemp("synthetic"))
    run.config |= {
        "corpora": {"letters": CORPUS | {"documents": runs_of(3000)}},
        "systems": systems(runs_of(400)),
        "critics": {"synthetic": {"series": {"both": ["transformer", "hsmm"]}}},
        "comparisons": [{"corpus": "letters", "systems": ["transformer", "hsmm", "process"], "critics": ["synthetic"]}],
        "human_judgements": [],
    }
    run.save()
    done = run.snakemake()
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return run


@pytest.fixture(scope="module")
def headline(trained):
    return pd.read_csv(trained.work / "results" / "test" / "tables" / "headline.csv").set_index("system")


def of_critic(trained, system, statistic):
    folder = trained.work / "results" / "test" / "statistics" / "synthetic" / "letters"
    return pd.read_csv(folder / f"{system}.csv").set_index("statistic").loc[statistic]


@pytest.mark.all_runs
def test_the_right_class_of_models_learns_the_structure(trained):
    """Its latent PPL is within 10 % of the data's."""
    truth = read_json(trained.work / "results" / "test" / "critics" / "synthetic" / "letters" / "prior" / "truth.json")
    row = of_critic(trained, "hsmm", "latent_ppl_valid")
    assert 0.95 * truth["latent_ppl"] < row["value"] < 1.1 * truth["latent_ppl"]
    assert of_critic(trained, "hsmm", "valid_share")["value"] > 0.7


@pytest.mark.all_runs
def test_a_transformer_predicts_better_and_stays_above(trained, headline):
    """deng2022 §3, with intervals that do not meet: fewer surprises token by token, and less of the structure."""
    assert headline.at["transformer", "word_ppl"] < headline.at["hsmm", "word_ppl"]
    transformer, hsmm = (of_critic(trained, system, "latent_ppl_valid") for system in ("transformer", "hsmm"))
    assert transformer["ci_low"] > hsmm["ci_high"]
    assert transformer["p_value"] < 0.01


def test_the_process_is_told_from_nothing(trained, headline):
    assert headline.at["process", "synthetic_different"] == 0
    table = pd.read_csv(trained.work / "results" / "test" / "tables" / "known_truth.csv").set_index("system")
    row = table.loc["process"]
    assert row["estimate_low"] < row["truth"] < row["estimate_high"]


def test_the_report_has_its_chapter(trained):
    page = (trained.work / "results" / "test" / "pages" / "critic.synthetic.letters.html").read_text()
    for heading in ("Next-token prediction and structure", "Latent PPL over word PPL", "Validity of texts"):
        assert heading in page
    assert (trained.work / "results" / "test" / "figures" / "synthetic_curves_letters.svg").exists()

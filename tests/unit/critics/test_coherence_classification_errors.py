"""Latent PPL that classification errors alone give to real section orders."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.coherence.latents import Batch, LatentsInfo, write_batches
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import Priors, SectionPrior, count_transitions
from macroscope.critics.coherence.report import describe_reading, expected_ppl, explain_by_errors, scale_errors
from macroscope.critics.coherence.smoothing import Additive
from macroscope.critics.coherence.validation import write_confusion
from macroscope.critics.findings import Findings

TYPES = ("history", "geography", "economy", "sights")
ORDER = [0, 1, 2, 3]
CONFUSION = np.array([[0.9, 0.1, 0, 0], [0, 0.8, 0.2, 0], [0, 0, 1, 0], [0.1, 0, 0, 0.9]])


def make_prior():
    """Nearly all real documents have one order."""
    return SectionPrior(TYPES, count_transitions([ORDER] * 99 + [[1, 0, 2, 3]], 4), Additive(0.1))


def test_errors_keep_their_kinds_and_have_the_rate():
    scaled = scale_errors(CONFUSION, 0.3)
    assert scaled.sum(axis=1) == pytest.approx(np.ones(4))
    assert np.diag(scaled) == pytest.approx(np.full(4, 0.7))
    assert scaled[1] == pytest.approx([0, 0.7, 0.3, 0])
    assert scaled[2] == pytest.approx([0.1, 0.1, 0.7, 0.1])  # never wrong on validation sections: confused with any
    assert scale_errors(CONFUSION, 0.0) == pytest.approx(np.eye(4))


def test_the_expectation_is_that_of_a_classifier_that_errs_at_random():
    prior, rng = make_prior(), np.random.default_rng(0)
    confusion = scale_errors(CONFUSION, 0.25)
    inferred = [[rng.choice(4, p=confusion[state]) for state in ORDER] for _ in range(4000)]
    states, lengths = np.concatenate(inferred), np.full(4000, 4)
    nll = prior.nll(states, lengths)
    error = nll.std() / np.sqrt(4000) / 4
    assert np.log(expected_ppl([ORDER], prior, confusion)) == pytest.approx(nll.mean() / 4, abs=4 * error)


def write_findings(folder: Path, systems: dict[str, tuple[list[list[int]], float, bool]]) -> Findings:
    """Write prior, latents and statistics of systems: name -> (true orders, error rate, whether it has titles)."""
    prior, rng, rows = make_prior(), np.random.default_rng(1), []
    Priors(prior, prior, {}).save(folder / "prior")
    write_confusion(folder / "prior" / "confusion.json", CONFUSION)
    (folder / "latents").mkdir()
    for system, (orders, rate, titled) in systems.items():
        true = np.concatenate(orders)
        doubt = 0.45 if system == "doubtful-titled" else rate  # its most probable types are right, and hardly probable
        posterior = scale_errors(CONFUSION, doubt)[true].astype(np.float32)
        lengths = np.array([len(order) for order in orders])
        gold = [[TYPES[state] for state in order] if titled else None for order in orders]
        ids = [f"{system}-{n}" for n in range(len(orders))]
        batch = Batch(ids, [""] * len(ids), lengths, posterior, gold)
        write_batches(folder / "latents" / f"{system}.parquet", [batch], LatentsInfo(list(TYPES), "s"))
        ppl = float(np.exp(prior.expected_nll(posterior.astype(float), lengths).sum() / lengths.sum()))
        n, differs = len(orders), system != "control"
        about = {"system": system, "n_candidate": n, "p_adjusted": 0.001 if differs else np.nan}
        rows.append({**about, "statistic": "latent_ppl", "value": ppl, "ci_low": ppl * 0.97, "ci_high": ppl * 1.03})
        agrees = 1 - rate + rng.normal(0, 0.001) if titled else np.nan
        if system == "misnamed":  # its titles are in real orders and do not fit its sections
            agrees = 0.1
        rows.append({**about, "statistic": "title_agreement_share", "value": agrees})
        if titled:
            gold_ppl = float(np.exp(prior.nll(true, lengths).sum() / lengths.sum()))
            ends = {"value": gold_ppl, "ci_low": gold_ppl * 0.97, "ci_high": gold_ppl * 1.03}
            rows.append({**about, "statistic": "latent_ppl_gold", **ends})
    return Findings(
        "coherence", "c", folder, list(systems), pd.DataFrame(rows), CoherenceOptions(), 0.95, folder / "figures"
    )


@pytest.fixture
def judged(tmp_path):
    (tmp_path / "prior").mkdir()
    real, shuffled = [ORDER] * 60, [[2, 0, 3, 1]] * 60
    systems = {
        "control": (real, 0.1, True),
        "shuffled": (shuffled, 0.1, False),
        "blurred": (real, 0.35, False),
        "blurred-titled": (real, 0.35, True),
        "doubtful-titled": (real, 0.02, True),
        "shuffled-and-blurred": (shuffled, 0.35, True),
        "misnamed": ([[1, 0, 2, 3]] * 60, 0.1, True),
    }
    return explain_by_errors(write_findings(tmp_path, systems)).set_index("system")


def test_a_difference_in_order_is_not_explained_by_errors_and_a_difference_in_errors_is(judged):
    explained = judged["explained"].to_dict()
    assert explained == {
        "control": False,
        "shuffled": False,
        "blurred": True,
        "blurred-titled": True,
        "doubtful-titled": True,
        "shuffled-and-blurred": False,
        "misnamed": False,
    }


def test_real_text_has_the_latent_ppl_of_its_own_errors(judged):
    assert judged.loc["doubtful-titled", "by_errors_alone"] == pytest.approx(
        judged.loc["doubtful-titled", "latent_ppl"], rel=0.02
    )
    assert judged.loc["control", "by_errors_alone"] == pytest.approx(judged.loc["control", "latent_ppl"], rel=0.02)
    assert judged.loc["blurred", "by_errors_alone"] == pytest.approx(judged.loc["blurred", "latent_ppl"], rel=0.02)
    assert judged["error_rate"].drop("misnamed").to_dict() == pytest.approx(
        {
            "control": 0.1,
            "shuffled": 0.1,
            "blurred": 0.35,
            "blurred-titled": 0.35,
            "doubtful-titled": 0.02,
            "shuffled-and-blurred": 0.35,
        },
        abs=0.01,
    )


def test_the_verdict_names_the_reading_of_the_sections_and_what_a_classifier_sees(tmp_path):
    """Detected, with a latent PPL like real text's: the reading is the verdict if it differs from that of real text."""
    (tmp_path / "prior").mkdir()
    systems = {"control": ([ORDER] * 60, 0.1, True), "blurred": ([ORDER] * 60, 0.35, True)}
    findings = write_findings(tmp_path, systems)
    table = findings.statistics
    order = "may explain the latent PPL: their order is not shown to differ"
    assert describe_reading(findings, "blurred").endswith(f"{order}.")
    table.loc[(table["system"] == "blurred") & (table["statistic"] == "latent_ppl"), "p_adjusted"] = 0.5
    assert not explain_by_errors(findings)["explained"].any()
    table.loc[len(table)] = {
        "system": "blurred",
        "statistic": "c2st_auc",
        "value": 0.78,
        "ci_low": 0.71,
        "ci_high": 0.84,
    }
    assert explain_by_errors(findings)["explained"].tolist() == [False, True]
    assert f"{order}; a classifier tells them from real text in 78 % of pairs" in describe_reading(findings, "blurred")
    table.loc[(table["system"] == "blurred") & (table["statistic"] == "title_agreement_share"), "p_adjusted"] = 0.5
    assert not explain_by_errors(findings)["explained"].any()


def test_without_titles_a_less_sure_reading_may_explain_any_latent_ppl(tmp_path):
    (tmp_path / "prior").mkdir()
    findings = write_findings(tmp_path, {"control": ([ORDER] * 60, 0.1, True), "lm": ([[2, 0, 3, 1]] * 60, 0.1, False)})
    table = findings.statistics
    assert not explain_by_errors(findings)["explained"].any()
    for system, margin, p_adjusted in (("control", 0.8, np.nan), ("lm", 0.6, 0.01)):
        row = {"system": system, "statistic": "posterior_margin", "value": margin, "p_adjusted": p_adjusted}
        table.loc[len(table)] = row
    assert explain_by_errors(findings)["explained"].tolist() == [False, True]
    table.loc[len(table) - 1, "value"] = 0.9  # read more surely
    assert not explain_by_errors(findings)["explained"].any()

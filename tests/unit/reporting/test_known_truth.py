"""The scorecard on texts of known truth: graded damage is ranked in order, and 'like real text' needs enough texts."""

import numpy as np
import pytest

from macroscope.critics import critics
from macroscope.critics.two_sample_test import two_sample_tests
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.reporting.scorecard import INCONCLUSIVE, LIKE, UNLIKE, decide_verdict
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

from ...tiny import simulated_documents

MANY, FEW = 400, 40
MARGIN = 0.1


def damaged(documents, share, seed=0):
    """Duplicate a share of the words in every section."""
    rng = np.random.default_rng(seed)

    def twice(text):
        return " ".join(word + (f" {word}" if rng.random() < share else "") for word in text.split())

    return [Document(d.id, d.split, d.title, [Section(s.title, twice(s.text)) for s in d.sections]) for d in documents]


@pytest.fixture(scope="module")
def run_tests(tmp_path_factory):
    """Return a function that computes the rows of `c2st_auc` by the tendencies critic."""
    folder = tmp_path_factory.mktemp("truth")
    critic = critics()["tendencies"]

    def run(control, systems):
        files = {}
        for name, documents in {"control": control, **systems}.items():
            write_documents(folder / f"{name}.jsonl", documents, Provenance("truth", options={"language": "en"}))
            latents = folder / f"{name}.parquet"
            project = critic.stage("project").function(critic.package)
            texts = Collection(folder / f"{name}.jsonl")
            project(texts=texts, options=critic.options(), language="en", signature="", output=latents)
            files[name] = latents
        output = folder / "two_sample_test.csv"
        given = {"critic": "tendencies", "systems": list(files), "corpus": "c", "signature": ""}
        two_sample_tests(list(files.values()), [], output, **given, confidence=0.95, seed=1)
        table = read_csv(output)
        return table[table["statistic"] == C2ST_AUC].set_index("system")

    return run


def verdict(row):
    return decide_verdict(row["value"], row["ci_low"], row["ci_high"], MARGIN, int(row["p_value"] < SIGNIFICANT))


@pytest.mark.slow
def test_graded_damage_is_ranked_in_order_and_like_real_text_needs_enough_texts(run_tests):
    control = simulated_documents("process", MANY, 1)
    others = simulated_documents("process", MANY, 2)
    shares = {"none": 0.0, "slight": 0.02, "some": 0.06, "heavy": 0.2}
    rows = run_tests(control, {name: damaged(others, share) for name, share in shares.items()})
    values = rows["value"]
    assert values["none"] < values["slight"] < values["some"] < values["heavy"]
    assert verdict(rows.loc["none"]) == LIKE
    assert verdict(rows.loc["some"]) == UNLIKE
    assert verdict(rows.loc["heavy"]) == UNLIKE
    few = run_tests(control[:FEW], {"alike": others[:FEW]})
    assert verdict(few.loc["alike"]) == INCONCLUSIVE

"""The picture on texts of known truth: graded damage stands in its order, and likeness takes enough texts."""

import numpy as np
import pytest

from macroscope.critics import critics
from macroscope.critics.two_sample_test import Files, run_two_sample_tests
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.reporting.scorecard import INCONCLUSIVE, LIKE, UNLIKE, verdict_of
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.latent import Resampling
from macroscope.tables import read_csv

from ...tiny import simulated_documents

MANY, FEW = 400, 40
MARGIN = 0.1


def damaged(documents, share, seed=0):
    """Sections in which a share of the words is said twice."""
    rng = np.random.default_rng(seed)

    def twice(text):
        return " ".join(word + (f" {word}" if rng.random() < share else "") for word in text.split())

    return [Document(d.id, d.split, d.title, [Section(s.title, twice(s.text)) for s in d.sections]) for d in documents]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """(systems) -> rows of `c2st_auc` by the tendencies critic."""
    folder = tmp_path_factory.mktemp("truth")
    critic = critics()["tendencies"]

    def tell(control, systems):
        files = {}
        for name, documents in {"control": control, **systems}.items():
            write_documents(folder / f"{name}.jsonl", documents, Provenance("truth", options={"language": "en"}))
            latents = folder / f"{name}.parquet"
            run = critic.stage("project").function(critic.package)
            texts = Collection(folder / f"{name}.jsonl")
            run(texts=texts, options=critic.options(), language="en", signature="", output=latents)
            files[name] = Files(latents, None)
        output = folder / "two_sample_test.csv"
        run_two_sample_tests(critic, files, output, corpus="c", signature="", resampling=Resampling(0, 0, 0.95, 1))
        table = read_csv(output)
        return table[table["statistic"] == C2ST_AUC].set_index("system")

    return tell


def verdict(row):
    return verdict_of(row["value"], row["ci_low"], row["ci_high"], MARGIN)


def test_graded_damage_stands_in_its_order_and_likeness_takes_enough_texts(told):
    control = simulated_documents("process", MANY, 1)
    others = simulated_documents("process", MANY, 2)
    shares = {"none": 0.0, "slight": 0.02, "some": 0.06, "heavy": 0.2}
    found = told(control, {name: damaged(others, share) for name, share in shares.items()})
    values = found["value"]
    assert values["none"] < values["slight"] < values["some"] < values["heavy"]
    assert verdict(found.loc["none"]) == LIKE
    assert verdict(found.loc["some"]) == UNLIKE
    assert verdict(found.loc["heavy"]) == UNLIKE
    few = told(control[:FEW], {"alike": others[:FEW]})
    assert verdict(few.loc["alike"]) == INCONCLUSIVE

"""File of two-sample tests: features that decide a detectability above chance, and none for texts that are alike."""

import numpy as np

from macroscope.critics import critics
from macroscope.critics.two_sample_test import FEATURE, two_sample_tests
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.tables import read_csv

STRINGS = critics()["strings"]


def project(folder, name, texts):
    documents = [Document(f"{name}{n}", "test", None, [Section(None, text)]) for n, text in enumerate(texts)]
    write_documents(folder / f"{name}.jsonl", documents, Provenance("tests", options={"language": "en"}))
    latents = folder / f"{name}.parquet"
    STRINGS.stage("project").function(STRINGS.package)(texts=Collection(folder / f"{name}.jsonl"), output=latents)
    return latents


def test_what_decides_a_detectability_above_chance_is_named(tmp_path):
    rng = np.random.default_rng(0)

    def texts(end=""):
        return [" ".join(rng.choice([*"abcdefgh"], 12)) + end for _ in range(60)]

    latents = {
        "control": project(tmp_path, "control", texts()),
        "alike": project(tmp_path, "alike", texts()),
        "ends": project(tmp_path, "ends", texts(" <|im_end|>")),
    }
    output = tmp_path / "tests.csv"
    two_sample_tests(
        list(latents.values()),
        [],
        output,
        critic="strings",
        systems=list(latents),
        corpus="c",
        signature="",
        confidence=0.95,
        seed=1,
    )
    table = read_csv(output).fillna({FEATURE: ""})
    of_system = table.set_index("statistic").groupby("system")
    assert set(table.loc[table["system"] != "ends", FEATURE]) == {""}
    assert "c2st_auc_without" not in of_system.get_group("alike").index
    ends = of_system.get_group("ends")
    assert ends.loc["c2st_auc_share_1", FEATURE] == "“<|im_end|>”"
    assert ends.loc["c2st_auc", "ci_low"] > 0.5
    assert ends.loc["c2st_auc_without", "ci_low"] < 0.5 < ends.loc["c2st_auc_without", "ci_high"]
    assert ends["p_value"].notna().sum() == 2  # the detectability and the permutation test, as without reasons

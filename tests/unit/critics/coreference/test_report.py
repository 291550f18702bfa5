"""Warnings of the coreference critic in the report."""

import pandas as pd

from macroscope.critics.coreference.report import check_resolution, check_texts

RESOLUTION = {
    "documents": 100,
    "out_of_domain": 20,
    "failed": 0,
    "failed_documents": [],
    "invalid_mentions": 0,
    "mentions": 9000,
}


def test_warning_about_a_train_split_with_few_mentions():
    assert check_resolution(RESOLUTION, "rules") is None
    assert "has 1,999 mentions of persons" in check_resolution(RESOLUTION | {"mentions": 1999}, "rules")


def test_warning_names_a_resolver_that_fails_often():
    failed = RESOLUTION | {"failed": 5, "failed_documents": ["seven"]}
    warning = check_resolution(failed, "fastcoref")
    assert "'fastcoref' failed on 5 of 80 documents of the train split, such as seven" in warning
    assert check_resolution(failed | {"failed": 4}, "fastcoref") is None


def test_warning_names_systems_without_persons_or_with_invalid_mentions():
    rows = [
        ("control", "without_mentions_share", 0.1),
        ("german", "without_mentions_share", 0.94),
        ("shifted", "invalid_mention_share", 0.3),
        ("shifted", "unknown_surface_share", 0.01),
    ]
    statistics = pd.DataFrame(rows, columns=["system", "statistic", "value"])
    warning = check_texts(statistics)
    assert "german: 94 % of the texts have no mentions of persons" in warning
    assert "shifted: 30 % of the mentions are outside the text or cut words" in warning
    assert "control" not in warning
    assert check_texts(statistics.head(1)) is None

"""What the report warns of."""

import pandas as pd

from macroscope.critics.coreference.report import warning_of, warning_of_texts

RESOLUTION = {
    "documents": 100,
    "out_of_domain": 20,
    "failed": 0,
    "failed_documents": [],
    "invalid_mentions": 0,
    "mentions": 9000,
}


def test_a_train_split_with_few_mentions_is_warned_of():
    assert warning_of(RESOLUTION, "rules") is None
    assert "has 1,999 mentions of persons" in warning_of(RESOLUTION | {"mentions": 1999}, "rules")


def test_a_resolver_that_fails_often_is_warned_of_by_name():
    failed = RESOLUTION | {"failed": 5, "failed_documents": ["seven"]}
    found = warning_of(failed, "fastcoref")
    assert "'fastcoref' failed on 5 of 80 documents of the train split, such as seven" in found
    assert warning_of(failed | {"failed": 4}, "fastcoref") is None


def test_systems_whose_texts_are_about_nobody_or_whose_mentions_are_wrong_are_named():
    rows = [
        ("control", "without_mentions_share", 0.1),
        ("german", "without_mentions_share", 0.94),
        ("shifted", "invalid_mention_share", 0.3),
        ("shifted", "unknown_surface_share", 0.01),
    ]
    statistics = pd.DataFrame(rows, columns=["system", "statistic", "value"])
    found = warning_of_texts(statistics)
    assert "german: 94 % of the texts mention nobody" in found
    assert "shifted: 30 % of the mentions are outside of the text or cut words" in found
    assert "control" not in found
    assert warning_of_texts(statistics.head(1)) is None

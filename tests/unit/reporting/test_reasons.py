"""Features that decided verdicts: which cells have them, their names for readers, and the lines on a terminal."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.findings import ReportItem
from macroscope.critics.two_sample_test import FEATURE
from macroscope.options import SPLIT_HALF, matched_system
from macroscope.reporting.matched_length import MATCHED
from macroscope.reporting.reasons import FILE, MOST_SHOWN, describe_reasons, read_reasons, reasons_table, render_reasons
from macroscope.reporting.scorecard import INCONCLUSIVE, UNLIKE
from macroscope.statistics.decisive_features import SHARE, WITHOUT
from macroscope.tables import write_csv


def statistics(cells):
    """Return rows of decisive features: (system, critic) -> feature -> share."""
    rows = [
        ("c", system, critic, f"{SHARE}{rank}", share, np.nan, np.nan, feature)
        for (system, critic), shares in cells.items()
        for rank, (feature, share) in enumerate(shares.items(), 1)
    ]
    rows += [("c", system, critic, WITHOUT, 0.55, 0.45, 0.652, "") for system, critic in cells]
    rows.append(("c", "m", "strings", "c2st_auc", 0.9, 0.8, 0.95, ""))
    names = ["corpus", "system", "critic", "statistic", "value", "ci_low", "ci_high", FEATURE]
    return pd.DataFrame(rows, columns=names)


def scorecard(*cells):
    names = ["corpus", "system", "critic", "verdict", f"{MATCHED}_verdict"]
    return pd.DataFrame([("c", *cell) for cell in cells], columns=names)


FEATURES = {"“</s>”": 0.83, "words": 0.104}
REST = "the rest ({} %); 55 % [45, 65] by the rest alone"


def test_only_systems_that_are_unlike_real_text_have_reasons():
    table = reasons_table(
        scorecard(
            ("m", "strings", UNLIKE, None),
            ("m", "tendencies", INCONCLUSIVE, UNLIKE),
            (SPLIT_HALF, "strings", UNLIKE, None),
        ),
        statistics(
            {
                ("m", "strings"): FEATURES,
                ("m", "tendencies"): {"length": 0.9},
                (matched_system("m"), "tendencies"): {"duplicate_4grams": 0.9},
                (SPLIT_HALF, "strings"): FEATURES,
            }
        ),
        {},
    )
    assert table[["system", "critic", "feature", "share", "without", "without_high"]].to_numpy().tolist() == [
        ["m", "strings", "“</s>”", 0.83, 0.55, 0.652],
        ["m", "strings", "number of words", 0.104, 0.55, 0.652],
        ["m, at matched length", "tendencies", "repeated 4-grams (share)", 0.9, 0.55, 0.652],
    ]
    assert describe_reasons(table) == {
        ("c", "m", "strings"): f"“</s>” (83 %), number of words (10 %), {REST.format(7)}",
        ("c", "m, at matched length", "tendencies"): f"repeated 4-grams (90 %), {REST.format(10)}",
    }


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ((0.8, 0.413), "length (80 %), “a” (41 %), against the rest (−21 %);"),
        ((0.6, 0.404), "length (60 %), “a” (40 %);"),
    ],
)
def test_named_features_and_the_rest_add_up_to_the_whole(shares, words):
    table = reasons_table(
        scorecard(("m", "tendencies", UNLIKE, None)),
        statistics({("m", "tendencies"): dict(zip(("length", "“a”"), shares, strict=True))}),
        {},
    )
    assert describe_reasons(table)["c", "m", "tendencies"].startswith(words)


def test_classes_of_a_quantity_are_named_by_it():
    features = {"“discordant 0”": 0.5, "“strange 0”": 0.2}
    table = reasons_table(scorecard(("m", "narrative", UNLIKE, None)), statistics({("m", "narrative"): features}), {})
    assert table["feature"].tolist() == ["sentences out of place: class 0", "“strange 0”"]


def test_topics_are_named_by_their_words():
    topics = pd.DataFrame({"topic": [1, 0], "words": ["river water lake fish", "king queen court throne"]})
    table = reasons_table(
        scorecard(("m", "topics", UNLIKE, None)),
        statistics({("m", "topics"): {"topic_1": 0.5, "patchiness": 0.2}}),
        {("topics", "c"): [ReportItem("model", "The model"), ReportItem("topics", "The topics", topics)]},
    )
    assert table["feature"].tolist()[0] == "topic “river water lake”"
    assert table["feature"].tolist()[1].startswith("patchiness of the topics")


@pytest.mark.parametrize("systems", [2, MOST_SHOWN + 3])
def test_a_terminal_shows_a_line_per_cell_and_how_many_more_there_are(systems):
    names = [f"m{n}" for n in range(systems)]
    table = reasons_table(
        scorecard(*((name, "strings", UNLIKE, None) for name in names)),
        statistics({(name, "strings"): FEATURES for name in names}),
        {},
    )
    heading, *lines = render_reasons(table).splitlines()
    assert heading.endswith(":")
    assert lines[0] == f"  m0, strings: “</s>” (83 %), number of words (10 %), {REST.format(7)}"
    assert len(lines) == min(systems, MOST_SHOWN + 1)
    assert (lines[-1] == f"  and 3 more in tables/{FILE}") == (systems > MOST_SHOWN)
    of_two_corpora = pd.concat([table, table.assign(corpus="d")])
    assert render_reasons(of_two_corpora).splitlines()[1].startswith("  c, m0, strings: ")


def test_runs_without_a_verdict_unlike_have_no_table(tmp_path):
    assert render_reasons(read_reasons(tmp_path)) == ""
    table = reasons_table(scorecard(("m", "strings", UNLIKE, None)), statistics({("m", "strings"): FEATURES}), {})
    write_csv(table, tmp_path / FILE)
    pd.testing.assert_frame_equal(read_reasons(tmp_path), table)

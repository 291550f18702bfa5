"""Comparison by label for readers: adjusted p-values, verdicts, sentences, and labels with long names."""

from types import SimpleNamespace

import pandas as pd
import pytest

from macroscope.reporting.by_label import FILE, label_table, render_labels, show_labels
from macroscope.tables import write_csv

LONG = "a label with a name of many words, number"


def row(statistic, value, low=None, high=None, p=None, feature="", critic="strings"):
    return {
        **{"corpus": "c", "system": "gpt", "critic": critic, "statistic": statistic, "feature": feature},
        **{"value": value, "ci_low": low, "ci_high": high, "p_value": p, "n_reference": 20, "n_candidate": 30},
        "reason": "",
    }


def statistics(p_differs=0.01, p_mix=0.5):
    rows = [
        row("c2st_auc", 0.8, 0.7, 0.9, 0.001),
        row("c2st_auc_of_label_1", 0.9, 0.8, 0.95, 0.001, f"{LONG} 1"),
        row("c2st_auc_of_label_2", 0.6, 0.45, 0.75, 0.04, f"{LONG} 2"),
        row("c2st_auc_of_label_3", None, feature="poems"),
        row("c2st_auc_contrast_of_label_1", 0.3, 0.1, 0.5, p_differs, f"{LONG} 1"),
        row("c2st_auc_contrast_of_label_2", -0.3, -0.5, -0.1, p_differs, f"{LONG} 2"),
        row("c2st_auc_within_labels", 0.75, 0.65, 0.85),
        row("c2st_auc_differs_by_label", 0.3, p=p_differs),
        row("mix_of_labels", 0.25, p=p_mix),
    ]
    second = [row("c2st_auc_differs_by_label", 0.1, p=0.9, critic="topics")]
    return pd.DataFrame([*rows, *second]).astype({"value": float})


NO_CARD = pd.DataFrame({"corpus": [], "system": [], "critic": [], "verdict": []})


def show(tmp_path, table):
    write_csv(label_table(table, NO_CARD, 0.05), tmp_path / FILE)
    comparison = SimpleNamespace(by="genre", corpus="c")
    results = SimpleNamespace(config=SimpleNamespace(comparisons=[comparison]))
    return show_labels(results, table, tmp_path)


def test_tests_are_adjusted_over_labels_and_contrasts_over_critics():
    table = label_table(statistics(), NO_CARD, 0.05).set_index("label")
    assert table.loc[f"{LONG} 1", "p_adjusted"] == pytest.approx(0.002)
    assert table["verdict"].tolist() == ["unlike", "inconclusive", "too few texts"]
    assert table.loc[f"{LONG} 1", "contrast_p_adjusted"] == pytest.approx(0.02)
    assert (table[["mean", "mean_low", "mean_high"]] == [0.75, 0.65, 0.85]).all(axis=None)


def test_critics_that_are_not_usable_are_left_out():
    card = pd.DataFrame({"corpus": ["c"], "system": ["gpt"], "critic": ["strings"], "verdict": ["not usable"]})
    assert label_table(statistics(), card, 0.05).empty


def test_sentences_and_rows(tmp_path):
    view = show(tmp_path, statistics(p_mix=0.01))["c", "gpt"]
    assert "differ from real text more in" in view.sentences[0]
    assert "90 % [80, 95]" in view.sentences[0]
    assert "(60 %)" in view.sentences[0]
    assert "25 % of the texts would need another label" in view.sentences[1]
    assert "“poems” (20 and 30)" in view.sentences[2]
    assert len(view.table) == 4  # labels of equal beginnings have a row each, that with too few texts has none
    shown = render_labels({("c", str(n)): view for n in range(4)}, tmp_path)
    assert shown[-1] == f"Labels of 1 more system: {tmp_path / 'by_label.csv'}"


def test_a_system_a_critic_and_labels_may_have_equal_names(tmp_path):
    table = statistics().replace({"system": {"gpt": "strings"}, "feature": {f"{LONG} 1": "all texts"}})
    view = show(tmp_path, table)["c", "strings"]
    assert list(view.table.columns) == ["real texts", "strings", "strings"]
    assert view.table.index[0] == view.table.index[2] == "all texts"
    lines = view._replace(by="strings").render().splitlines()
    assert lines[0].split() == ["strings", "real", "texts", "strings", "strings"]
    assert "90 % [80, 95]" in lines[1]


def test_labels_are_text_even_if_all_are_digits(tmp_path):
    table = statistics().replace({"feature": {f"{LONG} 1": "007", f"{LONG} 2": "12", "poems": "3"}})
    assert [*show(tmp_path, table)["c", "gpt"].table.index][:2] == ["007", "12"]


def test_labels_that_do_not_differ_are_said(tmp_path):
    view = show(tmp_path, statistics(p_differs=0.4))["c", "gpt"]
    assert view.sentences[0].startswith("As far as this number of texts can tell")

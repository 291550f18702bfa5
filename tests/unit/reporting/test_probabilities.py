"""Correlations of estimated with true log-probabilities, over the seeds of a setting (pimentel2022, Figure 1)."""

import pandas as pd
import pytest

from macroscope.files import REPOSITORY
from macroscope.plan import load_plan
from macroscope.reporting.correlation_figures import plot_probabilities
from macroscope.reporting.tables import add_spread, find_setting
from macroscope.strict_yaml import read_yaml

VALUES = {"small-1": 0.2, "small-2": 0.4, "small-3": 0.6, "large": 0.9}


@pytest.fixture
def table():
    rows = [
        (
            "web",
            system,
            "strings",
            value,
            value - 0.1,
            value + 0.1,
            0.01,
            50,
            system.replace("2", "1").replace("3", "1"),
        )
        for system, value in VALUES.items()
    ]
    columns = ["corpus", "system", "estimate", "spearman", "ci_low", "ci_high", "p_value", "n", "setting"]
    return add_spread(pd.DataFrame(rows, columns=columns).assign(seed=1, signature="s"))


def test_systems_of_one_setting_have_its_mean_and_standard_deviation(table):
    rows = table.set_index("system")
    assert rows["seeds"].to_dict() == {"small-1": 3, "small-2": 3, "small-3": 3, "large": 1}
    assert rows.at["small-2", "seed_mean"] == pytest.approx(0.4)
    assert rows.at["small-2", "seed_sd"] == pytest.approx(0.2)
    assert rows.at["large", "seed_mean"] == 0.9
    assert pd.isna(rows.at["large", "seed_sd"])


def test_a_bar_is_the_spread_over_seeds_or_the_interval_over_texts(table):
    axes = plot_probabilities(table, "web").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["small-1 (3 seeds)", "large"]
    [bars] = axes.containers
    [segments] = [line.get_segments() for line in bars.lines[2]]
    assert sorted(tuple(segment[:, 0].round(3)) for segment in segments) == [(0.2, 0.6), (0.8, 1.0)]


def test_the_paper_has_four_models_with_five_seeds_each():
    """Nucleus sampling has no known log q(x); prompts of 35 tokens are a setting of their own."""
    plan = load_plan(read_yaml(REPOSITORY / "experiments" / "pimentel2022.yaml"))
    settings = {}
    for corpus, system in plan.reporting.contents.known_log_q:
        settings.setdefault(find_setting(plan.config, corpus, system), []).append(system)
    groups = [names for (corpus, *_), names in settings.items() if corpus == "webtext"]
    assert [len(names) for names in groups if not names[0].endswith("-tokens")] == [5, 5, 5, 5]
    assert groups[0] == [f"small-ancestral-{seed}" for seed in range(1, 6)]
    assert all(len(names) == 1 for names in groups if names[0].endswith("-tokens"))

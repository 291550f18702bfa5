"""Tidy statistics against human scores: the schema, what is left out and why, seeds, real text, the adjustment."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from macroscope.errors import MacroscopeError
from macroscope.judgements import Judgements
from macroscope.statistics.human import COLUMNS, correlate_statistics
from macroscope.statistics.latent import Resampling
from macroscope.statistics.multiplicity import benjamini_hochberg

SYSTEMS = ["a", "b", "c", "d", "e"]
SCORES = dict(zip(SYSTEMS, [5.0, 4.0, 3.0, 2.0, 1.0], strict=True))
JUDGEMENTS = Judgements("mine", {"fluent": SCORES | {"human": 9.0}, "coherent": {"a": 1, "b": 3, "c": 2, "d": 0}})
SAME = {system: system for system in SYSTEMS}
RESAMPLING = Resampling(permutations=999, seed=3)


def tidy(**values):
    """Statistics of one critic: name -> values of the systems."""
    rows = [
        {"critic": "clusters", "statistic": name, "system": system, "value": value}
        for name, some in values.items()
        for system, value in (some if isinstance(some, dict) else dict(zip(SYSTEMS, some, strict=True))).items()
    ]
    return pd.DataFrame(rows)


def correlated(statistics, mapping=SAME, question="fluent", **options):
    table = correlate_statistics(statistics, JUDGEMENTS, mapping, RESAMPLING, corpus="web", **options)
    return table[table["question"] == question].set_index("statistic")


def test_table_is_tidy():
    table = correlate_statistics(
        tidy(kl=[1, 2, 3, 4, 5], ppl=[2, 1, 4, 3, 5]), JUDGEMENTS, SAME, RESAMPLING, corpus="web"
    )
    assert tuple(table.columns) == COLUMNS
    assert list(table["question"]) == ["fluent", "fluent", "coherent", "coherent"]
    assert list(table["systems"]) == [5, 5, 4, 4]  # nobody scored e for coherence
    assert set(table["corpus"]) == {"web"}
    assert set(table["table"]) == {"mine"}
    assert set(table["seed"]) == {3}
    assert (table["reason"] == "").all()
    assert table["signature"].str.contains("permutations:999").all()
    assert table["spearman"].iloc[0] == -1
    assert table["spearman_abs"].iloc[0] == 1
    assert table["pearson"].iloc[1] == pytest.approx(stats.pearsonr([2, 1, 4, 3, 5], [5, 4, 3, 2, 1]).statistic)
    for coefficient in ("spearman", "pearson"):
        inside = table[f"{coefficient}_low"] <= table[coefficient] + 1e-12
        assert (inside & (table[coefficient] <= table[f"{coefficient}_high"] + 1e-12)).all()


def test_adjustment_is_over_the_statistics_of_a_question():
    rng = np.random.default_rng(0)
    table = correlate_statistics(tidy(**{f"s{k}": rng.normal(size=5) for k in range(20)}), JUDGEMENTS, SAME, RESAMPLING)
    for _, some in table.groupby("question"):
        for coefficient in ("spearman", "pearson"):
            adjusted = benjamini_hochberg(some[f"{coefficient}_p_value"])
            assert some[f"{coefficient}_p_adjusted"].to_numpy() == pytest.approx(adjusted)


def test_nothing_is_left_out_without_a_reason():
    statistics = tidy(
        kl=[1, 2, 3, 4, 5],
        ppl={"a": 1.0, "b": 2.0},
        gap=[1, np.nan, 3, 4, 5],
        same=[1, 1, 1, 1, 1],
        infinite=[1, 2, 3, 4, np.inf],
        of_real_text={"control": 1.0},
    )
    table = correlated(statistics)
    assert list(table.index) == ["kl", "ppl", "gap", "same", "infinite", "of_real_text"]
    assert dict(table["reason"]) == {
        "kl": "",
        "ppl": "no value for c, d, e",
        "gap": "no value for b",
        "same": "all systems have the same value",
        "infinite": "pearson: infinite for a system",
        "of_real_text": "no value for a, b, c and 2 more",
    }
    undefined = table.drop(index=["kl", "infinite"])
    assert undefined[[c for c in table if c.startswith(("spearman", "pearson"))]].isna().all(axis=None)
    assert table.at["infinite", "spearman"] == -1
    assert np.isnan(table.at["infinite", "pearson"])
    assert (correlated(statistics, question="coherent")["reason"]["ppl"]) == "no value for c, d"


def test_real_text_counts_where_the_control_has_a_value():
    values = dict(zip(SYSTEMS, [2.0, 1, 4, 3, 5], strict=True))
    statistics = tidy(ppl=values | {"control": 0.5}, kl=values, gap=values | {"control": np.nan})
    assert list(correlated(statistics)["systems"]) == [5, 5, 5]
    table = correlated(statistics, real_text="human")
    assert list(table["systems"]) == [6, 5, 5]
    expected = stats.spearmanr([2, 1, 4, 3, 5, 0.5], [5, 4, 3, 2, 1, 9]).statistic
    assert table.at["ppl", "spearman"] == pytest.approx(expected)
    assert table.at["kl", "spearman"] == correlated(statistics).at["kl", "spearman"]
    # Nobody scored the text by people for coherence.
    assert list(correlated(statistics, real_text="human", question="coherent")["systems"]) == [4, 4, 4]


def test_seeds_of_a_system_stand_in_groups():
    first, second = [1, 2, 3, 4, 5], [1, 3, 2, 4, 5]
    names = [f"{system}-{seed}" for seed in (1, 2) for system in SYSTEMS]
    mapping = {name: name[0] for name in names}
    statistics = tidy(kl=dict(zip(names, [*first, *second], strict=True)))
    row = correlated(statistics, mapping).loc["kl"]
    each = [correlated(tidy(kl=some)).at["kl", "spearman"] for some in (first, second)]
    assert (row["systems"], row["seeds"]) == (5, 2)
    assert row["spearman"] == pytest.approx(np.mean(each))
    assert row["spearman_seed_sd"] == pytest.approx(np.std(each, ddof=1))
    assert np.isnan(correlated(tidy(kl=first)).at["kl", "spearman_seed_sd"])
    missing = statistics[statistics["system"] != "c-2"]
    assert correlated(missing, mapping).at["kl", "reason"] == "no value for c-2"


def test_two_values_of_one_system_are_an_error():
    statistics = tidy(kl=[1, 2, 3, 4, 5])
    with pytest.raises(MacroscopeError, match="two values of clusters kl for 'a'"):
        correlated(pd.concat([statistics, statistics]))


def test_critics_are_told_apart():
    both = pd.concat([tidy(ppl=[1, 2, 3, 4, 5]), tidy(ppl=[5, 4, 3, 2, 1]).assign(critic="strings")])
    table = correlated(both).reset_index().set_index("critic")
    assert table.at["clusters", "spearman"] == -1
    assert table.at["strings", "spearman"] == 1

"""Summaries of powers: documents and doses needed, selectivity, sentences."""

import numpy as np
import pandas as pd
import pytest

from macroscope.reporting.sensitivity_summary import (
    add_changed,
    describe_critic,
    tabulate_d50,
    tabulate_n80,
    tabulate_selectivity,
    unseen_damages,
)


def cell(damage, dose, n, power, design="unpaired"):
    return ("strings", design, damage, dose, n, power, max(0, power - 0.1), min(1, power + 0.1))


POWERS = pd.DataFrame(
    [
        cell("none", 0.0, 30, 0.05),
        cell("none", 0.0, 100, 0.04),
        *(cell("shuffle_words", dose, n, power) for dose, n, power in
          [(0.1, 30, 0.3), (0.1, 100, 0.6), (0.25, 30, 0.7), (0.25, 100, 1.0)]),
        *(cell("drop_words", dose, n, 0.1) for dose in (0.1, 0.25) for n in (30, 100)),
        *(cell("replace_synonyms", dose, n, 0.05 if dose == 0.1 else 0.2) for dose in (0.1, 0.25) for n in (30, 100)),
    ],
    columns=["critic", "design", "damage", "dose", "n", "power", "ci_low", "ci_high"],
).assign(changed=1.0)  # fmt: skip


def test_documents_for_eighty_percent():
    n80 = tabulate_n80(POWERS).set_index(["damage", "dose"])
    assert n80.loc[("shuffle_words", 0.25), "n80"] == pytest.approx(30 * (100 / 30) ** (1 / 3))
    assert np.isinf(n80.loc[("shuffle_words", 0.1), "n80"])
    assert (n80["n_largest"] == 100).all()


def test_dose_for_half_of_the_comparisons():
    d50 = tabulate_d50(POWERS).set_index("damage")
    assert d50.loc["shuffle_words", "d50"] == pytest.approx(0.1 * (0.5 - 0.05) / (0.6 - 0.05))
    assert np.isinf(d50.loc["drop_words", "d50"])


def test_selectivity_is_the_power_beyond_that_of_the_harmless_twin():
    selectivity = tabulate_selectivity(POWERS, 0.95).set_index(["damage", "dose"])
    row = selectivity.loc[("shuffle_words", 0.25)]
    assert row["selectivity"] == pytest.approx(0.8)
    assert row["selectivity_low"] < 0.8 < row["selectivity_high"]
    assert ("replace_synonyms", 0.25) not in selectivity.index


def test_sentences_say_what_is_found_and_what_is_not():
    assert describe_critic(POWERS, "strings", "unpaired") == (
        "At a dose of 25%, it finds, with the documents that it needs: shuffle words (45). With 100 documents, it does"
        " not find: drop words. Real text against other real text: 4.0% false alarms."
    )
    assert unseen_damages(POWERS, "unpaired") == ["drop_words"]


def test_a_damage_that_such_texts_cannot_have_is_neither_found_nor_missed():
    counts = pd.DataFrame(
        [
            (name, dose, 100, 95 if name == "drop_words" else 0)
            for name in ("shuffle_words", "drop_words")
            for dose in (0.1, 0.25)
        ],
        columns=["damage", "dose", "documents", "undamaged"],
    )
    powers = add_changed(POWERS.drop(columns="changed"), counts)
    assert powers.groupby("damage")["changed"].first().to_dict() == pytest.approx(
        {"none": 0, "shuffle_words": 1, "drop_words": 0.05, "replace_synonyms": 0}
    )
    assert {*tabulate_n80(powers)["damage"]} == {"shuffle_words"}
    assert unseen_damages(powers, "unpaired") == []


def test_a_damage_of_a_collection_counts_however_few_documents_it_changes():
    powers = pd.DataFrame([cell("duplicate_documents", 0.1, 30, 0.1)], columns=POWERS.columns[:-1]).assign(changed=0.1)
    assert unseen_damages(powers, "unpaired") == ["duplicate_documents"]

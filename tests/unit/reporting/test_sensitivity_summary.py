"""Summaries of powers: documents and doses needed, selectivity, sentences."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.two_sample_test import POWER_COLUMNS
from macroscope.errors import MacroscopeError
from macroscope.options import SPLIT_HALF
from macroscope.reporting.scorecard import LIKE, UNLIKE
from macroscope.reporting.sensitivity_summary import (
    add_changed,
    cite_matrix,
    cite_sensitivity,
    describe_critic,
    read_matrix,
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


SIGNATURE = "critic:tendencies|unit:document|run_seed:1|repeats:200"


def matrix():
    cells = [
        *(("none", 0.0, n, 0.05) for n in (30, 50, 100)),
        *(("drop_words", 0.25, n, power) for n, power in ((30, 0.7), (50, 0.85), (100, 1))),
        *(("shuffle_sentences", 0.25, n, power) for n, power in ((30, 0.05), (50, 0.06), (100, 0.9))),
        *(("replace_synonyms", 0.25, n, 1) for n in (30, 50, 100)),
        *(("swap_numbers", 0.25, n, 0.05) for n in (30, 50, 100)),  # of texts without numbers
        *(("drop_words", 0.5, n, 1) for n in (30, 50, 100)),
    ]
    table = pd.DataFrame(cells, columns=["damage", "dose", "n", "power"])
    table = table.assign(critic="tendencies", design="unpaired", signature=SIGNATURE, changed=1.0)
    table.loc[table["damage"] == "swap_numbers", "changed"] = 0.01
    paired = table.assign(design="paired", power=1.0)
    return pd.concat([table, paired], ignore_index=True).reindex(columns=[*POWER_COLUMNS, "changed"])


def scorecard(*rows):
    columns = ["corpus", "system", "critic", "verdict", "n_reference", "n_candidate", "signature"]
    return pd.DataFrame(rows, columns=columns)


def cited_cell(system, verdict=LIKE, n=80, critic="tendencies", signature=SIGNATURE):
    return ("real", system, critic, verdict, 120, n, f"macroscope:0.1.0|{signature}")


def test_it_cites_the_power_among_as_many_texts_at_the_usual_dose():
    cells = scorecard(
        cited_cell("mine"), cited_cell("other", n=60), cited_cell("bad", UNLIKE, n=10), cited_cell(SPLIT_HALF, n=5)
    )
    assert cite_matrix(matrix(), cells) == [
        "tendencies: mine, other are like real text. Among 50 texts per side with a dose of 25%, it would have found:"
        " drop words. It would have missed: shuffle sentences."
    ]


def test_a_critic_or_a_size_that_the_matrix_lacks_is_named():
    assert cite_matrix(matrix(), scorecard(cited_cell("mine", critic="strings"), cited_cell("few", n=20))) == [
        "strings: mine is like real text. The cited matrix has no power of this critic for 80 texts or fewer.",
        "tendencies: few is like real text. The cited matrix has no power of this critic for 20 texts or fewer.",
    ]


def test_other_options_of_the_critic_are_named():
    (sentence,) = cite_matrix(matrix(), scorecard(cited_cell("mine", signature=SIGNATURE.replace("document", "line"))))
    assert sentence.endswith("The matrix is of this critic with other options.")


def test_without_a_matrix_there_is_nothing_to_cite():
    assert cite_sensitivity(None, scorecard(cited_cell("mine"))) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "no column 'corpus'"),
        (",".join([*POWER_COLUMNS, "changed"]) + "\n", "it has no rows"),
        ("", "not a readable table"),
        (None, "matrix.csv: No such file or directory; give"),
    ],
)
def test_another_file_is_refused(tmp_path, content, message):
    path = tmp_path / "matrix.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(MacroscopeError, match=message):
        read_matrix(path)

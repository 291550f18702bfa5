"""Sentences about what a critic would have found that calls a system like real text."""

import pandas as pd
import pytest

from macroscope.critics.two_sample_test import POWER_COLUMNS
from macroscope.errors import MacroscopeError
from macroscope.options import SPLIT_HALF
from macroscope.reporting.cited_sensitivity import cite_matrix, cite_sensitivity, read_matrix
from macroscope.reporting.scorecard import LIKE, UNLIKE

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


def cell(system, verdict=LIKE, n=80, critic="tendencies", signature=SIGNATURE):
    return ("real", system, critic, verdict, 120, n, f"macroscope:0.1.0|{signature}")


def test_it_cites_the_power_among_as_many_texts_at_the_usual_dose():
    cells = scorecard(cell("mine"), cell("other", n=60), cell("bad", UNLIKE, n=10), cell(SPLIT_HALF, n=5))
    assert cite_matrix(matrix(), cells) == [
        "tendencies: mine, other are like real text. Among 50 texts per side with a dose of 25%, it would have found:"
        " drop words. It would have missed: shuffle sentences."
    ]


def test_a_critic_or_a_size_that_the_matrix_lacks_is_named():
    assert cite_matrix(matrix(), scorecard(cell("mine", critic="strings"), cell("few", n=20))) == [
        "strings: mine is like real text. The cited matrix has no power of this critic for 80 texts or fewer.",
        "tendencies: few is like real text. The cited matrix has no power of this critic for 20 texts or fewer.",
    ]


def test_other_options_of_the_critic_are_named():
    (sentence,) = cite_matrix(matrix(), scorecard(cell("mine", signature=SIGNATURE.replace("document", "line"))))
    assert sentence.endswith("The matrix is of this critic with other options.")


def test_without_a_matrix_there_is_nothing_to_cite():
    assert cite_sensitivity(None, scorecard(cell("mine"))) == []


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

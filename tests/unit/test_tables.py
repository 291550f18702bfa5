"""CSV that a spreadsheet opens without running anything, and that reads back as it was."""

import csv

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.errors import MacroscopeError
from macroscope.tables import read_csv, write_csv, write_output

HOSTILE = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "'=1+1",
    "''-x",
    "\t=1",
    "\t",
    "  ",
    "-",
    "=",
    "plain",
    "a=b",
    "'quoted'",
]


def cells(path):
    with path.open(newline="") as stream:
        return [row["text"] for row in csv.DictReader(stream)]


def test_no_cell_is_a_formula(tmp_path):
    table = pd.DataFrame({"text": HOSTILE, "number": [-1.5] * len(HOSTILE)})
    write_csv(table, tmp_path / "table.csv")
    assert not [cell for cell in cells(tmp_path / "table.csv") if len(cell) > 1 and cell[0] in "=+-@\t\r"]
    pd.testing.assert_frame_equal(read_csv(tmp_path / "table.csv"), table, check_dtype=False)
    assert pd.read_csv(tmp_path / "table.csv")["number"].eq(-1.5).all()


def test_negative_numbers_stand_as_they_are(tmp_path):
    numbers = ["-1.06", "-1.9e-05", "-1.9 × 10⁻⁵", "-14.9 [-15.9, -13.9]", "-6.5 [-7.5, 1,200] *"]
    write_csv(pd.DataFrame({"text": [*numbers, "-2+3", "-1 [=x]"]}), tmp_path / "table.csv")
    assert cells(tmp_path / "table.csv") == [*numbers, "'-2+3", "'-1 [=x]"]
    assert read_csv(tmp_path / "table.csv")["text"].tolist() == [*numbers, "-2+3", "-1 [=x]"]


@pytest.mark.slow
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1), min_size=1))
def test_any_text_reads_back(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    write_csv(pd.DataFrame({"text": texts}), path)
    assert read_csv(path, keep_default_na=False, dtype=str)["text"].tolist() == texts


@pytest.mark.parametrize("names", [["null", "NA"], ["007", "1e5"], ["2023", "2024"], ["True", "False"], ["'-1", "=x"]])
def test_names_are_read_as_they_stand(tmp_path, names):
    table = pd.DataFrame({"corpus": names, "system": names, "id": names, "value": [0.5, None]})
    write_csv(table, tmp_path / "table.csv")
    read = read_csv(tmp_path / "table.csv")
    assert [read[name].tolist() for name in ("corpus", "system", "id")] == [names] * 3
    assert read["value"].isna().tolist() == [False, True]


COLUMNS = [[1, 2], [0.5, None], [True, False], [None, None], [], ["a", None], ["a", 1], pd.Categorical(["a", "b"])]


@pytest.mark.parametrize("column", COLUMNS)
def test_what_is_no_formula_stays(tmp_path, column):
    table = pd.DataFrame({"x": column})
    write_csv(table, tmp_path / "a.csv")
    table.to_csv(tmp_path / "b.csv", index=False)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("dtype", ["str", "string", object, "category", "string[pyarrow]"])
def test_texts_of_any_type(tmp_path, dtype):
    write_csv(pd.DataFrame({"x": pd.Series(["=1+1", "b", None], dtype=dtype)}), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == 'x\n\'=1+1\nb\n""\n'


def test_a_table_for_a_user_replaces_only_such_tables(tmp_path):
    table, path = pd.DataFrame({"system": ["a"], "value": [1.5]}), tmp_path / "out.csv"
    for _ in range(2):
        write_output(table, path)
    path.write_text("system,score\nmine,3\n")
    with pytest.raises(MacroscopeError, match=r"out\.csv: exists, and is not an earlier output"):
        write_output(table, path)
    assert path.read_text() == "system,score\nmine,3\n"

"""Tests of the columns of any two tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.columns import compare_columns, read_columns

FEW = Resampling(resamples=500, permutations=999, seed=3)


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    reference = pd.DataFrame(
        {"id": [f"r{n}" for n in range(60)], "x": rng.normal(0, 1, 60), "same": 1.0, "kind": list("uv" * 30)}
    )
    candidate = pd.DataFrame(
        {"id": [f"c{n}" for n in range(50)], "x": rng.normal(1, 1, 50), "same": 1.0, "kind": list("uw" * 25)}
    )
    return reference, candidate


def test_every_number_of_both_tables_is_compared(tables):
    table = compare_columns(*tables, None, FEW).set_index(["column", "statistic"])
    reference, candidate = tables
    assert set(table.index.get_level_values("column")) == {"x", "same"}
    assert table.at[("x", "mean_difference"), "value"] == pytest.approx(candidate["x"].mean() - reference["x"].mean())
    assert table.at[("x", "mean_difference"), "p_value"] == 0.001
    assert table.at[("x", "mean_difference"), "ci_low"] > 0
    assert table.at[("x", "ks"), "value"] == pytest.approx(stats.ks_2samp(candidate["x"], reference["x"]).statistic)
    assert table.at[("same", "mean_difference"), "p_value"] == 1
    assert table.at[("same", "ks"), "p_value"] == 1
    assert table.at[("x", "ks"), "n_reference"] == 60
    assert table.at[("x", "ks"), "n_candidate"] == 50


def test_text_is_compared_as_categories(tables):
    table = compare_columns(*tables, ["kind"], FEW).set_index("statistic")
    assert table.at["tvd_half_l1", "value"] == pytest.approx(0.5)
    assert table.at["tvd_half_l1", "p_value"] == 0.001
    assert table.at["jensen_shannon", "p_value"] == 0.001
    assert table.at["mauve", "value"] < 1


def test_missing_values_do_not_count_and_an_empty_side_has_its_reason(tables):
    reference, candidate = tables
    candidate = candidate.assign(x=np.nan)
    table = compare_columns(reference, candidate, ["x"], FEW)
    assert (table["n_candidate"] == 0).all()
    assert table["value"].isna().all()
    assert (table["reason"] == "no value in the candidate").all()


def test_one_value_has_defined_results(tables):
    reference, candidate = tables
    table = compare_columns(reference, candidate.head(1), ["x"], FEW).set_index("statistic")
    assert 0 < table.at["mean_difference", "p_value"] <= 1
    assert np.isnan(table.at["hedges_g", "value"])
    assert table.at["hedges_g", "reason"] == "too few or too equal values"


def test_unknown_columns_and_files_are_one_sentence(tables, tmp_path):
    with pytest.raises(MacroscopeError, match="the reference has no column 'knd'; did you mean 'kind'"):
        compare_columns(*tables, ["knd"], FEW)
    with pytest.raises(MacroscopeError, match="no column of numbers in common"):
        compare_columns(tables[0][["kind"]], tables[1][["kind"]], None, FEW)
    with pytest.raises(MacroscopeError, match="no such file"):
        read_columns(tmp_path / "no.csv")


def test_different_types_are_an_error_of_one_sentence(tables):
    reference, candidate = tables
    with pytest.raises(MacroscopeError, match="column 'x' is numbers in the reference and text in the candidate"):
        compare_columns(reference, candidate.assign(x="a"), ["x"], FEW)


def test_invalid_tables_are_an_error_of_one_sentence(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "not.parquet").write_text("hello")
    for name in ("empty.csv", "not.parquet"):
        with pytest.raises(MacroscopeError, match="not a table"):
            read_columns(tmp_path / name)


def test_infinite_values_leave_statistics_of_order(tables):
    reference, candidate = tables
    candidate = candidate.assign(x=candidate["x"].where(candidate.index > 2, np.inf))
    table = compare_columns(reference, candidate, ["x"], FEW).set_index("statistic")
    assert table.loc[["ks", "cliffs_delta"], "value"].notna().all()
    assert (table.loc[["mean", "mean_difference", "hedges_g"], "reason"] == "infinite values").all()


def test_rows_of_the_same_id_are_paired():
    rng = np.random.default_rng(4)
    prompts = rng.normal(0, 10, 60)
    reference = pd.DataFrame({"id": range(60), "x": prompts})
    candidate = pd.DataFrame({"id": range(60), "x": prompts + rng.normal(0.5, 0.3, 60)}).sample(frac=1, random_state=1)
    paired = compare_columns(reference, candidate, ["x"], FEW).set_index("statistic")
    unpaired = compare_columns(reference.drop(columns="id"), candidate, ["x"], FEW).set_index("statistic")
    assert paired.at["mean_difference", "p_value"] == 0.001
    assert unpaired.at["mean_difference", "p_value"] > 0.5
    assert paired.at["mean_difference", "ci_low"] > 0 > unpaired.at["mean_difference", "ci_low"]


def test_an_empty_column_has_the_type_of_the_other_and_numeric_keys_are_not_compared():
    reference = pd.DataFrame({"id": [1, 2, 3], "kind": ["u", "v", "u"], "x": [1.0, 2.0, 3.0]})
    candidate = pd.DataFrame({"id": [1, 2, 3], "kind": [None] * 3, "x": [1.0, 2.0, 4.0]})
    table = compare_columns(reference, candidate, ["kind"], FEW)
    assert table["value"].isna().all()
    assert set(table["reason"]) == {"no value in the candidate"}
    assert set(compare_columns(reference, candidate, None, FEW)["column"]) == {"x"}


def test_a_column_that_is_text_in_one_table_is_an_error(tables):
    reference, candidate = tables
    texts = reference.assign(x=reference["x"].astype(str))
    for sides, kinds in (
        ((texts, candidate), "text in the reference"),
        ((candidate, texts), "numbers in the reference"),
    ):
        with pytest.raises(MacroscopeError, match=f"column 'x' is {kinds}"):
            compare_columns(*sides, None, FEW)


def test_csv_is_read_literally(tmp_path):
    (tmp_path / "A.CSV").write_text("id,x,kind\n007,1,None\n008,NA,a\n,3,\n")
    table = read_columns(tmp_path / "A.CSV")
    assert table["kind"].tolist()[:2] == ["None", "a"]
    assert table["kind"].isna().tolist() == [False, False, True]
    assert table["x"].isna().tolist() == [False, True, False]
    assert table["id"].tolist()[:2] == ["007", "008"]
    (tmp_path / "two.csv").write_text("id,x,x\n1,2,3\n")
    with pytest.raises(MacroscopeError, match=r"two\.csv: two columns are called 'x'; rename one"):
        read_columns(tmp_path / "two.csv")


def test_ids_match_across_formats(tmp_path):
    pd.DataFrame({"id": [1, 2], "x": [0.0, 1.0]}).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("id,x\n1,0\n2,1\n")
    assert [read_columns(tmp_path / name)["id"].tolist() for name in ("a.parquet", "b.csv")] == [["1", "2"]] * 2

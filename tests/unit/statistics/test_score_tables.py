"""Further numbers of documents: columns of scores that are compared with those of real text."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.features import read_score_features
from macroscope.options import Resampling
from macroscope.reporting.reader.index import CriticScores
from macroscope.statistics.latent import compare_score_files
from macroscope.statistics.score_tables import list_document_numbers, read_category_counts, read_document_numbers

RESAMPLING = Resampling(200, 199, 0.95, 1)


def write_scores(path, number, start=0):
    names = [f"d{start + n}" for n in range(len(number))]
    table = pd.DataFrame({"id": names, "opening": "", "nll": 2.0, "units": 2.0, "entropy": 0.0, "number_wit": number})
    table.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    real = np.append(np.linspace(0, 1, 40), np.nan)
    return write_scores(folder / "control.parquet", real), write_scores(folder / "mine.parquet", real + 2, 100)


def compare(control, mine, tmp_path):
    about = {"corpus": "c", "critic": "k", "signature": "s", "resampling": RESAMPLING}
    compare_score_files(control, mine, tmp_path / "table.csv", system="mine", **about)
    return pd.read_csv(tmp_path / "table.csv").set_index("statistic")


def test_numbers_are_compared_with_those_of_real_text(scores, tmp_path):
    table = compare(*scores, tmp_path)
    assert table.at["wit_mean", "value"] == pytest.approx(2.5)
    difference = table.loc["wit_mean_difference"]
    assert difference["value"] == pytest.approx(2)
    assert difference["ci_low"] < 2 < difference["ci_high"]
    assert difference["p_value"] == pytest.approx(1 / 200)
    assert table.at["wit_ks", "value"] == 1


def test_documents_without_a_number_do_not_count(scores, tmp_path):
    table = compare(*scores, tmp_path)
    assert table.loc["wit_mean_difference", ["n_reference", "n_candidate"]].tolist() == [40, 40]
    assert table.loc["latent_nll", ["n_reference", "n_candidate"]].tolist() == [41, 41]


def test_real_text_itself_has_a_mean_alone(scores, tmp_path):
    table = compare(scores[0], scores[0], tmp_path)
    assert [name for name in table.index if name.startswith("wit")] == ["wit_mean"]
    assert (table.at["wit_mean", "value"], table.at["wit_mean", "n_candidate"]) == (pytest.approx(0.5), 40)


def test_a_collection_without_any_number_has_the_reason(scores, tmp_path):
    none = write_scores(tmp_path / "none.parquet", np.full(5, np.nan), 200)
    table = compare(scores[0], none, tmp_path)
    assert np.isnan(table.at["wit_mean_difference", "value"])
    assert table.at["wit_mean_difference", "reason"] == "no value in the candidate"


def test_numbers_have_names_and_are_features(scores):
    assert list_document_numbers(scores[0]) == ["wit"]
    assert list(read_document_numbers(scores[0]).columns) == ["id", "opening", "wit"]
    features = read_score_features(scores[0], scores[0])
    assert features.numbers[0].tolist() == [1, 2, 0, 0]
    assert np.isnan(features.numbers[40, 3])


def test_the_reader_ranks_numbers_among_those_of_other_real_texts(scores):
    ids = ["d100", "d140", "d101"]
    numbers = CriticScores.read_numbers(scores[1], scores[0], ids)["wit"]
    assert numbers.scores[0] == 2
    assert np.isnan(numbers.scores[1])
    assert (numbers.below[0], numbers.real) == (40, 40)
    assert CriticScores.read_numbers(scores[0], scores[0], ["d0"])["wit"].real == 39


def test_counts_are_those_of_the_lists_and_null_is_left_out(tmp_path):
    rng = np.random.default_rng(0)
    sides = []
    for number in range(2):
        lists = [rng.choice(list("abcdef"), rng.integers(0, 6)).tolist() for _ in range(50)]
        lists[3] = None
        table = pd.DataFrame({"id": [f"{number}.{i}" for i in range(50)], "nll": 1.0, "categories": lists})
        table.to_parquet(tmp_path / f"{number}.parquet", row_group_size=7)
        sides.append(table)
    counts = read_category_counts(tmp_path / "0.parquet", tmp_path / "1.parquet")
    evaluated = [table[table["categories"].notna()] for table in sides]
    names = list(
        dict.fromkeys(
            name for table in evaluated for names_of_document in table["categories"] for name in names_of_document
        )
    )
    for counts_of_file, table in zip(counts, evaluated, strict=True):
        assert counts_of_file.keys["id"].tolist() == table["id"].tolist()
        expected = [[Counter(names_of_document)[name] for name in names] for names_of_document in table["categories"]]
        assert counts_of_file.counts.toarray().tolist() == expected
        assert counts_of_file.counts.has_canonical_format


def test_further_texts_of_a_prompt_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr("macroscope.statistics.document_groups.FEWEST_PROMPTS", 1)
    table = pd.DataFrame({"id": ["a", "a (sample 2)", "b"], "categories": [["x"], ["y"], ["x", "y"]]})
    table.to_parquet(tmp_path / "s.parquet")
    [counts] = read_category_counts(tmp_path / "s.parquet")
    assert counts.keys["id"].tolist() == ["a", "b"]
    assert counts.counts.toarray().tolist() == [[1, 0], [1, 1]]

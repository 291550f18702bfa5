"""Categories of scores as counts, against plain Python."""

from collections import Counter

import numpy as np
import pandas as pd

from macroscope.statistics.category_counts import read_category_counts


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

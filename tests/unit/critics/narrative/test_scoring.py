"""Tests of T(x) from detectors' probabilities."""

from math import log

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.narrative.latents import INCOHERENCE, LATENTS, OPERATING_POINT, ORDER, ORDER_MODEL
from macroscope.critics.narrative.operating_point import OperatingPoint
from macroscope.critics.narrative.scoring import score
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.statistics.score_tables import list_document_numbers, read_document_numbers

POINTS = {
    "missing": OperatingPoint(0.5, 0.2, [0.05 * n for n in range(1, 10)], 100),
    "discordant": OperatingPoint(0.25, 0.1, [0.1 * n for n in range(1, 10)], 100),
}


def write(folder, rows, tasks=("missing", "discordant"), orders=None):
    """Write latents from rows (sentences, cut, missing, discordant), and operating points into the folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = ["sentences", "cut", "missing", "discordant"]
    data = {"id": [f"t{n}" for n in range(len(rows))], "opening": [""] * len(rows)}
    data |= {name: [row[place] for row in rows] for place, name in enumerate(columns)}
    data |= {name: orders or [None] * len(rows) for name in (ORDER, INCOHERENCE)}
    pq.write_table(pa.Table.from_pydict(data, LATENTS), folder / "latents.parquet")
    for task in tasks:
        (folder / task).mkdir()
        write_json(folder / task / OPERATING_POINT, vars(POINTS[task]))
    return folder / "latents.parquet"


def scored(folder, rows, tasks=("missing", "discordant")):
    score(write(folder, rows, tasks), folder, output=folder / "scores.parquet")
    return pd.read_parquet(folder / "scores.parquet")


def rows(number=30):
    rng = np.random.default_rng(0)
    records = []
    for _ in range(number):
        size = int(rng.integers(2, 9))
        records.append((size, int(rng.integers(size)), rng.random(size - 1).tolist(), rng.random(size).tolist()))
    return [*records, (2, 0, [0.0], [1.0, 0.0])]


def test_t_is_the_cross_entropy_with_the_prior(tmp_path):
    given = rows()
    table = scored(tmp_path, given)
    for (_, _, missing, discordant), row in zip(given, table.to_dict("records"), strict=True):
        total = 0.0
        for task, values in (("missing", missing), ("discordant", discordant)):
            e = POINTS[task].expected
            nll = -sum(p * log(e) + (1 - p) * log(1 - e) for p in values)
            assert row[f"nll_{task}"] == pytest.approx(nll, rel=1e-5)
            assert row[f"units_{task}"] == row[f"of_{task}"] == len(values)
            assert row[f"count_{task}"] == sum(p >= POINTS[task].threshold for p in values)
            total += nll
        assert row["nll"] == pytest.approx(total, rel=1e-5)
        assert row["units"] == len(missing) + len(discordant)


def test_entropy_and_divergence_add_up_to_t(tmp_path):
    given = rows()
    table = scored(tmp_path, given)
    assert table["nll"].to_numpy() == pytest.approx((table["entropy"] + table["kl"]).to_numpy())
    assert (table["kl"] >= -1e-9).all()
    entropy = [-sum(x * log(x) for p in (*m, *d) for x in (p, 1 - p) if x > 0) for _, _, m, d in given]
    assert table["entropy"].to_numpy() == pytest.approx(entropy, abs=1e-5)


def test_divergence_is_0_if_the_posterior_is_the_prior(tmp_path):
    table = scored(tmp_path, [(4, 0, [0.2] * 3, [0.1] * 4)])
    assert table["kl"].item() == pytest.approx(0, abs=1e-6)


def test_a_narrative_of_one_sentence_is_counted_and_not_scored(tmp_path):
    table = scored(tmp_path, [(3, 2, [0.1, 0.2], [0.1, 0.2, 0.3]), (1, 1, [], []), (0, 0, [], [])])
    assert table["count_too_short"].tolist() == [0, 1, 1]
    assert table["of_too_short"].tolist() == [1, 1, 1]
    unscored = table.loc[1:, ["nll", "units", "entropy", "kl", "nll_missing", "of_missing", "count_discordant"]]
    assert unscored.isna().all(axis=None)
    assert table["categories"].tolist()[1:] == [None, None]
    assert table["count_cut_sentence"].tolist()[:2] == [2, 1]
    assert np.isnan(table["of_cut_sentence"][2])


def test_places_have_classes_of_probability(tmp_path):
    table = scored(tmp_path, [(3, 0, [0.01, 0.99], [0.15, 0.95, 0.5])])
    expected = ["missing 0", "missing 9", "discordant 1", "discordant 9", "discordant 5"]
    assert table["categories"][0].tolist() == expected


def test_a_task_that_the_critic_does_not_have_is_left_out(tmp_path):
    table = scored(tmp_path, [(3, 0, [0.1, 0.2], None)], tasks=("missing",))
    assert "nll_discordant" not in table
    assert table["units"].item() == 2


def test_missing_latents_give_a_clear_error(tmp_path):
    with pytest.raises(MacroscopeError, match="no documents to score"):
        score(write(tmp_path, []), tmp_path, output=tmp_path / "s.parquet")
    with pytest.raises(MacroscopeError, match="no such file of latents"):
        score(tmp_path / "none.parquet", tmp_path, output=tmp_path / "s.parquet")


def test_the_order_is_a_number_of_a_text_if_there_is_a_model_of_it(tmp_path):
    orders = [None, *np.random.default_rng(0).normal(size=30)]
    latents = write(tmp_path, rows(), orders=orders)
    score(latents, tmp_path, output=tmp_path / "without.parquet")
    assert list_document_numbers(tmp_path / "without.parquet") == []
    (tmp_path / ORDER_MODEL).touch()
    score(latents, tmp_path, output=tmp_path / "with.parquet")
    numbers = read_document_numbers(tmp_path / "with.parquet")[ORDER]
    assert numbers.to_numpy() == pytest.approx(np.array(orders, dtype=float), nan_ok=True)

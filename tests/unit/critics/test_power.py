"""The stage that measures power: the accuracy over pairs, from the scores that critics attribute to documents."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.attributions import Attribution, write_attributions
from macroscope.critics.power import PAIRS, measure_powers
from macroscope.options import CONTROL
from macroscope.reporting.sensitivity_summary import tabulate_pairs

from .test_run_stage import scores

IDS = [f"{CONTROL}-{n}" for n in range(12)]


def pairs(folder, attributions):
    """Return the matrix's columns of pairs for one damage, of collections with the same latents."""
    latents = scores(folder / f"{CONTROL}.parquet", 0, rows=12)
    measure_powers(
        *([latents, latents], [latents, latents], folder / "powers.csv"),
        **{"all_attributions": attributions, "critic": "coherence", "systems": [CONTROL, "damaged"], "corpus": "real"},
        **{"signature": "", "confidence": 0.95, "seed": 1, "damages": [("damaged", "truncate", 0.5)]},
        **{"sizes": [5, 6], "repeats": 20},
    )
    return pd.read_csv(folder / "powers.csv")


@pytest.mark.slow
def test_texts_are_paired_with_the_real_texts_of_their_ids(tmp_path):
    real, damaged = tmp_path / "real.parquet", tmp_path / "damaged.parquet"
    numbers = np.arange(12.0)
    write_attributions(map(Attribution, IDS, numbers), real)
    # In another order: eight larger, two equal, one smaller, one not judged; and a text without a real one.
    steps = np.array([1.0] * 8 + [0.0, 0.0, -1.0, np.nan])
    rows = [*map(Attribution, IDS, numbers + steps), Attribution("new", 99.0)]
    write_attributions(rows[::-1], damaged)
    table = pairs(tmp_path, [real, damaged])
    assert table.loc[table["damage"] == "none", "n_pairs"].tolist() == [0, 0]
    summary = tabulate_pairs(table.assign(changed=1.0))
    assert summary[["damage", "pair_accuracy", "n_pairs", "n_ties"]].values.tolist() == [["truncate", 9 / 11, 11, 2]]


def test_a_critic_without_attributions_has_no_pairs(tmp_path):
    table = pairs(tmp_path, [])
    assert (table["n_pairs"] == 0).all()
    assert table[list(PAIRS[:3])].isna().all(axis=None)
    assert tabulate_pairs(table.assign(changed=1.0)).empty

"""Evidence of the tendencies: what the figures and tables of one system show."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from macroscope.critics.tendencies.evidence import tabulate_ranks
from macroscope.critics.tendencies.latents import TokenCounts


def _collection(counts):
    return TokenCounts(pd.DataFrame(), pd.Index(range(len(counts))), sparse.csr_matrix([counts]), 1)


def test_ranks_of_equal_collections_are_those_of_all_tokens():
    table = tabulate_ranks(_collection([1, 3, 4]), _collection([6, 0, 2]), seed=1)
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["candidate_share"].tolist() == pytest.approx([0.75, 0.25, np.nan], nan_ok=True)
    assert table["reference_share"].tolist() == pytest.approx([0.5, 0.375, 0.125])


def test_ranks_of_one_process_agree_at_any_sizes():
    """With all tokens, the ranks of a collection ten times as large would end at a rank more than twice as large."""
    rng = np.random.default_rng(1)
    law = np.arange(1, 20_001) ** -1.0
    real, system = (rng.multinomial(tokens, law / law.sum()) for tokens in (100_000, 10_000))
    table = tabulate_ranks(_collection(real), _collection(system), seed=1)
    last = table[["candidate_share", "reference_share"]].notna().sum()
    assert (np.count_nonzero(real) / np.count_nonzero(system)) > 2
    assert table["rank"][last["reference_share"] - 1] == pytest.approx(
        table["rank"][last["candidate_share"] - 1], rel=0.1
    )
    common = table.dropna().query("rank <= 100")
    assert common["candidate_share"].to_numpy() == pytest.approx(common["reference_share"].to_numpy(), rel=0.2)


def test_without_tokens_there_are_no_ranks():
    assert tabulate_ranks(_collection([1]), _collection([0]), seed=1).empty
    assert tabulate_ranks(_collection([0]), _collection([1]), seed=1).empty

"""The picture: verdicts, the order of systems, and what a person reads."""

import numpy as np
import pandas as pd
import pytest

from macroscope.config.options import SPLIT_HALF
from macroscope.reporting.picture import (
    COLUMNS,
    INCONCLUSIVE,
    LIKE,
    NOT_USABLE,
    TOO_FEW,
    UNLIKE,
    legend,
    matrices,
    percent,
    picture_text,
    read_off,
    verdict_of,
)


@pytest.mark.parametrize(
    ("estimate", "verdict"),
    [
        ((0.9, 0.8, 0.95), UNLIKE),
        ((0.5, 0.45, 0.55), LIKE),
        ((0.56, 0.52, 0.59), LIKE),  # a difference, but smaller than the margin
        ((0.56, 0.45, 0.66), INCONCLUSIVE),
        ((0.6, 0.51, 0.69), UNLIKE),
        ((0.5, 0.4, 0.6), LIKE),
        ((np.nan, np.nan, np.nan), TOO_FEW),
    ],
)
def test_verdicts(estimate, verdict):
    assert verdict_of(*estimate, 0.1) == verdict


def cells():
    rows = [
        ("wiki", "good", "coherence", LIKE, 0.5, 0.45, 0.55),
        ("wiki", "bad", "coherence", UNLIKE, 0.994, 0.97, 0.999),
        ("wiki", "bad", "topics", NOT_USABLE, 0.2, 0.1, 0.3),
        ("wiki", SPLIT_HALF, "coherence", INCONCLUSIVE, 0.6, 0.4, 0.75),
        ("web", "tiny", "coherence", TOO_FEW, np.nan, np.nan, np.nan),
    ]
    table = pd.DataFrame(rows, columns=["corpus", "system", "critic", "verdict", "told_apart", "ci_low", "ci_high"])
    return table.reindex(columns=list(COLUMNS))


def test_the_least_like_real_text_comes_first_and_real_text_last():
    wiki, web = matrices(cells())
    assert list(wiki.rows) == ["bad", "good", SPLIT_HALF]
    assert wiki.systems == ["bad", "good"]
    assert wiki.critics == ["coherence", "topics"]
    assert list(web.rows) == ["tiny"]


def test_standings_take_all_critics_together():
    rows = [
        ("one-unlike", "a", UNLIKE),
        ("one-unlike", "b", LIKE),
        ("all-like", "a", LIKE),
        ("all-like", "b", NOT_USABLE),
    ]
    rows += [("open", "a", LIKE), ("open", "b", INCONCLUSIVE), ("none", "a", TOO_FEW), (SPLIT_HALF, "a", LIKE)]
    table = pd.DataFrame(rows, columns=["system", "critic", "verdict"]).reindex(columns=list(COLUMNS))
    table = table.assign(corpus="wiki", n_candidate=range(len(rows)), n_reference=7)
    (wiki,) = matrices(table)
    assert wiki.standings(UNLIKE) == ["one-unlike"]
    assert wiki.standings(LIKE) == ["all-like"]
    assert set(wiki.standings(INCONCLUSIVE)) == {"open", "none"}
    assert (wiki.documents, wiki.texts("one-unlike")) == (7, 1)
    assert wiki.judged("all-like", NOT_USABLE) == ["b"]


def test_what_is_read_off():
    found = [read_off(row) for _, row in cells().iterrows()]
    assert found == ["≈ 50 % [45, 55]", "≠ 99 % [97, > 99]", "– not usable", "? 60 % [40, 75]", "– too few texts"]


def test_certainty_is_not_rounded_up():
    assert [percent(share) for share in (1.0, 0.9999, 0.994, 0.0)] == ["100", "> 99", "99", "0"]


def test_text_version_names_every_system_and_what_the_signs_mean():
    text = picture_text(cells())
    for word in ("bad", "good", "real text against itself", "tiny", "wiki", "web"):
        assert word in text
    assert all(sign in legend(0.1) for sign in "≠≈?")
    assert "10 points" in legend(0.1)

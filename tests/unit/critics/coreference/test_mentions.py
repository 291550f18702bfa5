"""Mentions that another resolver found: read in any order, and what is wrong with them said in one sentence."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

from macroscope.critics.coreference import projection
from macroscope.critics.coreference.mentions import Mention, Resolved, read_resolved, write_resolved
from macroscope.critics.coreference.options import Domain
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from tests.unit.critics.coreference.test_projection import FILES, of_text, projected


def test_mentions_of_ones_own_in_any_order(tmp_path):
    documents = of_text("Ann left. She ran.", "Nobody.", "It fails.")
    found = [
        Resolved("2", error="too long"),
        Resolved("unasked", (0,)),
        Resolved("1", (0,)),
        Resolved("0", (0, 10), (Mention(0, 3, 0, 3, 7, False, True), Mention(10, 13, 10, 13, 7, True, True))),
    ]
    write_resolved(tmp_path / "mentions.parquet", found)
    assert list(read_resolved(tmp_path / "mentions.parquet")) == found
    table = projected(tmp_path, documents, FILES, tmp_path / "mentions.parquet")
    assert [list(some) for some in table["surfaces"]] == [[".", "Female", ".", "She"], ["."], []]
    assert table["error"].isna().tolist() == [True, True, False]
    assert table["error"].iloc[2] == "too long"


def test_mentions_that_lack_a_document_are_one_sentence(tmp_path):
    write_resolved(tmp_path / "mentions.parquet", [Resolved("0", (0,))])
    with pytest.raises(MacroscopeError, match="no mentions of document '1'"):
        projected(tmp_path, of_text("Ann.", "Bob."), FILES, tmp_path / "mentions.parquet")


def test_mentions_of_others_do_not_pile_up(tmp_path):
    """Of documents that are not looked at, nothing is kept."""
    documents = [Document(str(n), "test", None, (Section(None, "film" if n % 9 == 0 else "x"),)) for n in range(90)]
    write_resolved(tmp_path / "mentions.parquet", [Resolved(str(n), (0,)) for n in range(90)])
    options = FILES.model_copy(update={"domain": Domain(pattern="film")})
    found = projection.resolver_of(options, tmp_path / "mentions.parquet", [d.id for d in documents])
    projection.latents_of(documents, found, options)
    assert not found.waiting
    assert len(found.passed) < 9  # those behind the last one that was looked at


def test_mentions_that_are_there_twice_are_one_sentence(tmp_path):
    write_resolved(tmp_path / "mentions.parquet", [Resolved("1", (0,)), Resolved("1", (0,)), Resolved("0", (0,))])
    with pytest.raises(MacroscopeError, match="document '1' is there twice"):
        projected(tmp_path, of_text("Ann.", "Bob."), FILES, tmp_path / "mentions.parquet")


def test_a_null_among_sentence_starts_is_one_sentence(tmp_path):
    table = projection.pa.Table.from_pylist([{"id": "0", "sentence_starts": [0, None], "mentions": []}])
    pq.write_table(table, tmp_path / "mentions.parquet")
    with pytest.raises(MacroscopeError, match="a null among 'sentence_starts'"):
        projected(tmp_path, of_text("Ann."), FILES, tmp_path / "mentions.parquet")


def test_a_file_that_is_none_of_mentions_is_one_sentence(tmp_path):
    pd.DataFrame({"id": ["0"]}).to_parquet(tmp_path / "mentions.parquet")
    with pytest.raises(MacroscopeError, match="no column 'sentence_starts'"):
        projected(tmp_path, of_text("Ann."), FILES, tmp_path / "mentions.parquet")
    (tmp_path / "mentions.parquet").write_text("no")
    with pytest.raises(MacroscopeError, match="not a readable Parquet file"):
        projected(tmp_path, of_text("Ann."), FILES, tmp_path / "mentions.parquet")

"""Mentions of external resolvers: order of documents, and error messages."""

import pandas as pd
import pyarrow.parquet as pq
import pytest

from macroscope.critics.coreference import projection
from macroscope.critics.coreference.mentions import Mention, Resolved, read_resolved
from macroscope.critics.coreference.options import Domain
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from tests.unit.critics.coreference.test_projection import FILES, make_documents, project_documents

from .mention_files import write_resolved


def test_external_mentions_in_any_order(tmp_path):
    documents = make_documents("Ann left. She ran.", "Nobody.", "It fails.")
    resolved = [
        Resolved("2", error="too long"),
        Resolved("unasked", (0,)),
        Resolved("1", (0,)),
        Resolved("0", (0, 10), (Mention(0, 3, 0, 3, 7, False, True), Mention(10, 13, 10, 13, 7, True, True))),
    ]
    write_resolved(tmp_path / "mentions.parquet", resolved)
    assert list(read_resolved(tmp_path / "mentions.parquet")) == resolved
    table = project_documents(tmp_path, documents, FILES, tmp_path / "mentions.parquet")
    assert [list(surfaces) for surfaces in table["surfaces"]] == [[".", "Female", ".", "She"], ["."], []]
    assert table["error"].isna().tolist() == [True, True, False]
    assert table["error"].iloc[2] == "too long"


def test_a_missing_document_raises_one_sentence(tmp_path):
    write_resolved(tmp_path / "mentions.parquet", [Resolved("0", (0,))])
    with pytest.raises(MacroscopeError, match="no mentions of document '1'"):
        project_documents(tmp_path, make_documents("Ann.", "Bob."), FILES, tmp_path / "mentions.parquet")


def test_skipped_documents_do_not_accumulate(tmp_path):
    """Mentions of documents outside the domain are discarded."""
    documents = [Document(str(n), "test", None, (Section(None, "film" if n % 9 == 0 else "x"),)) for n in range(90)]
    write_resolved(tmp_path / "mentions.parquet", [Resolved(str(n), (0,)) for n in range(90)])
    options = FILES.model_copy(update={"domain": Domain(pattern="film")})
    resolver = projection.make_resolver(options, tmp_path / "mentions.parquet", [d.id for d in documents])
    projection.compute_latents(documents, resolver, options)
    assert not resolver.waiting
    assert len(resolver.passed) < 9  # those after the last document in the domain


def test_a_duplicate_document_raises_one_sentence(tmp_path):
    write_resolved(tmp_path / "mentions.parquet", [Resolved("1", (0,)), Resolved("1", (0,)), Resolved("0", (0,))])
    with pytest.raises(MacroscopeError, match="document '1' is there twice"):
        project_documents(tmp_path, make_documents("Ann.", "Bob."), FILES, tmp_path / "mentions.parquet")


def test_a_null_among_sentence_starts_raises_one_sentence(tmp_path):
    table = projection.pa.Table.from_pylist([{"id": "0", "sentence_starts": [0, None], "mentions": []}])
    pq.write_table(table, tmp_path / "mentions.parquet")
    with pytest.raises(MacroscopeError, match="a null among 'sentence_starts'"):
        project_documents(tmp_path, make_documents("Ann."), FILES, tmp_path / "mentions.parquet")


def test_another_file_raises_one_sentence(tmp_path):
    pd.DataFrame({"id": ["0"]}).to_parquet(tmp_path / "mentions.parquet")
    with pytest.raises(MacroscopeError, match="no column 'sentence_starts'"):
        project_documents(tmp_path, make_documents("Ann."), FILES, tmp_path / "mentions.parquet")
    (tmp_path / "mentions.parquet").write_text("no")
    with pytest.raises(MacroscopeError, match="not a readable Parquet file"):
        project_documents(tmp_path, make_documents("Ann."), FILES, tmp_path / "mentions.parquet")

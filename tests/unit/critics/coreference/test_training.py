"""Resolution of the train split: processes are started for several batches only."""

import pyarrow as pa

from macroscope.critics.coreference import training
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.documents import Document, Provenance, Section, write_documents


def test_one_batch_is_resolved_without_further_processes(tmp_path, monkeypatch):
    documents = [Document(str(n), "train", None, (Section(None, "Anna met Tom. She liked him."),)) for n in range(3)]
    write_documents(tmp_path / "documents.parquet", documents, Provenance("x"))
    monkeypatch.setattr(training, "ProcessPoolExecutor", None)
    tables = training._resolve_in_parts(tmp_path / "documents.parquet", None, CoreferenceOptions(), 2, tmp_path)
    assert pa.concat_tables(tables).column("id").to_pylist() == ["0", "1", "2"]

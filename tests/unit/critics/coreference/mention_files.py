"""Files of mentions, as an external resolver writes them."""

from dataclasses import asdict

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.coreference.mentions import SCHEMA


def write_resolved(path, documents):
    rows = [
        {
            "id": document.id,
            "sentence_starts": document.sentence_starts,
            "mentions": [asdict(mention) for mention in document.mentions],
            "error": document.error,
        }
        for document in documents
    ]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)

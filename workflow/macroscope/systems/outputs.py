"""Checks of the samples that a stage of a kind of system wrote, built-in or plug-in."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from macroscope.documents import SCHEMA, SPLITS, read_provenance
from macroscope.errors import MacroscopeError


def check_samples(kind: str, output: Path) -> None:
    """Check that a file holds samples: the columns of documents, unique ids, known splits, sections, a provenance.

    A wrong file is removed, so that no later job trusts it.

    Raises
    ------
    MacroscopeError
        If it is wrong, with the kind and the first fault.
    """
    try:
        fault = _find_fault(output)
        if not fault:
            read_provenance(output)
    except (MacroscopeError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
        fault = str(error)
    if fault:
        output.unlink(missing_ok=True)
        raise MacroscopeError(
            f"the stage 'generate' of the kind '{kind}' wrote a wrong output, {output}: {fault}; write it by"
            " `macroscope.documents.write_documents`"
        )


def _find_fault(path: Path) -> str:
    """Return what is wrong with a file of samples; "" if nothing is."""
    schema = pq.read_schema(path)
    for field in SCHEMA:
        if field.name not in schema.names:
            return f"it has no column '{field.name}'"
        if schema.field(field.name).type != field.type:
            return f"the column '{field.name}' has the type {schema.field(field.name).type}, not {field.type}"
    ids = pq.read_table(path, columns=["id", "split"])
    if ids["id"].null_count or (pc.any(pc.equal(ids["id"], "")).as_py() or False):
        return "a document has no id"
    if len(pc.unique(ids["id"])) < len(ids):
        return f"{len(ids):,} documents have {len(pc.unique(ids['id'])):,} ids; ids must be unique"
    if unknown := set(pc.unique(ids["split"]).to_pylist()) - {*SPLITS}:
        return f"the split {min(map(repr, unknown))} is not one of {', '.join(SPLITS)}"
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=["sections"]):
            if pc.min(pc.fill_null(pc.list_value_length(batch["sections"]), 0)).as_py() == 0:
                return "a document has no sections"
            batch.validate(full=True)  # texts are UTF-8
    return ""

"""The chains of the train split, which the prior is learnt from: resolved in parts, by several processes."""

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.coreference import CRITIC
from macroscope.critics.coreference.latents import LATENTS
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.projection import latents_of, resolver_of
from macroscope.documents import DOCUMENTS_AT_ONCE, Document, in_batches, read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.progress import Progress

NAMED = 100
"""Documents that are named, at most, of those on which the resolver failed."""


def train(
    documents: Path,
    mentions: Path | None = None,
    *,
    options: CoreferenceOptions,
    threads: int,
    checkpoints: Path,
    output: Path,
) -> None:
    """Resolve the train split.

    Writes into the folder `output`: chains.parquet (latents; see `macroscope.critics.coreference.latents`), and
    resolution.json (documents, out_of_domain, failed, failed_documents by name, invalid_mentions, mentions).

    Parameters
    ----------
    mentions
        What another resolver found, if not the rules resolve.
    threads
        Processes at work.
    checkpoints
        Folder of the parts that are finished: a killed job goes on there.
    """
    checkpoints.mkdir(parents=True, exist_ok=True)
    counts = {"documents": 0, "out_of_domain": 0, "failed": 0, "invalid_mentions": 0, "mentions": 0}
    failed: list[str] = []
    with atomic(output) as folder:
        folder.mkdir()
        with (
            pq.ParquetWriter(folder / "chains.parquet", LATENTS, compression="zstd") as writer,
            Progress("resolve coreference in the train split", unit="documents") as progress,
        ):
            for table in _parts(documents, mentions, options, threads, checkpoints):
                writer.write_table(table)
                progress.advance(len(table))
                _count(table, counts, failed)
        if not counts["mentions"]:
            if counts["documents"] == counts["out_of_domain"]:
                raise MacroscopeError(
                    f"{documents}: none of the {counts['documents']} documents of the train split is of the domain; is"
                    " 'domain' of the coreference critic what you mean?"
                )
            raise MacroscopeError(
                f"{documents}: nobody is mentioned in the {counts['documents']} documents of the train split"
                f" ({counts['out_of_domain']} are not of the domain, on {counts['failed']} the resolver failed); the"
                " coreference critic needs texts about persons"
            )
        write_json(folder / "resolution.json", counts | {"failed_documents": failed})
    shutil.rmtree(checkpoints, ignore_errors=True)


def _parts(
    documents: Path, mentions: Path | None, options: CoreferenceOptions, threads: int, checkpoints: Path
) -> Iterator[pa.Table]:
    """Latents of the train split, some documents at a time and in their order."""
    batches = in_batches(read_documents(documents, "train"), DOCUMENTS_AT_ONCE)
    if mentions is not None:  # the file of mentions is read from its beginning to its end
        table = pq.read_table(documents, columns=["id", "split"], filters=[("split", "=", "train")])
        ids = table.column("id").to_pylist()
        resolve = resolver_of(options, mentions, ids)
        yield from (latents_of(batch, resolve, options) for batch in batches)
        return
    resolve_part = partial(_part, options=options, checkpoints=checkpoints, code=_code())
    if threads == 1:
        yield from map(resolve_part, batches)
        return
    with ProcessPoolExecutor(threads, mp_context=get_context("spawn")) as pool:
        while some := list(islice(batches, 2 * threads)):
            yield from pool.map(resolve_part, some)


def _part(documents: Sequence[Document], options: CoreferenceOptions, checkpoints: Path, code: str) -> pa.Table:
    """Latents of some documents; from the checkpoints where they are there."""
    what = repr([(document.id, document.text) for document in documents]) + options.model_dump_json() + code
    path = checkpoints / f"{sha256(what.encode()).hexdigest()}.parquet"
    if not path.exists():
        with atomic(path) as temporary:
            pq.write_table(latents_of(documents, resolver_of(options, None), options), temporary)
    return pq.read_table(path)


def _code() -> str:
    """What the parts depend on besides documents and options: the critic's code, and the resources that it reads."""
    stage = CRITIC.stages["train"]
    files = [*sorted(Path(__file__).parent.rglob("*.py")), *map(Path, stage.resource_files)]
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _count(table: pa.Table, counts: dict[str, int], failed: list[str]) -> None:
    rows = table.select(["id", "in_domain", "error", "invalid", "surfaces"]).to_pylist()
    counts["documents"] += len(rows)
    counts["out_of_domain"] += sum(not row["in_domain"] for row in rows)
    counts["failed"] += sum(row["error"] is not None for row in rows)
    counts["invalid_mentions"] += sum(row["invalid"] for row in rows)
    counts["mentions"] += sum(surface != "." for row in rows for surface in row["surfaces"])
    failed += [row["id"] for row in rows if row["error"] is not None][: NAMED - len(failed)]

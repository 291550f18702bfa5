"""Resolution of the train split into chains, in parts and in parallel processes; the prior is fitted to them."""

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.coreference import CRITIC
from macroscope.critics.coreference.latents import LATENTS
from macroscope.critics.coreference.options import CoreferenceOptions
from macroscope.critics.coreference.projection import compute_latents, make_resolver
from macroscope.documents import DOCUMENTS_AT_ONCE, Document, in_batches, read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.progress import Progress

MAX_NAMED = 100
"""Largest number of ids to store of documents on which the resolver failed."""


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
        File of mentions of another resolver; None with the embedded rules.
    threads
        Number of parallel processes.
    checkpoints
        Folder of finished parts, from which a killed job resumes.

    Raises
    ------
    MacroscopeError
        If no document is in the domain, or if no persons are mentioned.
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
            for table in _resolve_in_parts(documents, mentions, options, threads, checkpoints):
                writer.write_table(table)
                progress.advance(len(table))
                _count(table, counts, failed)
        if not counts["mentions"]:
            if counts["documents"] == counts["out_of_domain"]:
                raise MacroscopeError(
                    f"{documents}: none of the {counts['documents']} documents of the train split is in the domain;"
                    " check the option 'domain' of the coreference critic"
                )
            raise MacroscopeError(
                f"{documents}: no mentions of persons in the {counts['documents']} documents of the train split"
                f" ({counts['out_of_domain']} outside the domain, {counts['failed']} failures of the resolver); give"
                " texts about persons"
            )
        write_json(folder / "resolution.json", counts | {"failed_documents": failed})
    shutil.rmtree(checkpoints, ignore_errors=True)


def _resolve_in_parts(
    documents: Path, mentions: Path | None, options: CoreferenceOptions, threads: int, checkpoints: Path
) -> Iterator[pa.Table]:
    """Yield the latents of the train split in batches, in the order of the documents."""
    batches = in_batches(read_documents(documents, "train"), DOCUMENTS_AT_ONCE)
    if mentions is not None:  # the file of mentions is read sequentially
        table = pq.read_table(documents, columns=["id", "split"], filters=[("split", "=", "train")])
        ids = table.column("id").to_pylist()
        resolve = make_resolver(options, mentions, ids)
        yield from (compute_latents(batch, resolve, options) for batch in batches)
        return
    resolve_part = partial(_resolve_part, options=options, checkpoints=checkpoints)
    first = list(islice(batches, 2))
    batches = chain(first, batches)
    if threads == 1 or len(first) < 2:  # a process takes longer to start than a batch
        yield from map(resolve_part, batches)
        return
    with ProcessPoolExecutor(threads, mp_context=get_context("spawn")) as pool:
        while round_of_batches := list(islice(batches, 2 * threads)):
            yield from pool.map(resolve_part, round_of_batches)


def _resolve_part(documents: Sequence[Document], options: CoreferenceOptions, checkpoints: Path) -> pa.Table:
    """Return the latents of a batch of documents, from the checkpoints if present."""
    version = CRITIC.stages["train"].version
    identity = repr((version, [(document.id, document.text) for document in documents])) + options.model_dump_json()
    path = checkpoints / f"{sha256(identity.encode()).hexdigest()}.parquet"
    if not path.exists():
        with atomic(path) as temporary:
            pq.write_table(compute_latents(documents, make_resolver(options, None), options), temporary)
    return pq.read_table(path)


def _count(table: pa.Table, counts: dict[str, int], failed: list[str]) -> None:
    rows = table.select(["id", "in_domain", "error", "invalid", "surfaces"]).to_pylist()
    counts["documents"] += len(rows)
    counts["out_of_domain"] += sum(not row["in_domain"] for row in rows)
    counts["failed"] += sum(row["error"] is not None for row in rows)
    counts["invalid_mentions"] += sum(row["invalid"] for row in rows)
    counts["mentions"] += sum(surface != "." for row in rows for surface in row["surfaces"])
    failed += [row["id"] for row in rows if row["error"] is not None][: MAX_NAMED - len(failed)]

"""Of more documents than single ones need to be judged by: a random part of them, the same in every file.

A million documents say how well single ones are told apart no better than thousands do: at 20,000 a side the standard
error of an AUC is below 0.004. What a critic sees of them has to be in memory at once.
"""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MOST = 20_000
"""Documents of a system that are looked at."""

log = logging.getLogger(__name__)


@contextmanager
def subsampled(latents: Path, scores: Path | None, seed: int, most: int = MOST) -> Iterator[tuple[Path, Path | None]]:
    """Latents and scores of at most so many documents of a system; of no more, the files themselves.

    Whether a document is chosen depends on its id and the seed alone: partners by their ids stay together.
    """
    if pq.ParquetFile(latents).metadata.num_rows <= most:
        yield latents, scores
        return
    ids = pd.unique(pq.read_table(latents, columns=["id"])["id"].to_pandas())
    if len(ids) <= most:  # several rows a document
        yield latents, scores
        return
    order = pd.util.hash_array(ids, hash_key=f"{seed:016d}"[-16:])
    chosen = pa.array(ids[np.argsort(order, kind="stable")[:most]], pa.string())
    log.info("%s: %s of %s documents are looked at, drawn at random", latents.stem, f"{most:,}", f"{len(ids):,}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        parts = [None if path is None else folder / f"{name}.parquet" for name, path in enumerate((latents, scores))]
        for path, part in zip((latents, scores), parts, strict=True):
            if path is not None and part is not None:
                _copy(path, part, chosen)
        assert parts[0] is not None
        yield parts[0], parts[1]


def _copy(path: Path, part: Path, chosen: pa.Array) -> None:
    with pq.ParquetFile(path) as file, pq.ParquetWriter(part, file.schema_arrow) as writer:
        for batch in file.iter_batches():
            writer.write_batch(batch.filter(pc.is_in(batch["id"].cast(pa.string()), value_set=chosen)))

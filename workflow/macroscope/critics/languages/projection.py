"""documents -> latents of the critic `languages`: posteriors over topic proportions."""

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.languages.latents import latents_schema
from macroscope.critics.languages.model import LatentDirichletAllocation
from macroscope.critics.languages.options import LanguagesOptions
from macroscope.critics.languages.sampling import Posterior, sample_posterior
from macroscope.critics.latents import add_signature
from macroscope.critics.words import lower_case_words
from macroscope.documents import Collection, Document
from macroscope.files import atomic, read_json
from macroscope.progress import Progress
from macroscope.statistics.pairing_keys import KEYS


def project(
    texts: Collection, inference: Path, *, options: LanguagesOptions, output: Path, seed: int, signature: str = ""
) -> None:
    """Sample the posterior over topic proportions of every document; see `macroscope.critics.languages.latents`.

    Parameters
    ----------
    inference
        Folder of the model.
    seed
        Seed; each document's random numbers depend only on it and the document's id, not on the other documents.
    """
    model = LatentDirichletAllocation.load(inference / "model.npz")
    index = {word: number for number, word in enumerate(read_json(inference / "vocabulary.json")["words"])}
    schema = add_signature(latents_schema(len(model.alpha)), signature)
    with (
        atomic(output) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
        Progress("sample topic proportions", len(texts), "documents") as progress,
    ):
        for batch in texts.batches():
            writer.write_table(_sample_latents(batch, index, model, options.sweeps, seed).cast(schema))
            progress.advance(len(batch))


def _sample_latents(
    documents: Sequence[Document],
    index: dict[str, int],
    model: LatentDirichletAllocation,
    sweeps: int,
    seed: int,
) -> pa.Table:
    """Sample the latents of a batch of documents, in their order."""
    topics = len(model.alpha)
    undefined = Posterior(*(np.full(topics, np.nan) for _ in range(3)))
    words, posteriors = [], []
    for document in documents:
        numbers = np.array([index[w] for w in lower_case_words(document.text) if w in index], dtype=np.int64)
        rng = np.random.default_rng([seed, crc32(document.id.encode())])
        words.append(len(numbers))
        posteriors.append(sample_posterior(numbers, model, sweeps, rng) if len(numbers) else undefined)
    keys = [pa.array([getattr(document, key) for document in documents]) for key in KEYS]
    vectors = [
        pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate([getattr(p, name) for p in posteriors])), topics)
        for name in ("mean", "log_mean", "log_sample")
    ]
    return pa.table([*keys, pa.array(words), *vectors], schema=latents_schema(topics))

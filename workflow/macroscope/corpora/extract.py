"""From one raw file of a corpus to a part: its documents as they stand there, before any filter of the config."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from macroscope.corpora import source
from macroscope.corpora.origin import origin_of
from macroscope.documents import Document, Provenance, write_documents

# Streams the documents of a raw file: (options of the corpus, file, provenance to count in, worker processes).
Source = Callable[[Any, Path, Provenance, int], Iterator[Document]]


def extract(corpus: str, options: Any, path: Path, output: Path, workers: int) -> int:
    """Write the documents of one raw file as a part of a corpus.

    Parameters
    ----------
    corpus
        Its name in the config.
    options
        Its options (`macroscope.corpora.options`); the filters take no part.
    path
        The raw file. What `retrieve` noted beside it (URL, size, checksum) goes into the part's metadata.
    output
        Parquet file.
    workers
        Number of worker processes.

    Returns
    -------
    int
        Number of documents; may be 0, as one of several parts.
    """
    origin = {"name": options.source} | origin_of(path)
    provenance = Provenance(corpus, origin, options.model_dump(mode="json", exclude={"filters"}))
    return write_documents(output, source(options)(options, path, provenance, workers), provenance)

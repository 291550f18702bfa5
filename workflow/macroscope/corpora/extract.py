"""Extraction of one raw file of a corpus to a part: its documents before any filter of the config."""

from pathlib import Path

from macroscope.corpora import sources
from macroscope.corpora.options import Corpus
from macroscope.corpora.provenance import read_origin
from macroscope.documents import Provenance, write_documents
from macroscope.stages import load


def extract(corpus: str, options: Corpus, path: Path, output: Path, workers: int) -> int:
    """Write the documents of one raw file as a part of a corpus.

    Parameters
    ----------
    corpus
        Name of the corpus in the config.
    options
        Options of the corpus; the filters are not used.
    path
        Raw file. The note of `retrieve` beside it (URL, size, checksum) goes into the part's metadata.
    output
        Parquet file to write.
    workers
        Number of worker processes.

    Returns
    -------
    int
        Number of documents; it may be 0, because other parts may have some.
    """
    origin = {"name": options.source} | read_origin(path)
    provenance = Provenance(corpus, origin, options.model_dump(mode="json", exclude={"filters"}))
    source = sources()[options.read_by]
    read = load(source.data.read, source.package)
    return write_documents(output, read(options, path, provenance, workers), provenance)

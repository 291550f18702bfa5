"""From one raw file of a corpus to a part: its documents as they stand there, before any filter of the config."""

from pathlib import Path

from macroscope.corpora import sources
from macroscope.corpora.options import Corpus
from macroscope.corpora.provenance import origin_of
from macroscope.documents import Provenance, write_documents
from macroscope.stages import load


def extract(corpus: str, options: Corpus, path: Path, output: Path, workers: int) -> int:
    """Write the documents of one raw file as a part of a corpus.

    Parameters
    ----------
    corpus
        Its name in the config.
    options
        Its options; the filters take no part.
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
    source = sources()[options.read_by]
    read = load(source.data.read, source.package)
    return write_documents(output, read(options, path, provenance, workers), provenance)

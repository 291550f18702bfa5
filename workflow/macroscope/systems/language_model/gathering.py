"""The shards of a language model's samples as one collection."""

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path

from macroscope.documents import Count, Document, Provenance, read_documents, read_provenance, write_documents


def gather(shards_of_samples: Sequence[Path], output: Path, corpus: str) -> None:
    """Merge shards in the order of the samples' numbers; counts, tokens and numbers of cut samples are put together."""
    provenance = merge_provenance([read_provenance(path) for path in shards_of_samples], corpus)
    write_documents(output, _merged(shards_of_samples), provenance)


def merge_provenance(parts: Sequence[Provenance], corpus: str) -> Provenance:
    """Add up the counts of each filter, which all shards have, and the tokens; list the samples that were cut."""
    counts: dict[tuple[str, str], Count] = {}
    for part in parts:
        for count in part.counts:
            total = counts.setdefault((count.filter, count.unit), Count(count.filter, 0, 0, count.unit))
            total.kept += count.kept
            total.dropped += count.dropped
    tokens = sum(part.source["tokens"] for part in parts)
    cut = sorted(index for part in parts for index in part.source["cut_samples"])
    source = parts[0].source | {"tokens": tokens, "cut_samples": cut}
    return Provenance(corpus, source, parts[0].options, list(counts.values()))


def _merged(shards: Sequence[Path]) -> Iterator[Document]:
    yield from heapq.merge(*(read_documents(path) for path in shards), key=lambda document: document.id)

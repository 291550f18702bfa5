"""The shards of a language model's samples as one collection."""

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path

from macroscope.documents import Count, Document, Provenance, read_documents, read_provenance, write_documents


def gather(shards: Sequence[Path], output: Path, corpus: str) -> None:
    """Merge shards in the order of the samples' numbers; counts and tokens are added up."""
    provenance = merge_provenance([read_provenance(path) for path in shards], corpus)
    write_documents(output, _merged(shards), provenance)


def merge_provenance(parts: Sequence[Provenance], corpus: str) -> Provenance:
    """Add up counts of the same filter, in the order of their first appearance, and the tokens.

    A filter that dropped nothing in a shard may be missing there; its `kept` is then filled in from the unit's total.
    """
    kept: dict[str, int] = {}
    dropped: dict[tuple[str, str], int] = {}
    for part in parts:
        per_unit = {count.unit: count.kept for count in part.counts}
        for unit, n in per_unit.items():
            kept[unit] = kept.get(unit, 0) + n
        for count in part.counts:
            key = (count.filter, count.unit)
            dropped[key] = dropped.get(key, 0) + count.dropped
    counts = [Count(name, kept[unit], n, unit) for (name, unit), n in dropped.items()]
    source = parts[0].source | {"tokens": sum(part.source["tokens"] for part in parts)}
    return Provenance(corpus, source, parts[0].options, counts)


def _merged(shards: Sequence[Path]) -> Iterator[Document]:
    yield from heapq.merge(*(read_documents(path) for path in shards), key=lambda document: document.id)

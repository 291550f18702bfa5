"""Where the texts of a run come from: file or data set, its version, its licence, whom to cite."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from macroscope.documents import Provenance
from macroscope.reporting.results import Results

_NOTED = ("version", "licence", "citation", "url")
"""What retrieval notes, and a data set's card says."""
COLUMNS = ["corpus", "system", "origin", *_NOTED]


def origins_table(results: Results) -> pd.DataFrame:
    """Return a row for every file or data set that the corpora, and the systems' samples, were read from.

    Parts that were retrieved as one data set are one row. What is not known is empty: a user's file says nothing of
    its licence. Corpora and systems that the run writes itself have no row.
    """
    real = (name for name in results.corpora() if not is_simulated(results, name))
    corpora = ((corpus, "", results.corpus_provenance(corpus)) for corpus in real)
    rows = [
        {"corpus": corpus, "system": system, "origin": origin} | {name: _text(part.get(name)) for name in _NOTED}
        for corpus, system, provenance in (*corpora, *results.samples())
        for origin, part in _parts(provenance)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).drop_duplicates()


def is_simulated(results: Results, corpus: str) -> bool:
    """Whether a corpus is no real text, but comes from a process that is known."""
    return results.plan.corpora.options(corpus).kind_of_process is not None


def _parts(provenance: Provenance) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(what to call it, what is known of it) of everything that was read."""
    source = provenance.source
    for part in source.get("parts", [source]):
        named = part.get("retrieved_as") or part.get("file") or part.get("folder") or part.get("name")
        if named is not None:
            yield str(named), part
    if "parts" not in source:
        yield from ((str(path), {}) for path in source.get("files", ()))


def _text(value: Any) -> str:
    """What a card gives as a list of licences becomes one text."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")

"""Writing of simulated documents as WebText: the JSON Lines file that `webtext` reads, with texts that it must drop.

A text is a document's sections in order, separated by blank lines. The document's `label` and `original` are extra
keys, which upstream does not have: known truth for probing, and originals for translation.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from macroscope.corpora.declaration import ORDERS
from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.tokens import GPT2_PIECES, make_token_counter
from macroscope.documents import Document, Provenance, write_documents
from macroscope.files import atomic, write_json
from macroscope.readers.splits import assign_split

_EMPTY = ("", " ", "\n\n", "\t\n")


def require_order(order: str, further: Iterable[str] = ()) -> None:
    """Check that a process can generate an order: one of `ORDERS`, or a further one of its own."""
    if order not in (orders := (*ORDERS, *further)):
        raise ValueError(f"order is {order!r}, not one of {', '.join(orders)}")


def write_texts(raw: Path, documents: Iterable[Document], options: SimulatedCorpus, seed: int) -> list[Document]:
    """Write documents with texts without words among them.

    Parameters
    ----------
    raw
        JSON Lines file to write, with id, ended, length (in GPT-2's pieces), text, label, original.
    documents
        Documents to write.
    options
        `clutter`: texts without words per document.
    seed
        Random seed of the texts without words.

    Returns
    -------
    list of Document
        The same documents, with the ids and splits that reading the file will give them.
    """
    count = make_token_counter(GPT2_PIECES)
    written: list[Document] = []
    with atomic(raw) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for number, (document, text) in enumerate(_with_clutter(documents, options, seed)):
            record = {"id": number, "ended": True, "length": count([text])[0], "text": text}
            if document is not None:
                split = assign_split(str(number), options.valid_share, options.test_share)
                written.append(replace(document, id=str(number), split=split))
                record |= {"label": document.label} | ({"original": document.original} if document.original else {})
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    return written


def write_simulation(
    process: Any, documents: Iterable[Document], options: SimulatedCorpus, seed: int, raw: Path, truth: Path, name: str
) -> list[Document]:
    """Write documents as texts, and the truth about them. Same options and seed, same bytes.

    Parameters
    ----------
    process
        Description of the process: process.json in the folder of the truth.
    documents
        Documents of the process; also documents.parquet in that folder, the expected result of extraction and filters.
    options, seed, raw
        As for `write_texts`.
    truth
        Folder to write.
    name
        Name of the truth's corpus.

    Returns
    -------
    list of Document
        As of `write_texts`.
    """
    write_json(truth / "process.json", process)
    written = write_texts(raw, documents, options, seed)
    write_true_documents(truth, name, written, seed)
    return written


def write_true_documents(truth: Path, name: str, documents: Iterable[Document], seed: int) -> None:
    write_documents(truth / "documents.parquet", documents, Provenance(name, {"name": "truth", "seed": seed}))


def _with_clutter(
    documents: Iterable[Document], options: SimulatedCorpus, seed: int
) -> Iterator[tuple[Document | None, str]]:
    """Convert documents to texts, and insert texts that must be dropped."""
    rng = np.random.default_rng([seed, 0xC1])
    made = 0
    for number, document in enumerate(documents, start=1):
        yield document, "\n\n".join(section.text for section in document.sections)
        while made < int(number * options.clutter):
            yield None, _EMPTY[rng.integers(len(_EMPTY))]
            made += 1

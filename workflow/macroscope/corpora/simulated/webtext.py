"""The simulated encyclopaedia as WebText: what `webtext` reads. The articles of kind wiki, without any titles.

A text is the article's sections in their order, a blank line between two; the section types can only be guessed from
the words. `label` is the article's genre, a key that upstream does not have: known truth for probing.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.articles import as_text, genre, simulate_documents
from macroscope.corpora.simulated.genres import wiki_process
from macroscope.corpora.simulated.options import SimulatedCorpus
from macroscope.corpora.splits import split_of
from macroscope.corpora.tokens import GPT2_PIECES, token_counter
from macroscope.documents import Document, Provenance, write_documents
from macroscope.files import atomic, write_json

NAME = "simwebtext"
_EMPTY = ("", " ", "\n\n", "\t\n")


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write the JSON Lines file, and the truth about it. Same options and seed, same bytes.

    Parameters
    ----------
    options
        `documents`: number of articles of the process; `clutter`: texts without words per article.
    raw
        JSON Lines file to write, with id, ended, length (in GPT-2's pieces), text, label.
    truth
        Folder: process.json (the section process and what is exactly known of it), documents.parquet (each text's id
        and words, as extraction and the filters should deliver it) and articles.parquet (the same texts as articles
        whose section titles are their gold section types).
    """
    process = wiki_process()
    write_json(truth / "process.json", process.to_json())
    count = token_counter(GPT2_PIECES)
    articles: list[Document] = []
    with atomic(raw) as temporary, temporary.open("w", encoding="utf-8") as stream:
        documents = simulate_documents(process, "process", options.documents, seed)
        for number, (document, text) in enumerate(_with_clutter(documents, options, seed)):
            record = {"id": number, "ended": True, "length": count([text])[0], "text": text}
            if document is not None:
                split = split_of(str(number), options.valid_share, options.test_share)
                articles.append(replace(document, id=str(number), split=split, label=genre(document)))
                record["label"] = genre(document)
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    provenance = Provenance(NAME, {"name": "truth", "seed": seed})
    write_documents(truth / "articles.parquet", articles, provenance)
    write_documents(truth / "documents.parquet", map(as_text, articles), provenance)


def _with_clutter(
    articles: Iterable[Document], options: SimulatedCorpus, seed: int
) -> Iterator[tuple[Document | None, str]]:
    """Write the articles as texts, and put texts among them that must be left out."""
    rng = np.random.default_rng([seed, 0xC1])
    made = 0
    for number, article in enumerate(articles, start=1):
        yield article, "\n\n".join(section.text for section in article.sections)
        while made < int(number * options.clutter):
            yield None, _EMPTY[rng.integers(len(_EMPTY))]
            made += 1

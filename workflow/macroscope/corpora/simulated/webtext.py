"""The simulated encyclopaedia as WebText: what `webtext` reads. The articles of kind wiki, without any titles.

The section types can only be guessed from the words. A text's label is the article's genre.
"""

from dataclasses import replace
from pathlib import Path

from macroscope.corpora.simulated.articles import as_text, genre, simulate_documents
from macroscope.corpora.simulated.genres import wiki_process
from macroscope.corpora.simulated.options import SimulatedCorpus
from macroscope.corpora.simulated.texts import write_texts
from macroscope.documents import Provenance, write_documents
from macroscope.files import write_json

NAME = "simwebtext"


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write the JSON Lines file, and the truth about it. Same options and seed, same bytes.

    Parameters
    ----------
    options
        `documents`: number of articles of the process; `clutter`: texts without words per article.
    raw
        JSON Lines file to write; see `corpora.simulated.texts`.
    truth
        Folder: process.json (the section process and what is exactly known of it), documents.parquet (each text's id
        and words, as extraction and the filters should deliver it) and articles.parquet (the same texts as articles
        whose section titles are their gold section types).
    """
    process = wiki_process()
    write_json(truth / "process.json", process.to_json())
    drawn = simulate_documents(process, "process", options.documents, seed)
    articles = write_texts(raw, (replace(article, label=genre(article)) for article in drawn), options, seed)
    provenance = Provenance(NAME, {"name": "truth", "seed": seed})
    write_documents(truth / "articles.parquet", articles, provenance)
    write_documents(truth / "documents.parquet", map(as_text, articles), provenance)

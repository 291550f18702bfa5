"""Raw files -> documents: one module a source, retrieval, section titles, filters.

A source is a function that streams the documents of one raw file and counts what it leaves out. `SOURCES` names them; a
new source is a module, a group of options and a line here. Its module is imported when it is used. `SIMULATED` names
the kinds of simulated corpora: raw files in an upstream format, which the real sources' code reads.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macroscope.corpora.extract import Source
    from macroscope.corpora.options import AnyCorpus

SOURCES = {
    "wikipedia": "macroscope.corpora.wikipedia:read_dump",
    "cohan": "macroscope.corpora.cohan:read_articles",
    "webtext": "macroscope.corpora.webtext:read_webtext",
    "labelled": "macroscope.corpora.labelled.source:read_labelled",
    "files": "macroscope.corpora.user_files:read_files",
}


@dataclass(frozen=True)
class Simulation:
    """A kind of simulated corpus.

    Attributes
    ----------
    module
        Has `write_corpus`, which writes the raw file and the truth about it.
    raw
        Name of the raw file.
    source
        Whose code reads it.
    """

    module: str
    raw: str
    source: str


SIMULATED = {
    "wiki": Simulation("macroscope.corpora.simulated.wiki", "pages-articles.xml.bz2", "wikipedia"),
    "webtext": Simulation("macroscope.corpora.simulated.webtext", "webtext.jsonl", "webtext"),
}


def reader(corpus: "AnyCorpus") -> tuple[str, str]:
    """Module and function that read the raw files of a corpus."""
    name = SIMULATED[corpus.kind].source if corpus.source == "simulated" else corpus.source
    module, function = SOURCES[name].split(":")
    return module, function


def source(corpus: "AnyCorpus") -> "Source":
    """Load what reads the raw files of a corpus; see `macroscope.corpora.extract.Source`."""
    module, function = reader(corpus)
    return getattr(import_module(module), function)

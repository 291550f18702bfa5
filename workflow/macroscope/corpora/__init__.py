"""Raw files -> documents: one module a source, retrieval, section titles, filters.

A source is a function that streams the documents of one raw file and counts what it leaves out. `SOURCES` names them; a
new source is a module, a group of options and a line here. Its module is imported when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macroscope.corpora.extract import Source

# The simulated corpora are raw files in an upstream format: the real sources' code reads them.
SOURCES = {
    "simulated": "macroscope.corpora.wikipedia:read_dump",
    "wikipedia": "macroscope.corpora.wikipedia:read_dump",
    "cohan": "macroscope.corpora.cohan:read_articles",
    "webtext": "macroscope.corpora.webtext:read_webtext",
    "files": "macroscope.corpora.user_files:read_files",
}


def source(name: str) -> "Source":
    """Load the source of this name; see `macroscope.corpora.extract.Source`."""
    module, function = SOURCES[name].split(":")
    return getattr(import_module(module), function)

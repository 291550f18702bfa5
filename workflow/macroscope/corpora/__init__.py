"""Conversion of raw files to documents: one module or package per source; retrieval, section titles, filters.

A source is a module or sub-package here, or a package with an entry point in the group `macroscope.sources`. It
declares itself by `SOURCE`; no code outside it names it.
"""

from functools import cache

from macroscope.corpora.declaration import Source
from macroscope.registry import Plugin, discover


@cache
def sources() -> dict[str, Plugin[Source]]:
    """Return every source by its name, which is the `source` of a corpus in the config."""
    return discover("macroscope.corpora", "SOURCE", Source, group="macroscope.sources")

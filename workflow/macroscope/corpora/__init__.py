"""Raw files -> documents: one folder a source; retrieval, section titles, filters.

A source is a sub-package, or another package with an entry point in the group `macroscope.sources`, that declares
itself by `SOURCE`; nothing outside it names it.
"""

from functools import cache

from macroscope.corpora.declaration import Source
from macroscope.registry import Plugin, discover


@cache
def sources() -> dict[str, Plugin[Source]]:
    """Every source by its name, which is the `source` of a corpus in the config."""
    return discover("macroscope.corpora", "SOURCE", Source, group="macroscope.sources")

"""Systems: documents -> samples. One folder or module per kind, and the text formats and tokenizers that kinds share.

A kind is a sub-package or module, or another package with an entry point in the group `macroscope.systems`. It declares
itself by `KIND`; no code outside of it names it.
"""

from functools import cache

from macroscope.registry import Plugin, discover
from macroscope.systems.declaration import Kind


@cache
def kinds() -> dict[str, Plugin[Kind]]:
    """Return every kind of system by its name, which is the `kind` of a system in the config."""
    return discover("macroscope.systems", "KIND", Kind, group="macroscope.systems")

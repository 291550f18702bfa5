"""Documents -> samples: one folder a kind of system; the text formats and the tokenizer that several of them share.

A kind is a sub-package, or another package with an entry point in the group `macroscope.systems`, that declares itself
by `KIND`; nothing outside it names it.
"""

from functools import cache

from macroscope.registry import Plugin, discover
from macroscope.systems.declaration import Kind


@cache
def kinds() -> dict[str, Plugin[Kind]]:
    """Every kind of system by its name, which is the `kind` of a system in the config."""
    return discover("macroscope.systems", "KIND", Kind, group="macroscope.systems")

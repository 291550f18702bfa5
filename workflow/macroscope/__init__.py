"""A test whether a language model's long texts have the structure of real ones.

It has five rooms, through which data flow from left to right: `corpora`, `systems`, `critics`, `statistics`,
`reporting`. A room imports only from the rooms to its left, from the modules of this folder, and from
`statistics`, which imports from no room.
"""

from importlib import import_module

__version__ = "0.1.0"
_PUBLIC = {
    "compare": "macroscope.api.comparison",
    "critics": "macroscope.api.critic_functions",
    "find_copies": "macroscope.api.copies",
    "read_texts": "macroscope.api.texts",
    "profile": "macroscope.api.texts",
    "list_critics": "macroscope.api.listing",
    "list_languages": "macroscope.api.listing",
    "load": "macroscope.api.result",
    "timeline": "macroscope.api.timeline",
    "Timeline": "macroscope.api.timeline",
    "MacroscopeCallback": "macroscope.api.trainer_callback",
    "MacroscopeMetric": "macroscope.api.metric",
    "Comparison": "macroscope.api.result",
    "MacroscopeError": "macroscope.errors",
}
"""Name of the public face -> module that defines it, imported when the name is first used."""
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'macroscope' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Names of the systems that a comparison at matched length derives from a system.

These are the system's texts and real ones, each cut so that their lengths agree. They are compared with each other as a
system is compared with the control. No system of a config can have such a name, since names have no "@".
"""

from macroscope.options import CONTROL

LENGTH = "length"
"""Name in the place of a critic's in statistics of length alone."""
_MATCHED, _REFERENCE = "@matched", "@reference"


def matched_system(system: str) -> str:
    """Return the name of a system's texts at matched length."""
    return f"{system}{_MATCHED}"


def matched_reference(system: str) -> str:
    """Return the name of the real texts that a system is compared with at matched length."""
    return f"{system}{_REFERENCE}"


def is_matched(name: str) -> bool:
    """Return whether a name is that of a system's texts at matched length."""
    return name.endswith(_MATCHED)


def original_system(name: str) -> str:
    """Return the system from which one was derived; the name itself if it was not derived."""
    return name.partition("@")[0]


def reference_of(name: str) -> str:
    """Return the real texts that a system is compared with: the control, or those at its matched length."""
    return matched_reference(original_system(name)) if is_matched(name) else CONTROL

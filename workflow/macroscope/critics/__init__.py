"""documents -> latents, T(x): one folder a critic, with all that is known of it; anyone's package may bring another."""

from functools import cache

from macroscope.critics.declaration import Critic
from macroscope.registry import Declared, find

GROUP = "macroscope.critics"
"""Group of entry points by which other packages declare critics."""


@cache
def critics() -> dict[str, Declared[Critic]]:
    """Every critic that is there, by its name in the config, in alphabetical order."""
    return find("macroscope.critics", "CRITIC", Critic, GROUP)

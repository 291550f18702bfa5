"""documents -> latents, T(x): one folder a critic, with all that is known of it; anyone's package may bring another."""

from functools import cache

from macroscope.critics.declaration import Critic
from macroscope.errors import MacroscopeError
from macroscope.registry import Declared, find

GROUP = "macroscope.critics"
"""Group of entry points by which other packages declare critics."""


KEPT = frozenset({"perplexity"})
"""Names that no critic may have: the folder of statistics of that name is the language models'."""


@cache
def critics() -> dict[str, Declared[Critic]]:
    """Every critic that is there, by its name in the config, in alphabetical order."""
    found = find("macroscope.critics", "CRITIC", Critic, GROUP)
    for name, critic in found.items():
        if not (name.isidentifier() and name.islower()) or name in KEPT:
            raise MacroscopeError(
                f"the critic '{name}' of {critic.package} cannot be called so: a name is a folder, a rule and a key of"
                f" the config, such as section_order, and not {', '.join(sorted(KEPT))}; rename its entry point"
            )
    return found

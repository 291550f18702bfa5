"""documents -> latents, T(x): one folder a critic, with all that is known of it; anyone's package may bring another."""

from dataclasses import replace
from functools import cache

from macroscope.critics.declaration import STAGES, Critic
from macroscope.errors import MacroscopeError
from macroscope.registry import Plugin, discover, require

GROUP = "macroscope.critics"
"""Group of entry points by which other packages declare critics."""


KEPT = frozenset({"perplexity"})
"""Names that no critic may have: the folder of statistics of that name is the language models'."""


VARIANT = "-"
"""Between the name of a critic, which is an identifier, and that of its variant."""


@cache
def critics() -> dict[str, Plugin[Critic]]:
    """Every critic that is there, by its name in the config, in alphabetical order."""
    found = discover("macroscope.critics", "CRITIC", Critic, GROUP)
    for name, critic in found.items():
        if not (name.isidentifier() and name.islower()) or name in KEPT:
            raise MacroscopeError(
                f"the critic '{name}' of {critic.package} cannot be called so: a name is a folder, a rule and a key of"
                f" the config, such as section_order, and not {', '.join(sorted(KEPT))}; rename its entry point"
            )
    return found


def variant_name(critic: str, own: str) -> str:
    """Name under which a variant of a critic stands in comparisons, folders and tables ("clusters-gpt2")."""
    return f"{critic}{VARIANT}{own}"


def critic_named(name: str) -> Plugin[Critic]:
    """Return a critic, or the critic of a variant under the variant's name.

    Raises
    ------
    MacroscopeError
        Where there is no such critic.
    """
    return replace(require(name.partition(VARIANT)[0], critics(), "critic"), name=name)


def stage_specific_options(critic: Critic) -> set[str]:
    """Options that no standard stage looks at: a variant has the standard stages alone."""
    looked_at: dict[bool, set[str]] = {True: set(), False: set()}
    for name, stage in critic.stages.items():
        looked_at[name in STAGES].update(stage.option_names)
    return looked_at[False] - looked_at[True]


def is_critic(name: str) -> bool:
    """Whether a name is a critic's or could be that of a variant of one."""
    return name.partition(VARIANT)[0] in critics()

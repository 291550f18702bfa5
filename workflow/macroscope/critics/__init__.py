"""Critics: documents -> latents and T(x). One folder per critic; other packages may add critics by entry points.

A critic's package can be called: `macroscope.critics.tendencies(real, mine)`.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import Signature
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from macroscope.critics.declaration import STAGES, Critic
from macroscope.errors import MacroscopeError, nearest
from macroscope.registry import Plugin, discover, require

GROUP = "macroscope.critics"
"""Group of entry points by which other packages declare critics."""


RESERVED_NAMES = frozenset({"perplexity"})
"""Names that no critic may have: their folders of statistics belong to the language models."""


VARIANT_SEPARATOR = "-"
"""Separator between the name of a critic, which is an identifier, and the name of its variant."""
GivenOptions = Mapping[str, Mapping[str, Any]]
"""Name of a critic -> options that a user gave to a command or a function."""


@cache
def critics() -> dict[str, Plugin[Critic]]:
    """Return all installed critics by their names in the config, in alphabetical order.

    Raises
    ------
    MacroscopeError
        If a critic's name is not a lower-case identifier or is reserved.
    """
    plugins = discover("macroscope.critics", "CRITIC", Critic, GROUP)
    for name, critic in plugins.items():
        if not (name.isidentifier() and name.islower()) or name in RESERVED_NAMES:
            raise MacroscopeError(
                f"'{name}' of {critic.package} is not a valid name of a critic: a name is a folder, a rule and a key of"
                f" the config, such as section_order, and not {', '.join(sorted(RESERVED_NAMES))}; rename its entry"
                " point"
            )
    return plugins


def variant_name(critic: str, variant: str) -> str:
    """Return the full name of a critic's variant in comparisons, folders and tables ("clusters-gpt2")."""
    return f"{critic}{VARIANT_SEPARATOR}{variant}"


def get_critic(name: str) -> Plugin[Critic]:
    """Return a critic by its name; for a variant's name, its critic under the variant's name.

    Raises
    ------
    MacroscopeError
        If no such critic is installed.
    """
    return replace(require(name.partition(VARIANT_SEPARATOR)[0], critics(), "critic"), name=name)


def model_options(critic: Critic) -> list[str]:
    """Return the options of a critic that name a pretrained model, its encoder."""
    return sorted({stage.model_option for stage in critic.stages.values() if stage.model_option})


def options_for_texts(critic: Plugin[Critic], given: GivenOptions | None = None) -> dict[str, Any]:
    """Return the options of a critic for a user's texts: those that it declares, and those that the user gave."""
    return {**(critic.data.criticize or {}), **(given or {}).get(critic.name, {})}


def parse_options_for_texts(critic: Plugin[Critic], given: GivenOptions | None = None) -> Any:
    """Return the same as a group; its defaults if the given ones are invalid, which the check of the config names."""
    try:
        return critic.options(**options_for_texts(critic, given))
    except ValidationError:
        return critic.default_options


def stage_specific_options(critic: Critic) -> set[str]:
    """Return the options that no standard stage uses: variants run the standard stages only."""
    used_by_standard: dict[bool, set[str]] = {True: set(), False: set()}
    for name, stage in critic.stages.items():
        used_by_standard[name in STAGES].update(stage.option_names)
    return used_by_standard[False] - used_by_standard[True]


def is_critic(name: str) -> bool:
    """Return whether a name is that of a critic, or could be that of a critic's variant."""
    return name.partition(VARIANT_SEPARATOR)[0] in critics()


# ---- critics as functions --------------------------------------------------------------------------------------------
# `macroscope.critics.tendencies(real, mine)` judges texts by one critic alone: a critic's name is that of its package,
# too, and the class of a module may be a subclass of `ModuleType` (Python's data model, "Customizing module attribute
# access"). What a call does is in `api`.

_API = "macroscope.api.critic_functions"
"""Module of the functions, which is above this room and is imported by the first call."""


class CriticPackage(ModuleType):
    """The package of a critic, which can be called; a plug-in's is one without contents."""

    def __call__(self, real: Any, mine: Any, /, **arguments: Any) -> Any:
        """Judge texts by this critic alone; see `macroscope.api.critic_functions.judge`."""
        return import_module(_API).judge(self._critic, real, mine, **arguments)

    @property
    def __signature__(self) -> Signature:
        signature: Signature = import_module(_API).signature_of(self._critic)
        return signature

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        docstring: str = import_module(_API).docstring_of(self._critic)
        return docstring

    @property
    def _critic(self) -> str:
        return self.__name__.rpartition(".")[2]


class CriticsRoom(ModuleType):
    """The room of the critics: a package with a declaration can be called as soon as it is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; Python sets each sub-package after its import."""
        if isinstance(value, ModuleType) and hasattr(value, "CRITIC"):
            value.__class__ = CriticPackage
        super().__setattr__(name, value)


def __getattr__(name: str) -> ModuleType:
    """Return a sub-package at its first use, or the stand-in for the package of a plug-in's critic."""
    full_name = f"{__name__}.{name}"
    if not name.startswith("_"):
        if find_spec(full_name) is not None:
            return import_module(full_name)
        if name in critics():
            return CriticPackage(full_name)
    hint = "" if name.startswith("_") else nearest(name, critics())
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *critics()})


sys.modules[__name__].__class__ = CriticsRoom

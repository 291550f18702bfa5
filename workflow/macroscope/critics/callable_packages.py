"""Critics as functions: `macroscope.critics.tendencies(real, mine)` judges texts by one critic alone.

A critic's name is that of its package, too. So the package itself can be called: the class of a module may be a
subclass of `ModuleType` (Python's data model, "Customizing module attribute access"). What a call does is in `api`.
"""

from importlib import import_module
from inspect import Signature
from types import ModuleType
from typing import Any

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

"""One critic as a function: `macroscope.critics.<critic>(real, mine)`, with the options that the critic declares."""

import inspect
import textwrap
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Protocol, cast

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import macroscope.critics
from macroscope.api.arguments import checked
from macroscope.api.comparison import compare
from macroscope.api.result import Comparison
from macroscope.critics import get_critic, options_for_texts
from macroscope.errors import MacroscopeError, nearest
from macroscope.execution.limits import Device

_TEXTS = ("real", "mine")
_GENERAL = ("straighten_typography", "device", "seed", "n_jobs", "progress", "keep")
"""Arguments of `compare` that every critic has."""


class CriticFunction(Protocol):
    """The type of a critic as a function: the options of the critic are keyword arguments."""

    def __call__(
        self,
        real: Any,
        mine: Any,
        /,
        *,
        straighten_typography: bool = False,
        device: Device = "auto",
        seed: int = 1,
        n_jobs: int | None = None,
        progress: bool = True,
        keep: str | Path | None = None,
        **options: Any,
    ) -> Comparison:
        """Judge whether texts have the structure of real ones, by this critic alone."""


class Critics(Protocol):
    """The type of `macroscope.critics`: every installed critic is an attribute."""

    def __getattr__(self, name: str) -> CriticFunction:
        """Return a critic by its name."""


critics = cast(Critics, macroscope.critics)
"""The room of the critics, under its public type."""


@checked
def judge(critic: str, real: Any, mine: Any, /, **arguments: Any) -> Comparison:
    """Judge texts by one critic.

    Parameters
    ----------
    critic
        Name of the critic.
    real, mine
        Real texts and texts to judge, as in `compare`.
    arguments
        Options of the critic, and arguments of `compare`: `straighten_typography`, `device`, `seed`, `n_jobs`,
        `progress`, `keep`.

    Raises
    ------
    MacroscopeError
        If the critic has no such option, or as in `compare`.
    """
    options = {name: value for name, value in arguments.items() if name not in _GENERAL}
    fields = get_critic(critic).options.model_fields
    for name in options:
        if name not in fields:
            raise MacroscopeError(f"the critic '{critic}' has no option '{name}'{nearest(name, [*fields, *_GENERAL])}")
    general = {name: value for name, value in arguments.items() if name in _GENERAL}
    return compare(real, mine, critics={critic: options}, **general)


def signature_of(critic: str) -> Signature:
    """Return the signature of a critic as a function: texts, options with their defaults, arguments of `compare`."""
    texts = [Parameter(name, Parameter.POSITIONAL_ONLY, annotation=Any) for name in _TEXTS]
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=_default(critic, name, field), annotation=field.annotation)
        for name, field in get_critic(critic).options.model_fields.items()
    ]
    general = inspect.signature(compare).parameters
    return Signature([*texts, *options, *(general[name] for name in _GENERAL)], return_annotation=Comparison)


def docstring_of(critic: str) -> str:
    """Return the docstring of a critic as a function, from the declarations of the critic and of its options."""
    plugin = get_critic(critic)
    options = "\n".join(
        f"{name}\n{textwrap.fill(field.description or '', 88, initial_indent='    ', subsequent_indent='    ')}"
        for name, field in plugin.options.model_fields.items()
    )
    return f"""Judge whether texts have the structure of real ones, by the critic '{critic}': {plugin.data.observes}.

Parameters
----------
real, mine
    Real texts and texts to judge, or system -> texts; see `macroscope.compare`.
{options}
{", ".join(_GENERAL)}
    As in `macroscope.compare`.

Returns
-------
Comparison
    Its `scorecard`, `statistics` and `documents` are data frames.
"""


def _default(critic: str, name: str, field: FieldInfo) -> Any:
    """Return the default of an option: that of `macroscope criticize`, or else that of the config."""
    default = options_for_texts(get_critic(critic)).get(name, field.get_default(call_default_factory=True))
    return Parameter.empty if default is PydanticUndefined else default

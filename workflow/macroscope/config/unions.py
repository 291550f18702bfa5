"""Unions of groups of options that are found by themselves: a corpus's by its source, a system's by its kind."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Annotated, Any, get_args

from pydantic import BaseModel, Field

from macroscope.errors import MacroscopeError
from macroscope.registry import Declared


def union_of(found: Mapping[str, Declared[Any]], tag: str) -> Any:
    """Type of any of these groups, told by `tag`.

    Raises
    ------
    MacroscopeError
        Where a group's tag is not the name by which it was found.
    """
    models: list[type[BaseModel]] = []
    for name, declared in found.items():
        field = declared.options.model_fields.get(tag)
        if field is None or get_args(field.annotation) != (name,):
            raise MacroscopeError(
                f"{declared.package}: the options of '{name}' are not told by it; give them {tag}: Literal['{name}']"
            )
        models.append(declared.options)
    return Annotated[reduce(or_, models), Field(discriminator=tag)]

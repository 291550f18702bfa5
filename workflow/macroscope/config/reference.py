"""The reference of the config, docs/generated/config.md, written from the models of the options."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from macroscope.config.schema import Config

_TAGS = ("source", "kind", "rule")
_INTRODUCTION = """\
# The config

<!-- Written by `make docs` from the options in workflow/macroscope; do not edit. -->

A config names the texts to judge, the corpora to compare them with, the critics, and the sizes. `config.yaml` is the
default run; `experiments/` has others. Keys with a default may be left out. A misspelt key is an error that names the
nearest valid one. `results/<run>/config.json` keeps each run's config with all its defaults.

An editor that knows JSON schemas completes and checks the keys: `workflow/schemas/config.schema.json`.
"""


def config_reference() -> str:
    """Return the reference as Markdown: a table for every group of options."""
    return "\n".join([_INTRODUCTION, *_group("config", "Top level", Config, set())])


def _group(place: str, title: str, model: type[BaseModel], shown: set[tuple[str, str]]) -> Iterator[str]:
    if (place, model.__name__) in shown:  # groups that all alternatives share, such as a corpus's filters
        return
    shown.add((place, model.__name__))
    yield f"## {title}\n"
    if model is not Config and model.__doc__:
        yield " ".join(model.__doc__.split()) + "\n"
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    fields = sorted(model.model_fields.items(), key=lambda item: item[0] not in _TAGS)
    for name, field in fields:
        yield f"| `{name}` | {_type(field.annotation)} | {_default(field)} | {_escape(field.description or '')} |"
    yield ""
    if place == "variants":  # their options are those of the critics
        return
    for name, field in model.model_fields.items():
        inner = name if place == "config" else f"{place}.{name}"
        for tag, group in _groups(field.annotation):
            where = inner + (".&lt;name&gt;" if _is_named(field.annotation) else "") + (f", {tag}" if tag else "")
            yield from _group(inner, where, group, shown)


def _groups(annotation: Any) -> list[tuple[str, type[BaseModel]]]:
    """Return the groups of options inside a type, with the tag that chooses among alternatives ("source: files")."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [(_tag(annotation), annotation)]
    return [group for argument in get_args(annotation) for group in _groups(argument)]


def _is_named(annotation: Any) -> bool:
    """Return whether a field holds groups under names that the user chooses."""
    return get_origin(annotation) is dict


def _tag(model: type[BaseModel]) -> str:
    for name in _TAGS:
        field = model.model_fields.get(name)
        if field is not None and get_origin(field.annotation) is Literal and field.is_required():
            return f"`{name}: {get_args(field.annotation)[0]}`"
    return ""


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin is Annotated:
        return _type(arguments[0])
    if origin is dict:
        return f"names to {_type(arguments[1])}"
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is Union or type(annotation).__name__ == "UnionType":
        return " or ".join(dict.fromkeys(_type(argument) for argument in arguments if argument is not type(None)))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "group"
    return {"str": "text", "int": "integer", "float": "number", "bool": "yes or no"}.get(annotation.__name__, "any")


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "required"
    if field.default is None:
        return "none"
    if isinstance(field.default, BaseModel):
        return "see below"
    return f"`{_yaml(field.default)}`"


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(_yaml(item) for item in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _escape(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;")

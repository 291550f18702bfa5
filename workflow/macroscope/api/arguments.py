"""Arguments of the public functions, checked by their annotations; the caller reads sentences, not tracebacks."""

import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, Union, get_args, get_origin

import numpy as np

from macroscope.errors import MacroscopeError, describe_system_error, nearest
from macroscope.fields import word_fields

P = ParamSpec("P")
R = TypeVar("R")
ChosenCritics: TypeAlias = str | Iterable[str] | Mapping[str, Mapping[str, Any]]
"""Name of a critic, names, or name -> options."""
_NAMED: dict[Any, str] = {
    str: "a string",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    Path: "a path",
    NoneType: "None",
}
_ARGUMENTS = {"candidate": "candidates", "critic": "critics", "output": "keep"}
"""Field -> argument of `compare`, if it has another name."""
_UNEXPECTED = "got an unexpected keyword argument "


class _Mismatch(Exception):
    """A value that does not fit its annotation; its arguments are the place below the argument, and the value."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a public function by their annotations, and name what the system refuses.

    Returns
    -------
    callable
        Function with the same signature. It raises a `MacroscopeError` for a missing, unknown or wrong argument, and
        for an error of the operating system.
    """
    name = function.__qualname__.removesuffix(".__init__")
    signature = inspect.signature(function, eval_str=True)

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        try:
            bound = signature.bind(*given, **named)
        except TypeError as error:
            raise _explain_binding(name, str(error), signature) from None
        for argument, value in bound.arguments.items():
            parameter = signature.parameters[argument]
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                bound.arguments[argument] = convert(value, parameter.annotation, argument)
        try:
            return function(*bound.args, **bound.kwargs)
        except MacroscopeError as error:
            error.args = (word_fields(str(error), as_argument),)
            raise
        except OSError as error:
            if (sentence := describe_system_error(error)) is None:
                raise
            raise MacroscopeError(sentence) from error

    return call


def as_argument(name: str, value: str | None) -> str:
    """Word a field of a message (`macroscope.fields`) as an argument of `compare`."""
    argument = _ARGUMENTS.get(name, name)
    return f"`{argument}`" if value is None else f"{argument}={value!r}"


def convert(value: Any, annotation: Any, name: str) -> Any:
    """Return a value as its annotation says: iterables as lists, numbers of NumPy as Python's."""
    try:
        return _convert(value, annotation)
    except _Mismatch as mismatch:
        place, wrong = mismatch.args
        raise MacroscopeError(
            f"{name}{place}: {_name_value(wrong)} does not fit; give {_describe(annotation)}"
        ) from None


def _name_value(value: Any) -> str:
    """Return a wrong value in words; of the right type, it is a string that is empty or cannot be written."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"{value[:40]!a}"
    return type(value).__name__


def _explain_binding(name: str, message: str, signature: inspect.Signature) -> MacroscopeError:
    parameters = [each for each in signature.parameters if each != "self"]
    if message.startswith(_UNEXPECTED):
        unknown = message.removeprefix(_UNEXPECTED).strip("'")
        return MacroscopeError(f"{name} has no argument '{unknown}'{nearest(unknown, parameters)}")
    return MacroscopeError(f"{name}: {message}; its arguments are {', '.join(parameters)}")


def _convert(value: Any, annotation: Any) -> Any:
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in (Any, inspect.Parameter.empty):
        return value
    if origin in (Union, UnionType):
        return _convert_to_one(value, inner)
    if origin is Literal:
        return value if isinstance(value, str) and value in inner else _refuse(value)
    if origin is not None and issubclass(origin, Mapping):
        return {key: _within(item, inner[1], key) for key, item in _items(value, inner[0])}
    if origin is not None and issubclass(origin, Iterable):
        return [_within(item, inner[0], number) for number, item in enumerate(_iterate(value))]
    if origin is not None:  # a function, whose arguments only a call can check
        return value if callable(value) else _refuse(value)
    if annotation in _CONVERTERS:
        return _CONVERTERS[annotation](value)
    return value if isinstance(value, annotation) else _refuse(value)


def _convert_to_one(value: Any, annotations: tuple[Any, ...]) -> Any:
    """Return a value as the first annotation that it fits; of several misfits, the deepest is the most telling."""
    deepest = _Mismatch("", value)
    if NoneType in annotations and isinstance(value, str) and not value:  # the name of nothing is left out
        raise deepest
    for annotation in annotations:
        if annotation is str and Path in annotations:  # a path, which not every string is
            continue
        try:
            return _convert(value, annotation)
        except _Mismatch as mismatch:
            if len(mismatch.args[0]) > len(deepest.args[0]):
                deepest = mismatch
    raise deepest


def _within(item: Any, annotation: Any, place: Any) -> Any:
    try:
        return _convert(item, annotation)
    except _Mismatch as mismatch:
        below, wrong = mismatch.args
        raise _Mismatch(f"[{place!r}]{below}", wrong) from None


def _items(value: Any, key: Any) -> Iterable[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        _refuse(value)
    return [(_within(name, key, name), item) for name, item in value.items()]


def _iterate(value: Any) -> Iterable[Any]:
    if isinstance(value, str | bytes | bytearray | Mapping | os.PathLike) or hasattr(value, "columns"):
        _refuse(value)
    try:
        return iter(value)
    except TypeError:
        _refuse(value)
        raise


def _refuse(value: Any) -> Any:
    raise _Mismatch("", value)


def _is_whole(text: str) -> bool:
    """Return whether UTF-8 can hold a text: a lone surrogate is half a character."""
    try:
        return bool(text.encode()) or not text
    except UnicodeEncodeError:
        return False


def _to_int(value: Any) -> int:
    try:
        return operator.index(value) if not isinstance(value, bool | np.ndarray) else _refuse(value)
    except TypeError:
        _refuse(value)
        raise


def _to_path(value: Any) -> Any:
    """Return a path as it is given; the rooms make a `Path` of it."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        _refuse(value)
    try:
        return value if b"\0" not in os.fsencode(value) else _refuse(value)
    except UnicodeEncodeError:
        return _refuse(value)


_CONVERTERS: dict[Any, Callable[[Any], Any]] = {
    str: lambda value: str(value) if isinstance(value, str) and _is_whole(value) else _refuse(value),
    bool: lambda value: bool(value) if isinstance(value, bool | np.bool_) else _refuse(value),
    int: _to_int,
    Path: _to_path,
    NoneType: lambda value: None if value is None else _refuse(value),
}


def _describe(annotation: Any) -> str:
    """Return what an annotation takes, in words: "a string or None"."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in _NAMED:
        return _NAMED[annotation]
    if origin in (Union, UnionType):
        words = list(dict.fromkeys(_describe(each) for each in inner if not (each is str and Path in inner)))
        return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is not None and issubclass(origin, Mapping):
        return f"a dict of {_describe(inner[0])} -> {_describe(inner[1])}"
    if origin is not None and issubclass(origin, Iterable):
        return f"a list of which each is {_describe(inner[0])}"
    return "a function" if origin is not None else "anything" if annotation is Any else f"a {annotation.__name__}"

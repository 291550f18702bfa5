"""Messages about a user's file that does not fit its model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from macroscope.errors import nearest


def describe_errors(error: ValidationError, path: Path, models: Mapping[int, type[BaseModel]]) -> str:
    """Describe what is wrong in a file: each place, the problem there, and for a misspelt key the nearest valid one.

    Parameters
    ----------
    error
        What validation raised.
    path
        The file.
    models
        Number of parts of a key's place -> the model that the key belongs to: 1 for keys of the file itself.
    """
    return "; ".join(f"{path}: {_describe(details, models)}" for details in error.errors())


def _describe(details: Any, models: Mapping[int, type[BaseModel]]) -> str:
    place = ".".join(str(part) for part in details["loc"])
    start = f"{place}: " if place else ""
    if details["type"] == "value_error":
        return f"{start}{details['ctx']['error']}"
    if details["type"] == "missing":
        return f"{start}this key is required"
    if details["type"] == "extra_forbidden":
        model = models[len(details["loc"])]
        return f"{start}there is no such key{nearest(str(details['loc'][-1]), model.model_fields)}"
    return f"{start}{details['msg'][0].lower()}{details['msg'][1:]}, not {details['input']!r}"

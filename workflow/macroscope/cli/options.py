"""Options that arrive on the command line as JSON, checked by the model that the config uses."""

import json
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from macroscope.errors import MacroscopeError, nearest

M = TypeVar("M", bound=BaseModel)


def parse_options(model: type[M], text: str) -> M:
    """Validate a JSON object against an options model.

    Raises
    ------
    MacroscopeError
        With the place, what is wrong there, and the nearest valid name.
    """
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise MacroscopeError(f"--options: not valid JSON ({error.msg} at column {error.colno})") from None
    try:
        return TypeAdapter(model).validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        hint = nearest(str(first["loc"][-1]), model.model_fields) if first["type"] == "extra_forbidden" else ""
        raise MacroscopeError(f"--options, {place}: {first['msg']}{hint}") from None

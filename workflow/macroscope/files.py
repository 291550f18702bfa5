"""Files that are whole or absent: atomic writing, and small readers that name the file in their errors."""

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Hand out a temporary sibling of `path` (a file or a folder), which takes its place on success.

    A job that is killed or fails leaves `path` as it was: no half file that a later run would trust.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        temporary = scratch / path.name
        yield temporary
        if not temporary.exists():
            raise FileNotFoundError(f"nothing was written for {path}")
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(temporary, path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, keys in the order given, atomically.

    JSON has neither infinity nor NaN: they become null.
    """
    write_text(path, json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def read_json(path: Path) -> Any:
    """Read a JSON file; a malformed one is an error that names the file and the line."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such file") from None
    except json.JSONDecodeError as error:
        raise MacroscopeError(f"{path}, line {error.lineno}: not valid JSON ({error.msg})") from None

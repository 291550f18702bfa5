"""The folder of `macroscope criticize`: its config, which a user may edit, and the lock of the run that works in it."""

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from macroscope.errors import MacroscopeError, no_such_file
from macroscope.files import require_folder, write_text
from macroscope.options import require_usable

CONFIG = "config.yaml"
_LOCK = ".macroscope.lock"
_WRITTEN_BY = "# Written by `macroscope criticize`;"
_NOTED = "# As it was written: "
_HEAD = f"""\
{_WRITTEN_BY} edit what you like, and give the same command again.
# Every key, with its meaning and default: docs/generated/config.md
{_NOTED}"""


def require_output(output: Path) -> Path:
    """Return the path of the config in the folder `output`, if it can be used; nothing is written.

    Raises
    ------
    MacroscopeError
        If the workflow cannot use its name, or it holds other files.
    """
    require_usable_path(output, exists=False)
    path = output.resolve() / CONFIG
    require_ours(path)
    for name in ("results", "logs", ".snakemake"):
        require_folder(path.parent / name)
    return path


def require_usable_path(path: Path, exists: bool = True) -> None:
    """Check that the workflow can use a path, and that it exists."""
    if exists and not path.exists():
        raise no_such_file(path)
    try:
        require_usable(os.path.realpath(path))
    except ValueError as error:
        raise MacroscopeError(str(error)) from None


def write_config(path: Path, config: Mapping[str, Any]) -> bool:
    """Write a config unless its file has been edited; return whether it was written.

    Raises
    ------
    MacroscopeError
        If the folder holds files that `criticize` did not write.
    """
    require_ours(path)
    if path.exists():
        _, _, old = path.read_text(encoding="utf-8", errors="replace").partition(_NOTED)
        noted, _, text = old.partition("\n")
        if _digest(text) != noted:
            return False
    write_text(path, render_config(config))
    return True


def render_config(config: Mapping[str, Any]) -> str:
    """Return the text of a config's file; see `write_config`."""
    body = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
    return f"{_HEAD}{_digest(body)}\n{body}"


def require_ours(path: Path) -> None:
    """Check that a config can be written to a path: `criticize` made its folder, or it is new or empty.

    Raises
    ------
    MacroscopeError
        If it holds other files, or is not a folder.
    """
    if path.exists():
        if not path.read_text(encoding="utf-8", errors="replace").startswith(_WRITTEN_BY):
            raise MacroscopeError(f"{path}: not a config that `criticize` wrote; give another ⟨output⟩")
    elif path.parent.is_dir() and any(path.parent.iterdir()) and not path.with_name(_LOCK).exists():
        raise MacroscopeError(f"{path.parent}: a folder with other things in it; give a new one as ⟨output⟩")
    elif path.parent.exists() and not path.parent.is_dir():
        raise MacroscopeError(f"{path.parent}: not a folder; give a new one as ⟨output⟩")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold a folder for one run, until this process leaves or ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise MacroscopeError(
                f"{folder}: another run is working here (process {file.read()}); wait for it, or give another ⟨output⟩"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
